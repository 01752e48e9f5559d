/*
 * Writes the metadata of the recording and its libraries, one value each.
 */
#pragma once

#include "base/json_write.h"
#include "profile/profile.h"

void write_meta(struct json_writer *json, const struct profile *profile);
void write_libs(struct json_writer *json, const struct profile *profile);

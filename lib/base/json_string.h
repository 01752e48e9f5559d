/* Stores a JSON text as one string of a table, for marker schemas, marker data and counters. */
#pragma once

#include "base/json_write.h"
#include "base/strings.h"

/* Adds the text that `put` writes (called with `context`). Returns the index of the string, or STRING_NONE if memory
 * ran out. */
uint32_t json_add_string(struct strings *table, void (*put)(struct json_writer *json, const void *context),
                         const void *context);

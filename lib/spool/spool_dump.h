/* Prints records of a spool file as JSON, by the table of their fields (record_kinds.h). */
#pragma once

#include "base/json_write.h"
#include "spool/spool.h"

/* Write one object: {"kind": ..., then the fields of the kind}. */
void spool_dump_event(struct json_writer *json, const struct spool_event *event);
void spool_dump_sample(struct json_writer *json, const struct sample *sample);

/* Prints records of a spool file as JSON, by the table of their fields (record_kinds.h). */
#pragma once

#include "base/json_write.h"
#include "spool/spool.h"

/* Writes one JSON object: {"kind": ..., then the fields of the kind}. Writes nothing for an unknown kind. */
void spool_dump_record(struct json_writer *json, const struct spool_record *record);

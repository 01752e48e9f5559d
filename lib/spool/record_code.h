/* Encodes and decodes the events of a spool file, by the table of their fields (record_kinds.h). */
#pragma once

#include "base/array.h"
#include "base/cursor.h"
#include "spool/records.h"

/* The encoded events of a spool file. */
ARRAY_TYPE(struct spool_bytes, unsigned char);

/* Appends an event: its kind, then its fields. `record`: the struct of the kind. False if memory ran out, or the kind
 * is not an event. */
bool record_code_write(struct spool_bytes *out, enum spool_record_kind kind, const void *record);

/* Reads the next event. Texts and bytes of the record point into the cursor's bytes. False at the end, or if the event
 * is damaged (then cursor_left() is not 0). */
bool record_code_read(struct cursor *in, struct spool_record *record);

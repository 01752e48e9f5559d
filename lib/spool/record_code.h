/* The bytes of events in the spool file, by the table of their fields (record_kinds.h). */
#pragma once

#include "base/array.h"
#include "base/cursor.h"
#include "spool/records.h"

#include <stdbool.h>

/* The events of a file, one after the other. */
ARRAY_TYPE(struct spool_bytes, unsigned char);

/* Appends an event: its kind, then its fields. `record`: the struct of the kind. False if memory ran out, and if the
 * kind is no event. */
bool record_code_put(struct spool_bytes *out, enum spool_record_kind kind, const void *record);

/* Reads the next event. Texts and bytes lie in the bytes of the cursor. False at the end, and if the event is damaged
 * (then cursor_left() is not 0). */
bool record_code_get(struct cursor *in, struct spool_record *record);

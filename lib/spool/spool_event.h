/* The bytes of events in the spool file: one description of the layout for both directions. */
#pragma once

#include "base/array.h"
#include "base/cursor.h"
#include "spool/event_types.h"

#include <stdbool.h>

/* The events of a file, one after the other. */
ARRAY_TYPE(struct spool_bytes, unsigned char);

/* Writes to `out` if that is set, else reads from `in`. */
struct spool_codec {
    struct spool_bytes *out;
    struct cursor in;
    bool failed;
};

/* Writes or reads the fields of an event, which follow its kind. The caller sets `event->kind`. Texts that were read
 * lie in the bytes of the cursor. Returns false if the bytes are damaged or memory ran out. */
bool spool_event_code(struct spool_codec *codec, struct spool_event *event);

/* Reads the next event. False at the end, and if it is damaged (then cursor_left() is not 0). */
bool spool_event_read(struct cursor *in, struct spool_event *event);

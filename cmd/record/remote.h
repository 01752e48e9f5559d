/* `prof record --host`: records on another machine. */
#pragma once

#include "cmd/record/record_line.h"

/* Records on the machine `line->host` and saves the profile to `line->output`. Sets *is_saved, and returns the exit
 * status of that machine's prof, or the exit status after a message. */
int record_remotely(const struct record_line *line, bool *is_saved);

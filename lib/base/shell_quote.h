/* Words of a command line for a POSIX shell. */
#pragma once

#include "base/text_buffer.h"

/* Appends `text` in single quotes, so that a shell reads it as a part of one word, unchanged. False if memory ran
 * out. */
bool shell_quote(struct text_buffer *out, const char *text);

/* A byte sink that prints machine-readable text, such as CSV, to a terminal, and replaces invisible characters. */
#pragma once

#include "base/sink.h"

struct terminal_sink {
    struct byte_sink out;
    char text[4096];
    size_t used; /* size of `text`: the first bytes of an incomplete character */
};

/* `terminal`, with .out set and all else zero, must outlive the sink. */
struct byte_sink terminal_sink(struct terminal_sink *terminal);

/* Writes the incomplete character at the end, if any. Returns 0 or the negative code of .out. */
int terminal_sink_finish(struct terminal_sink *terminal, struct error *err);

/* A byte sink for text that is meant for a program and goes to a terminal: its invisible characters are replaced. */
#pragma once

#include "base/sink.h"

struct terminal_sink {
    struct byte_sink out;
    char text[4096];
    size_t used; /* the first bytes of a character that is not complete yet */
};

/* `terminal`, with .out set and all else zero, must outlive the sink. */
struct byte_sink terminal_sink(struct terminal_sink *terminal);

/* Writes what is left. Returns 0 or the negative code of .out. */
int terminal_sink_finish(struct terminal_sink *terminal, struct error *err);

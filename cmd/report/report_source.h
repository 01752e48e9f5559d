/*
 * Text of source files.
 */
#pragma once

#include "cmd/report/report.h"

struct source_text {
    char *bytes; /* NULL without text */
    ARRAY(const char *) lines;
};

/* Reads the text of a source file from the profile or, if the profile lacks it, from disk. If neither has the file,
 * `text` is empty. Destroy it. */
void source_text_read(struct source_text *text, const struct report *report, const char *file);
const char *source_text_get_line(const struct source_text *text, uint32_t line); /* 1-based, or NULL for no such line */
void source_text_destroy(struct source_text *text);

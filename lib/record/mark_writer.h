/*
 * Writes the marks of programs to the spool: each name once, and marks with the numbers of their names. A recording has
 * a limit of marks and of names, and counts the marks beyond its limit.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "spool/spool.h"

enum {
    MARK_WRITER_MARKS_MAX = 5000000,   /* limit of marks in a recording; further marks are only counted */
    MARK_WRITER_NAMES_MAX = 50000,     /* limit of names in a recording; further names become "(other)" */
    MARK_WRITER_TEXT_MAX_BYTES = 1000, /* limit of bytes of a name or text; longer texts are truncated */
};

struct mark_writer {
    struct spool_writer *spool; /* the caller's */
    struct strings names;       /* names, indexed by their numbers in the spool */
    uint64_t count, dropped;    /* marks in the spool; marks beyond MARK_WRITER_MARKS_MAX */
};

/* Returns the spool's number of a name; truncates names longer than MARK_WRITER_TEXT_MAX_BYTES bytes. */
int mark_writer_number_name(struct mark_writer *writer, const char *name, size_t length, uint32_t *number,
                            struct error *err);

/* Writes a mark, whose mark_name is a number of mark_writer_number_name(). */
int mark_writer_add(struct mark_writer *writer, const struct spool_program_mark *mark, struct error *err);

void mark_writer_destroy(struct mark_writer *writer);

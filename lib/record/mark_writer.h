/*
 * Writes the marks of programs to the spool: each name once, and marks with the numbers of their names. A recording has
 * a limit of marks and of names; it counts the marks beyond.
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "spool/spool.h"

#include <stdint.h>

enum {
    MARK_WRITER_MARKS = 5000000, /* of a recording; the rest is counted */
    MARK_WRITER_NAMES = 50000,   /* of a recording; further names become "(other)" */
    MARK_WRITER_TEXT = 1000,     /* bytes of a name or text; longer ones are truncated */
};

struct mark_writer {
    struct spool_writer *spool; /* the caller's */
    struct strings names;       /* indexed by their numbers in the spool */
    uint64_t count, dropped;    /* marks in the spool; those beyond MARK_WRITER_MARKS */
};

/* The spool's number of a name; names longer than MARK_WRITER_TEXT bytes are truncated. */
int mark_writer_name(struct mark_writer *writer, const char *name, size_t length, uint32_t *number, struct error *err);

/* Writes a mark, whose mark_name is that of mark_writer_name(). */
int mark_writer_add(struct mark_writer *writer, const struct spool_program_mark *mark, struct error *err);

void mark_writer_destroy(struct mark_writer *writer);

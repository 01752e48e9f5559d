/*
 * Writes what programs mark to the spool: names once, marks by the numbers of their names. What a program marks is
 * bounded: a recording takes so many marks, and so many names; the rest is counted.
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "spool/spool.h"

#include <stdint.h>

enum {
    MARK_WRITER_MARKS = 5000000, /* a recording takes no more, */
    MARK_WRITER_NAMES = 50000,   /* nor more names: others are all called "(other)" */
    MARK_WRITER_TEXT = 1000,     /* bytes of a name or text that count */
};

struct mark_writer {
    struct spool_writer *spool; /* the caller's */
    struct strings names;       /* by their numbers in the spool */
    uint64_t count, dropped;    /* marks in the spool; those beyond MARK_WRITER_MARKS */
};

struct mark {
    enum spool_mark kind;
    uint32_t pid, tid;
    uint32_t name;      /* of mark_writer_name() */
    uint64_t time, end; /* as SPOOL_PROGRAM_MARK has them */
    const char *text;   /* "": none */
};

/* The number of a name, of which only the first MARK_WRITER_TEXT bytes count. */
int mark_writer_name(struct mark_writer *writer, const char *name, size_t length, uint32_t *number, struct error *err);

int mark_writer_add(struct mark_writer *writer, const struct mark *mark, struct error *err);

void mark_writer_destroy(struct mark_writer *writer);

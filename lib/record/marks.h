/*
 * What programs mark while they are recorded: by the C API (mark_buffers.h) and in marker files (mark_files.h).
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include "record/mark_buffers.h"
#include "record/mark_files.h"
#include "record/mark_writer.h"

struct recording;

struct marks {
    struct mark_writer writer;
    struct mark_buffers buffers;
    struct mark_files files;
    uint64_t started; /* ns: what ended before it is of no recording */
};

#define MARKS_NONE                                                                                                     \
    {                                                                                                                  \
        .buffers = MARK_BUFFERS_NONE                                                                                   \
    }

/* Whether a file of this path may have marks. */
bool marks_is_report(const char *path);

/* Takes in a mapping of a process, if it is that of a file with marks. Fails only if memory runs out. */
int marks_take_mapping(struct marks *marks, uint32_t pid, const struct perf_mapping *mapping, struct error *err);

/* Writes to the spool what is new, if the time has come; `is_end`: all that there is. */
int marks_look(struct recording *recording, uint64_t now, bool is_end, struct error *err);

/* When to look at the latest (ns); UINT64_MAX: with the next samples. */
uint64_t marks_deadline(const struct marks *marks);

/* Adds notes about marks that are not recorded. */
void marks_note_missing(struct recording *recording);

void marks_destroy(struct marks *marks);

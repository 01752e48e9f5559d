/*
 * The marks that recorded programs set: through the C API (mark_buffers.h) and in marker files (mark_files.h).
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "record/mark_buffers.h"
#include "record/mark_files.h"
#include "record/mark_writer.h"
#include "record/pauses.h"
#include "record/producer.h"
#include "record/record_result.h"

struct tracker;

struct marks {
    struct mark_writer writer;
    struct mark_buffers buffers;
    struct mark_files files;
    struct tracker *tracker;     /* the caller's */
    const struct pauses *pauses; /* the caller's */
    uint64_t started;            /* ns: the recording ignores marks that end before this time */
};

#define MARKS_NONE                                                                                                     \
    {                                                                                                                  \
        .buffers = MARK_BUFFERS_NONE                                                                                   \
    }

/* The spool, the tracker and the pauses belong to the caller and must outlive the marks. */
void marks_init(struct marks *marks, struct spool_writer *spool, struct tracker *tracker, const struct pauses *pauses,
                uint64_t started);

/* Whether a file with this path may contain marks. */
bool marks_may_be_in_file(const char *path);

/* Opens the file of a mapping if the file may contain marks. Fails only if memory runs out. */
int marks_open_mapping(struct marks *marks, uint32_t pid, const struct perf_mapping *mapping, struct error *err);

/* The producer writes new marks to the spool if a read is due, except marks in pauses. At the end it writes all
 * remaining marks. */
struct producer marks_as_producer(struct marks *marks);

/* Adds notes about lost marks. */
void marks_add_notes(const struct marks *marks, struct record_result *result);

void marks_destroy(struct marks *marks);

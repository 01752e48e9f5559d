/*
 * Reads the mark buffers of programs that use the C API of marks (include/prof/marks.h documents their layout). Each
 * process has one file in shared memory. prof creates a private directory and passes its path to the command in
 * PROF_MARKS; programs create their files there. A running process has a file if PROF_MARKS was set at its start; the
 * recorder finds the file in the mappings of the process.
 *
 * The program can change and truncate its file at any time. So the recorder never maps the file: it copies new records,
 * and checks the copy.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "record/mark_writer.h"
#include "sample/perf_record.h"

struct tracker;

/* The mark buffer of one process. */
struct mark_buffer {
    int fd;
    bool is_ready;                  /* the process has written the header */
    bool is_foreign;                /* the pids in the buffer belong to another pid namespace */
    uint32_t pid;                   /* pid of the process in prof's pid namespace, or 0 if unknown */
    uint32_t own_pid;               /* pid of the process in its own pid namespace */
    uint64_t device, inode;         /* of the file */
    uint64_t namespace;             /* inode of its pid namespace, or 0 if unknown */
    uint64_t read, dropped;         /* position and count of the buffer's header */
    uint64_t first_time, last_time; /* ns: time from which marks count, and time of the last read */
    uint64_t incomplete_since;      /* ns: time at which the next record was found incomplete, or 0 (complete) */
    struct hash names;              /* address -> number of the name in the spool */
};

struct mark_buffers {
    char directory[256]; /* "": none */
    int directory_fd;    /* -1 */
    ARRAY(struct mark_buffer) buffers;
    size_t next;                  /* index of the next buffer to read */
    struct hash owners;           /* inode of a file in the directory -> pid of the process that mapped it */
    unsigned char *block;         /* copy of a part of a buffer */
    uint64_t next_read, deadline; /* ns: earliest and latest time of the next read */
    uint64_t next_check;          /* ns: time of the next check whether processes are alive */
    uint64_t lost;                /* marks dropped because their buffers were full */
    uint64_t damaged, unopened;   /* numbers of buffers with invalid contents, and of buffers that prof could not
                                   * open */
};

/* The initial value: a zeroed directory_fd would be a valid descriptor. */
#define MARK_BUFFERS_NONE                                                                                              \
    {                                                                                                                  \
        .directory_fd = -1                                                                                             \
    }

/* Creates the directory, and removes the directories of killed recorders. On failure (full or missing shared memory)
 * the path stays "", and the recording has no marks of the command. */
void mark_buffers_make_directory(struct mark_buffers *buffers);

/* Removes the directory with its files, like mark_buffers_destroy(). */
void mark_buffers_remove_directory(struct mark_buffers *buffers);

/* Whether a mapped file has the name of a mark buffer. */
bool mark_buffers_is_buffer(const char *path);

/* Opens the buffer that a process mapped before the recording. */
int mark_buffers_open_mapping(struct mark_buffers *buffers, uint32_t pid, const struct perf_mapping *mapping,
                              uint64_t now, struct error *err);

struct mark_source {
    struct mark_writer *writer;
    struct tracker *tracker;
    bool (*is_time_excluded)(const void *context,
                             uint64_t time); /* returns whether the recording is paused at this time (ns) */
    const void *context;
};

/* Writes new marks to the spool if a read is due at `now` (ns). `is_end`: reads all remaining marks. Fails if the spool
 * cannot be written. */
int mark_buffers_read(struct mark_buffers *buffers, const struct mark_source *source, uint64_t now, bool is_end,
                      struct error *err);

/* Returns the latest time (ns) of the next read, or UINT64_MAX (at the next samples). */
uint64_t mark_buffers_get_deadline(const struct mark_buffers *buffers);

/* Closes the buffers and removes the directory, so that processes that still run create no more files. */
void mark_buffers_destroy(struct mark_buffers *buffers);

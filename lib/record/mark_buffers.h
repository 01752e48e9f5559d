/*
 * The buffers of programs that use the C API of marks (include/prof/marks.h, which has their layout): a file in shared
 * memory for each process. prof makes a private folder, tells the command its name in PROF_MARKS, and finds the files
 * there. A process that runs already has a file if PROF_MARKS was set when it started; the recorder finds it among the
 * mappings of the process.
 *
 * The program can write anything to its file at any time, and make it shorter. So the recorder never maps it: it copies
 * what is new, and checks the copy.
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "record/mark_writer.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>

struct tracker;

/* The file of a process. */
struct mark_buffer {
    int fd;
    bool is_ready;                  /* the process has filled in its head */
    bool is_foreign;                /* its pids are those of another namespace */
    uint32_t pid;                   /* as we see it; 0: not known */
    uint32_t own_pid;               /* as it sees itself */
    uint64_t device, inode;         /* of the file */
    uint64_t namespace;             /* inode of its pid namespace; 0 unknown */
    uint64_t read, dropped;         /* as of the head */
    uint64_t first_time, last_time; /* ns: marks before it are not of this recording; of the last look at it */
    uint64_t incomplete_since;      /* ns: since when the next record is not complete; 0: it is */
    struct hash names;              /* address -> number of the name in the spool */
};

struct mark_buffers {
    char folder[256]; /* "": none */
    int folder_fd;    /* -1 */
    ARRAY(struct mark_buffer) buffers;
    size_t next;                  /* index of the buffer that is read next */
    struct hash owners;           /* inode of a file in the folder -> pid of the process that has mapped it */
    unsigned char *block;         /* what is copied of a buffer */
    uint64_t next_look, deadline; /* ns: when the next look may be, and must be */
    uint64_t next_check;          /* ns: whether processes live */
    uint64_t lost;                /* marks that had no room in their buffers */
    uint64_t damaged, unopened;   /* buffers that made no sense; that could not be opened */
};

/* Zeroed ones are no use: folder_fd is a descriptor. */
#define MARK_BUFFERS_NONE                                                                                              \
    {                                                                                                                  \
        .folder_fd = -1                                                                                                \
    }

/* Makes the folder, and removes those of recorders that were killed. Without one (no room, no shared memory) there are
 * no marks of the command: `folder` stays empty. */
void mark_buffers_make_folder(struct mark_buffers *buffers);

/* Removes it with its files. mark_buffers_destroy() does this, too. */
void mark_buffers_remove_folder(struct mark_buffers *buffers);

/* Whether a mapped file has the name of a buffer. */
bool mark_buffers_is_buffer(const char *path);

/* Takes in the buffer that a process has mapped, which it had before it was recorded. */
int mark_buffers_take_mapping(struct mark_buffers *buffers, uint32_t pid, const struct perf_mapping *mapping,
                              uint64_t now, struct error *err);

struct mark_source {
    struct mark_writer *writer;
    struct tracker *tracker;
    bool (*is_left_out)(const void *context, uint64_t time); /* a time at which nothing is recorded */
    const void *context;
};

/* Writes the new marks to the spool, if the time has come. `is_end`: all that there is. Fails as the spool does. */
int mark_buffers_look(struct mark_buffers *buffers, const struct mark_source *source, uint64_t now, bool is_end,
                      struct error *err);

/* When to look at the latest (ns); UINT64_MAX: with the next samples. */
uint64_t mark_buffers_deadline(const struct mark_buffers *buffers);

/* Removes the folder: a process that goes on finds none any more. */
void mark_buffers_destroy(struct mark_buffers *buffers);

/*
 * Marker files: text files in which a program writes its markers, a line each, as samply reads them:
 *
 *     START END NAME          both times in ns of CLOCK_MONOTONIC; the name is the rest of the line
 *
 * The file is called marker-PID.txt, or marker-PID-TID.txt for the markers of one thread, and the program maps a part
 * of it, which is what the recorder sees. The recorder opens the file while the process lives, so that it may be
 * deleted later, or be in a container, and reads it as it grows.
 *
 * Source of the format: samply/src/shared/marker_file.rs of https://github.com/mstange/samply.
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "record/mark_writer.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MARK_FILE_LINE = 2048,   /* bytes of a line; what is longer is cut */
    MARK_FILES_MAX = 1024,   /* open at a time */
    MARK_FILE_LOOK = 8 << 20 /* bytes of a file that are read in one look */
};
#define MARK_FILE_MAX (UINT64_C(256) << 20) /* bytes of a file that are read in all */

struct mark_file {
    int fd;
    uint32_t pid, tid;      /* tid: that of the main thread where the name has none */
    uint64_t device, inode; /* of the file */
    uint64_t offset;        /* bytes that were read */
    uint64_t line;          /* number of the last line, from 1 */
    char name[48];
    char text[MARK_FILE_LINE + 1]; /* the line that is not complete */
    size_t length;
    bool is_cut; /* the line is longer than that */
};

struct mark_files {
    ARRAY(struct mark_file) files;
    char *block;
    uint64_t next_look;    /* ns */
    uint64_t bad_lines;    /* that are no markers */
    char bad[96];          /* the first of these: "line 3 of marker-12.txt" */
    uint64_t future_lines; /* markers that end in the future, as by another clock */
    char future[96];       /* the first of these */
    uint64_t too_long;     /* files that go on beyond MARK_FILE_MAX */
    uint64_t unopened;     /* files that could not be opened */
};

/* Whether the path of a mapped file has the name of a marker file; *tid: of the thread in it, 0 if there is none. */
bool mark_files_is_file(const char *path, uint32_t *tid);

/* Opens the marker file that a process has mapped, unless it is open already. */
int mark_files_take_mapping(struct mark_files *files, uint32_t pid, const struct perf_mapping *mapping,
                            struct error *err);

/* Writes the new markers to the spool, if the time has come. `first_time` (ns): markers that end before it are of no
 * recording. `is_end`: all that there is. Fails as the spool does. */
int mark_files_look(struct mark_files *files, struct mark_writer *writer, uint64_t first_time, uint64_t now,
                    bool is_end, struct error *err);

void mark_files_destroy(struct mark_files *files);

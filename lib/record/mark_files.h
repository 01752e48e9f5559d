/*
 * Reads marker files: text files to which a program writes its markers, one a line, in samply's format:
 *
 *     START END NAME          both times in ns of CLOCK_MONOTONIC; the name is the rest of the line
 *
 * The file has the name marker-PID.txt, or marker-PID-TID.txt for the markers of one thread. The program maps a part of
 * the file, and the record of the mapping has its path. The recorder opens the file while the process is alive, so the
 * file may be in a container or be deleted later. The recorder reads the file as it grows.
 *
 * Source of the format: samply/src/shared/marker_file.rs of https://github.com/mstange/samply.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "record/mark_writer.h"
#include "sample/perf_record.h"

enum {
    MARK_FILE_LINE = 2048,         /* bytes of a line; the recorder truncates longer lines */
    MARK_FILES_MAX = 1024,         /* limit of files that are open at a time */
    MARK_FILE_PASS_BYTES = 8 << 20 /* bytes of a file that one pass reads */
};
#define MARK_FILE_MAX (UINT64_C(256) << 20) /* bytes of a file that a recording reads */

struct mark_file {
    int fd;
    uint32_t pid, tid;      /* tid in the file name, else tid of the main thread */
    uint64_t device, inode; /* of the file */
    uint64_t offset;        /* bytes read so far */
    uint64_t line;          /* number of the last line, from 1 */
    char name[48];
    char text[MARK_FILE_LINE + 1]; /* the incomplete last line */
    size_t length;
    bool is_cut; /* `text` is the start of a line that is too long */
};

struct mark_files {
    ARRAY(struct mark_file) files;
    char *block;
    uint64_t next_read;    /* ns */
    uint64_t bad_lines;    /* lines that are no markers */
    char bad[96];          /* position of the first bad line: "line 3 of marker-12.txt" */
    uint64_t future_lines; /* markers that end in the future, because their program uses another clock */
    char future[96];       /* position of the first such marker */
    uint64_t too_long;     /* files longer than MARK_FILE_MAX */
    uint64_t unopened;     /* files that could not be opened */
};

/* Whether the path of a mapped file has the name of a marker file. *tid: the thread in the name, or 0 without a
 * thread. */
bool mark_files_is_marker_file(const char *path, uint32_t *tid);

/* Opens a marker file that a process has mapped, unless it is already open. */
int mark_files_open_mapping(struct mark_files *files, uint32_t pid, const struct perf_mapping *mapping,
                            struct error *err);

/* Writes new markers to the spool if a pass is due at `now` (ns). Ignores markers that end before `first_time` (ns).
 * `is_end`: reads all remaining markers. Fails if the spool cannot be written. */
int mark_files_read(struct mark_files *files, struct mark_writer *writer, uint64_t first_time, uint64_t now,
                    bool is_end, struct error *err);

void mark_files_destroy(struct mark_files *files);

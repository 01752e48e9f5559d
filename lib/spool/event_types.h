/*
 * The events of a spool file, as the writer takes them and the reader returns them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPOOL_NO_NUMBER = UINT32_MAX };

/* Each kind is described in record_kinds.h: its fields, and the members below that hold them. */
enum spool_event_kind {
#define EVENT(ID, number, ...) SPOOL_##ID = (number),
#include "spool/record_kinds.h"
};

/* What SPOOL_PROGRAM_MARK tells of. */
enum spool_mark {
    SPOOL_MARK_INSTANT,
    SPOOL_MARK_BEGIN,   /* of an interval of that thread */
    SPOOL_MARK_END,     /* of the last one of this name that is open */
    SPOOL_MARK_SPAN,    /* a whole interval, to `end` */
    SPOOL_MARK_COUNTER, /* `end` has the bits of the value, a double */
    SPOOL_MARK_KINDS
};

/* A lib, as SPOOL_LIB has it. `kind` is enum spool_lib_kind. */
enum spool_lib_kind {
    SPOOL_LIB_FILE,
    SPOOL_LIB_KERNEL,
    SPOOL_LIB_KERNEL_MODULE,
    SPOOL_LIB_VDSO,
    SPOOL_LIB_KERNEL_CODE, /* made while the kernel ran (a BPF program): one function, whose name is the path */
    SPOOL_LIB_KINDS
};

struct spool_lib {
    uint32_t kind;
    const char *path;              /* "/usr/bin/gdb", "[kernel.kallsyms]", "[vdso]", "[nf_tables]" */
    const unsigned char *build_id; /* GNU build id; size 0 if there is none */
    size_t build_id_size;
    uint64_t device, inode, size, mtime_ns; /* of the file as it was mapped; 0 unknown */
    const unsigned char *image;             /* SPOOL_LIB_VDSO: its ELF image */
    size_t image_size;
};

/* One event. Fields that its kind does not name are 0 or NULL. Texts are valid until the next read. */
struct spool_event {
    enum spool_event_kind kind;
    uint32_t number;
    uint32_t process; /* SPOOL_THREAD */
    uint32_t parent;  /* SPOOL_PROCESS: number of the parent process, or of the one it replaces; SPOOL_NO_NUMBER */
    bool exec;        /* SPOOL_PROCESS: the same pid goes on as a new program; its mappings start empty, whereas
                         after a fork they start as a copy of the parent's at that time */
    uint32_t pid, tid, cpu;
    uint32_t lib_number; /* SPOOL_MAP */
    uint32_t mark;       /* SPOOL_PROGRAM_MARK: enum spool_mark */
    uint64_t time;       /* ns, CLOCK_MONOTONIC */
    uint64_t start, end, rva;
    uint64_t count;
    const char *name, *value;
    struct spool_lib lib;
};

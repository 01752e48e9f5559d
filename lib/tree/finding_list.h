/*
 * Findings, and the parts of the time of a run: the result of findings.h.
 */
#pragma once

#include "base/text_buffer.h"
#include "tree/engine.h"

enum finding_kind {
    FINDING_PATH,         /* the critical path of the first thread (bottleneck.h) */
    FINDING_WAIT,         /* threads wait for an object */
    FINDING_RUNNABLE,     /* threads wait for a CPU */
    FINDING_ONE_THREAD,   /* one thread of several has nearly all CPU time */
    FINDING_SERIAL_PART,  /* a build or a script has one process at a time that runs (process_tree.h) */
    FINDING_FUNCTION,     /* a function has much CPU time */
    FINDING_LINE,         /* a source line of another function has much CPU time */
    FINDING_ALLOCATIONS,  /* malloc(), free() and their callees have much CPU time */
    FINDING_PAGE_FAULTS,  /* the kernel handles page faults */
    FINDING_SYSTEM_CALLS, /* the kernel executes system calls */
    FINDING_UNNAMED,      /* functions without symbols have much CPU time */
    FINDING_GOROUTINES,   /* a Go program waits, and the profile lacks the waits of goroutines */
    FINDING_LOST,         /* samples are lost */
    FINDING_KINDS
};

struct finding {
    enum finding_kind kind;
    double weight;               /* 0 to 1: the part of the run that the finding explains, which orders findings */
    uint32_t func;               /* of the CPU time, or the object of the wait; PROFILE_NONE: none */
    uint32_t line;               /* of `func`, 1-based; 0: none */
    uint32_t thread;             /* the thread of the finding; PROFILE_NONE: several */
    struct text_buffer sentence; /* ends with NUL */
};

/* The name of a kind in JSON: "hot-function". */
extern const char *const finding_kind_names[FINDING_KINDS];

enum run_part_kind { PART_CPU, PART_WAIT, PART_RUNNABLE, PART_UNSEEN };

/* A part of the time of all threads. */
struct run_part {
    enum run_part_kind kind;
    uint32_t index; /* PART_CPU: resource, PROFILE_NONE: no library; else the subcategory of "Idle" */
    double ms;
};

struct findings {
    struct text_buffer headline;  /* ends with NUL; empty: the weight of the query is not CPU time */
    ARRAY(struct run_part) parts; /* longest first; add up to `whole` */
    double whole;                 /* ms: time of all threads, except threads of a runtime that have no work */
    ARRAY(struct finding) list;   /* heaviest first */
};

/* Appends one finding with a sentence in printf's format. */
int findings_add_sentence(struct findings *findings, struct finding finding, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the name of a part: a library, or the reason of a wait. */
const char *get_run_part_name(const struct engine *engine, const struct run_part *part);

void findings_destroy(struct findings *findings);

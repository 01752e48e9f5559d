/*
 * The tree of processes: the result of process_tree.h.
 */
#pragma once

#include "base/arena.h"
#include "tree/weights.h"

struct process {
    const char *pid, *name; /* texts belong to the tree */
    const char *argument;   /* the argument that the fewest processes of this name have, without its directory, or "" */
    const char *command;    /* the last command line that the process executed, or "" */
    const char *exit;       /* "exit status 2", "killed by SIGTERM", or "" (unknown) */
    double start, end;      /* ms, inside the range */
    double cpu, tree_cpu;   /* ms of CPU time of the process, and with its descendants */
    double on_path;         /* ms on the critical path of processes */
    uint32_t parent;        /* row, or PROFILE_NONE for a root */
    uint32_t depth, descendants;
    uint32_t first_thread, thread_count; /* in process_tree.threads; the threads of the descendants follow */
};

/* A time in which the path is in a process, and in none of its children. */
struct process_step {
    double from, to; /* ms */
    uint32_t process;
};

/* The longest time in which at most one thread runs or is ready to run. */
struct serial_part {
    double from, to;  /* ms; equal: none, or less than a tenth of the range */
    double cpu;       /* ms of CPU time of all processes */
    uint32_t process; /* the process with most of this CPU time, or PROFILE_NONE (none has half of it) */
};

struct process_tree {
    ARRAY(struct process) processes; /* a process precedes its descendants; siblings are sorted by start */
    uint32_t *threads;               /* indexes of the profile's threads, by process */
    ARRAY(struct process_step) path; /* by time */
    double idle, alone, parallel;    /* ms in which no thread, at most one, or several run or are ready to run */
    struct serial_part serial;
    struct time_range range;
    struct arena texts;
};

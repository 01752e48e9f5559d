/*
 * Collects the marks of programs from the spool, and other events: exits and signals of processes, work of the
 * recorder. A mark has a pid and a tid; its thread depends on the time, because the system reuses numbers, and exec
 * starts a new thread. So prof finds the threads of marks at the end, when all threads are known.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "spool/records.h"

struct program_mark {
    uint64_t time, end; /* ns; only SPOOL_MARK_SPAN has an `end` */
    double value;       /* of SPOOL_MARK_COUNTER */
    uint32_t pid, tid;
    uint32_t thread;     /* of the replay, or REPLAY_NONE if unknown */
    uint32_t name, text; /* strings of `texts`; text: STRING_NONE */
    uint32_t kind;       /* enum spool_mark */
};

struct lost_marks {
    uint32_t pid;
    uint64_t start, end, count; /* ns */
};

struct process_exit {
    uint32_t pid;
    int status; /* as in wait(2) */
    uint64_t time;
};

/* A time in which the recorder was busy. */
struct work_time {
    uint64_t start, end; /* ns */
    uint32_t name;       /* string of `texts` */
};

struct process_signal {
    uint64_t time;
    uint32_t pid, tid, number;
    uint32_t thread; /* thread of the replay, or REPLAY_NONE if unknown */
    uint32_t sender; /* string of `texts` */
};

struct oom_kill {
    uint32_t pid;
    uint64_t time, count; /* number of kills, from SPOOL_OOM_KILL */
};

/* Starts zeroed. */
struct program_marks {
    struct strings texts;
    ARRAY(uint32_t) names; /* indexed by number in the spool: strings of `texts`, or STRING_NONE */
    ARRAY(struct program_mark) items;
    ARRAY(struct lost_marks) lost;
    ARRAY(struct process_exit) exits;
    ARRAY(struct work_time) works;
    ARRAY(struct process_signal) signals;
    ARRAY(struct oom_kill) oom_kills;
    struct hash commands; /* number of a process -> string of `texts` */
    uint64_t homeless;    /* marks of processes outside the recording */
};

/* Adds a record of a program mark, exit, command line, recorder work, signal or kill. */
int program_marks_add(struct program_marks *marks, const struct spool_record *record, struct error *err);

void program_marks_destroy(struct program_marks *marks);

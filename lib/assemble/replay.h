/*
 * A recording, read once from first to last: which processes, threads and libraries there were, and each sample's stack
 * as a number in a table of (caller's stack, frame) pairs. Frames are addresses in libraries here; symbolization.c
 * gives them names.
 */
#ifndef PROF_ASSEMBLE_REPLAY_H
#define PROF_ASSEMBLE_REPLAY_H

#include "assemble/sample_store.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "record/jit_files.h"
#include "record/spool.h"
#include "unwind/address_space.h"

#include <stdint.h>

struct jitdump;

#define REPLAY_NONE UINT32_MAX

/* The libs of a frame that is in none. */
enum {
    REPLAY_LIB_ANONYMOUS = UINT32_MAX,          /* executable memory that is no file's: address is the pc */
    REPLAY_LIB_TRUNCATED = UINT32_MAX - 1,      /* stands for the callers that a cut stack lacks */
    REPLAY_LIB_UNKNOWN_KERNEL = UINT32_MAX - 2, /* a kernel address of no known image or module */
    REPLAY_LIB_DUMPED = UINT32_MAX - 3,         /* code that the jitdump file of `process` tells of: `code` in it */
    REPLAY_LIB_UNMAPPED = UINT32_MAX - 4,       /* no executable memory is known there: address is the pc */
    REPLAY_LIB_NOT_SAMPLED = UINT32_MAX - 5,    /* stands for CPU time that no sample covers (unsampled.h) */
};

struct replay_frame {
    uint32_t lib;     /* into libs, or one of the above */
    uint32_t process; /* whose map or jitdump file may name this code; REPLAY_NONE: no file can */
    uint64_t address; /* library-relative, or the pc */
    uint32_t code;    /* REPLAY_LIB_DUMPED: index in jitdump.codes */
    uint64_t samples; /* whose innermost frame it is */
};

struct replay_stack {
    uint32_t prefix; /* REPLAY_NONE: a root */
    uint32_t frame;
};

/* Whether a process has a file with the names of its compiled code (process_perf_map.h, process_jitdump.h). */
enum replay_jit_state { REPLAY_JIT_UNKNOWN, REPLAY_JIT_MISSING, REPLAY_JIT_FOUND };

struct replay_process {
    bool known;
    uint32_t parent, pid;
    uint32_t instance;                  /* how many programs this pid ran before: "123", "123.1" */
    uint64_t start, end;                /* ns; end 0: not seen */
    uint32_t name;                      /* string */
    uint32_t live_threads, main_thread; /* main_thread: REPLAY_NONE if it is not known */
    uint64_t samples;
    struct address_space space;
    uint32_t map_generation; /* grows with every change of `space` */
    enum replay_jit_state map_state, dump_state;
    struct jitdump *dump;       /* NULL: none */
    uint32_t dump_lib;          /* the number of the library that is its jitdump file, plus 1; 0: none was mapped */
    struct hash map_frames;     /* pc -> frame, of anonymous code that only this process's map file can name */
    struct hash jitdump_unwind; /* piece of code and place in it -> frame */
};

struct replay_thread {
    bool known;
    uint32_t process, tid;
    uint64_t start, end;                                      /* ns; end 0: not seen */
    uint32_t name;                                            /* string */
    uint64_t samples, truncated, completed_live, without_cfi; /* how trustworthy its stacks are */
    uint64_t last_time;
    uint64_t covered_until;  /* ns: its last sample covers the CPU time up to here; its start if it has no sample */
    bool goes_on;            /* after an exec, as a thread of another number, whose samples cover its rest */
    uint64_t unsampled;      /* samples that stand for CPU time that no real sample covers */
    uint32_t threads_in_row; /* threads without a sample whose CPU time is in this one's row, itself included */
    /* The last stack, outermost first, with the number of the stack that ends at each frame. */
    ARRAY(uint64_t) last_pcs;
    ARRAY(uint32_t) last_stacks;
    bool last_truncated;
    uint64_t last_map_generation, last_code_generation;
};

/* A library; texts and bytes live in `arena`. A path of NULL: the recording has lost what it said of this one. */
struct replay_lib {
    struct spool_lib lib;
};

struct replay_info {
    uint32_t name, value; /* strings */
};

struct replay {
    struct strings strings;
    struct arena arena;
    ARRAY(struct replay_info) infos;
    ARRAY(struct replay_process) processes;
    ARRAY(struct replay_thread) threads;
    ARRAY(struct replay_lib) libs;
    ARRAY(struct replay_frame) frames;
    ARRAY(struct replay_stack) stacks;
    struct sample_store *samples;
    uint64_t sample_count, lost, damaged_blocks;
    uint64_t covered_cpu_time;         /* ns that the samples cover */
    uint64_t interval;                 /* INFO_INTERVAL: ns between two samples of a busy thread; 0 unknown */
    uint64_t excess_cpu_time;          /* ns: what samples cover beyond a period each */
    double excess_removed;             /* the part of it that is taken off again (unsampled.h) */
    uint64_t unsampled_count;          /* samples that stand for the rest */
    uint64_t first_time, last_time;    /* ns, of events and samples; 0 if there are none */
    const char *perf_map_folder;       /* where compilers leave their map files; NULL: do not look for any */
    const struct jit_files *jit_files; /* what the recorder kept of living processes; NULL: nothing */
    struct spool_reader *reader;

    struct hash lib_frames, pc_frames, unmapped_frames, stack_index; /* see replay.c */
    struct address_space kernel;
    uint32_t kernel_generation;        /* grows with every change of `kernel` */
    ARRAY(struct spool_event) pending; /* what no sample has reached yet, by time */
    size_t pending_done;
};

/* Reads the whole spool into `replay`, which is zeroed but for perf_map_folder and jit_files. On failure
 * replay_destroy() is still owed. */
int replay_spool(struct replay *replay, const char *spool_path, struct error *err);

/* The value of an info, or NULL if the recording has none of that name. */
const char *replay_info(const struct replay *replay, const char *name);

/* The value of an info that is a decimal number; `missing` if it is not there or no number. */
uint64_t replay_info_number(const struct replay *replay, const char *name, uint64_t missing);

/* The process that `number` was forked from and whose compiled code it therefore still has; REPLAY_NONE if there is
 * none, or it has become another program since. */
uint32_t replay_forked_from(const struct replay *replay, uint32_t number);

/* The number of the stack that is only the mark REPLAY_LIB_TRUNCATED or REPLAY_LIB_NOT_SAMPLED, added if it is new.
 * REPLAY_NONE if memory ran out. */
uint32_t replay_add_mark(struct replay *replay, uint32_t lib);

/* A time of the recording (ns of CLOCK_MONOTONIC) in ns since the Unix epoch; 0 if the recording does not say. */
uint64_t replay_realtime(const struct replay *replay, uint64_t time);

void replay_destroy(struct replay *replay);

#endif

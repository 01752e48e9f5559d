/*
 * A replayed recording: its processes, threads and libraries, and each sample's stack as an index into a table of
 * (caller's stack, frame) pairs. Frames are addresses in libraries, which symbolize_frames.c symbolizes.
 */
#pragma once

#include "assemble/event_store.h"
#include "assemble/program_marks.h"
#include "assemble/recording_window.h"
#include "assemble/replay_counters.h"
#include "assemble/replay_marks.h"
#include "assemble/replay_none.h"
#include "assemble/sample_store.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "process/jit_files.h"
#include "spool/spool.h"
#include "unwind/address_space.h"

struct jitdump;

/* Values of `lib` for frames outside libraries. */
enum {
    REPLAY_LIB_ANONYMOUS = UINT32_MAX,          /* anonymous executable memory: address is the pc */
    REPLAY_LIB_TRUNCATED = UINT32_MAX - 1,      /* placeholder for the missing callers of a truncated stack */
    REPLAY_LIB_UNKNOWN_KERNEL = UINT32_MAX - 2, /* a kernel address outside the known image and modules */
    REPLAY_LIB_DUMPED = UINT32_MAX - 3,         /* the JIT code `code` in the jitdump file of `process` */
    REPLAY_LIB_UNMAPPED = UINT32_MAX - 4,       /* memory without a known executable mapping: address is the pc */
    REPLAY_LIB_NOT_SAMPLED = UINT32_MAX - 5,    /* placeholder of CPU time without a sample (unsampled.h) */
    REPLAY_LIB_WAIT = UINT32_MAX - 6,           /* placeholder for the reason of a wait; replay_encode_wait() */
    REPLAY_LIB_OMITTED =
        UINT32_MAX -
        8, /* placeholder for omitted frames of a deep stack; `address`: their number, rounded down to a power of 2 */
    REPLAY_LIB_PYTHON = UINT32_MAX - 7, /* a Python frame, with an address of python_frame_make() */
};

struct replay_frame {
    uint32_t lib;     /* index of a library, or a REPLAY_LIB_... value */
    uint32_t process; /* process whose perf map or jitdump may have the symbol of the frame, or REPLAY_NONE for none */
    uint64_t address; /* library-relative, or the pc */
    /* REPLAY_LIB_DUMPED: index in jitdump.codes; REPLAY_LIB_WAIT: index of the lock, plus 1, or 0 for none */
    uint32_t code;
    uint64_t samples; /* samples with this leaf frame */
};

/* The place of a lock behind the code of a library: in its data, or in other memory. */
struct replay_lock {
    uint32_t lib;
    uint64_t rva;
};

struct replay_stack {
    uint32_t prefix; /* REPLAY_NONE: a root */
    uint32_t frame;
};

/* Whether a process has a perf map or jitdump (process_perf_map.h, process_jitdump.h). */
enum replay_jit_state { REPLAY_JIT_UNKNOWN, REPLAY_JIT_MISSING, REPLAY_JIT_FOUND };

/* The files that name JIT code of one process (replay_jit.h). */
struct replay_jit {
    enum replay_jit_state map_state, dump_state;
    const char *map_problem; /* reason why prof does not use the process's perf map, or NULL if prof uses the map or the
                                process has none */
    struct jitdump *dump;    /* NULL if none */
    uint32_t dump_lib; /* index of the jitdump file in the libraries, plus 1, or 0 if the process has mapped none */
    struct hash map_frames;  /* pc -> frame, for anonymous code that only this process's perf map can name */
    struct hash dump_frames; /* index of a code, and offset in the code -> frame */
};

struct replay_process {
    bool known;
    uint32_t parent, pid;
    uint32_t instance;                  /* earlier programs of this pid: "123", "123.1" */
    uint64_t start, end;                /* ns; end 0: unknown */
    uint32_t name;                      /* index of a string */
    uint32_t live_threads, main_thread; /* main_thread: REPLAY_NONE if unknown */
    uint64_t samples;
    uint64_t unseen; /* ns of CPU time that the kernel counted beyond the switches of its threads
                        (SPOOL_UNSAMPLED_PROCESS) */
    double scale;    /* factor for the CPU time of its samples; 0 means 1 (unsampled.h) */
    struct address_space space;
    uint32_t map_generation; /* incremented by every change of `space` */
    struct replay_jit jit;
};

/* CPU time of a thread, in ns (unsampled.h). */
struct replay_thread_time {
    uint64_t covered;       /* CPU time that samples cover */
    uint64_t covered_until; /* end of the CPU time covered by samples; the start of a thread without samples */
    bool goes_on;  /* after exec, the thread continues as another thread, whose samples cover its remaining CPU time */
    uint64_t rest; /* ns on a CPU after its last sample or wait */
    uint64_t ran_to_waits; /* ns on a CPU between its last sample and its last wait */
    uint64_t unsampled;    /* ns of added samples, for CPU time without samples */
    uint64_t unseen;       /* ns of unseen waits, for which other waits stand */
};

/* The last stack of a thread, outermost frame first, with the index of the stack that ends at each frame
 * (replay_stacks.h). */
struct replay_last_stack {
    ARRAY(uint64_t) pcs;
    ARRAY(uint32_t) stacks;
    bool is_truncated;
    uint64_t map_generation, code_generation;
};

struct replay_thread {
    bool known;
    uint32_t process, tid;
    uint64_t start, end;                                      /* ns; end 0: unknown */
    uint32_t name;                                            /* index of a string */
    uint64_t samples, truncated, completed_live, without_cfi; /* counts of its samples, by quality of the stack */
    uint64_t event_samples;                                   /* samples of events other than the clock */
    uint64_t last_event_time;                                 /* ns: last event sample */
    uint64_t waits; /* waits except preemptions; the profile may omit a thread that was only runnable */
    uint64_t last_time;
    uint32_t waker_stack;    /* stack of the waker of the next wait, plus 1; 0: none */
    bool has_marks;          /* its process has set marks */
    uint32_t threads_in_row; /* number of threads that share this thread's row, including itself */
    struct replay_thread_time cpu_time;
    struct replay_last_stack last_stack;
};

/* The waker of a wait. */
struct replay_waker {
    uint32_t object; /* number of replay.objects */
    uint32_t stack;  /* stack of the waker at the wakeup; REPLAY_NONE: unknown */
};

struct replay_wakers {
    ARRAY(struct replay_waker) all; /* indexed by number - 1 */
    struct hash numbers;            /* stack and object of a waker -> its number */
};

/* First mapping of a library in a process. */
struct replay_load {
    uint32_t process, lib;
    uint64_t time; /* ns */
};

enum { REPLAY_LOADS = 2000 };

/* Libraries, their first mappings, and the mappings of the kernel (replay_libs.h). */
struct replay_libs {
    /* indexed by number; `path` is NULL if the event that describes the library was lost */
    ARRAY(struct spool_library) items;
    struct arena arena;              /* owns the texts and bytes of libraries */
    ARRAY(struct replay_load) loads; /* at most REPLAY_LOADS */
    struct hash loaded;              /* process << 32 | lib */
    size_t more_loads;               /* loads beyond REPLAY_LOADS */
    struct address_space kernel;
    uint32_t kernel_generation; /* incremented by every change of `kernel` */
};

/* A Python function. Indexes of strings, or STRING_NONE (the event that describes the name was lost). */
struct replay_function {
    uint32_t name, file;
    uint32_t line; /* first line of the function, or 0 if unknown */
};

struct replay_info {
    uint32_t name, value; /* indexes of strings */
};

/* The metadata of the recording. */
struct replay_infos {
    ARRAY(struct replay_info) items;
    uint64_t interval; /* INFO_INTERVAL: ns between two samples of a busy thread, or 0 if unknown */
};

/* The recorder never reuses numbers of processes and threads, and a flight recorder drops most of them. So the replay
 * renumbers them as rows, except for windows, which share their rows. */
struct replay_rows {
    struct hash processes, threads; /* number in the spool -> row */
    ARRAY(uint32_t) of_processes;   /* row -> number in the spool */
};

/* The distinct frames and stacks (replay_stacks.h). */
struct replay_stacks {
    ARRAY(struct replay_frame) frames;
    ARRAY(struct replay_stack) items;
    struct hash lib_frames, pc_frames, unmapped_frames, wait_frames; /* key of a frame -> its index */
    ARRAY(struct replay_lock) locks;
    struct hash lock_frames; /* object << 32 | lib -> index of a frame with a lock */
    struct hash index;       /* prefix << 32 | frame -> stack */
    uint64_t omitted_frames; /* frames omitted from the middle of `omitted_stacks` stacks */
    uint64_t omitted_stacks;
};

/* CPU samples and waits (replay_samples.h). */
struct replay_samples {
    struct sample_store *store;
    struct sample_store *slices; /* STORED_SLICE */
    uint64_t count, waits;
    uint64_t lost;           /* lost CPU samples, without event samples if the kernel counts both separately */
    uint64_t without_thread; /* dropped samples of threads whose records are in a damaged block */
};

ARRAY_TYPE(struct replay_events, struct replay_event);

struct queued_record {
    uint64_t time; /* ns */
    struct spool_record record;
};

/* Events that wait for a sample of their time (replay_records.h). */
struct replay_queue {
    ARRAY(struct queued_record) records; /* events later than the last sample, sorted by time */
    size_t done;                         /* number of applied events, at the start of the queue */
};

/* The requests of the caller. */
struct replay_input {
    const char *rest_path;                 /* a second spool file, which continues the first, or NULL for none */
    const char *perf_map_directory;        /* directory of perf maps, or NULL (do not use perf maps) */
    const struct recording_window *window; /* part to read, or NULL (the whole recording) */
    const struct jit_files *jit_files;     /* the recorder's open files of JIT compilers, or NULL for none */
};

/* The spool file and its damage. */
struct replay_spool {
    const char *path;
    struct spool_reader *reader;
    bool is_running; /* the recorder is still writing the spool */
    bool keeps_last; /* the spool has only the newest samples, but the recorder's counts include all samples */
    uint64_t damaged_blocks, damaged_bytes;
    uint64_t rest; /* bytes of an incomplete block at the end of the spool */
    struct spool_place window_end;
    uint64_t window_missed; /* number of dropped chunks of this window */
};

/* CPU time of all threads, in ns (unsampled.h). */
struct replay_cpu_time {
    uint64_t covered;      /* CPU time that samples cover */
    uint64_t excess;       /* CPU time of samples beyond one period each */
    double excess_removed; /* removed part of `excess` */
    uint64_t unseen;       /* ns that the kernel counted beyond the switches */
    uint64_t unsampled;    /* ns of added samples, for CPU time without samples */
    bool has_rests;        /* a thread has a `rest` */
};

/* ns of CLOCK_MONOTONIC, or 0 for none: start and end of the recording */
struct replay_range {
    uint64_t first, last; /* ns of CLOCK_MONOTONIC: times of the first and last event or sample */
    uint64_t first_sample;
};

struct replay {
    struct replay_input input;
    struct replay_spool spool;
    struct replay_queue queue;
    struct replay_range range;
    struct strings strings;
    struct replay_infos infos;
    struct replay_rows rows; /* empty: rows are numbers */
    ARRAY(struct replay_process) processes;
    ARRAY(struct replay_thread) threads;
    struct replay_libs libs;
    struct replay_wakers wakers;
    ARRAY(uint32_t) objects; /* wait objects and wakers, indexed by number - 1: indexes of strings, or STRING_NONE */
    ARRAY(struct replay_function) python_functions;
    struct replay_stacks stacks;
    struct replay_samples samples;
    struct replay_cpu_time cpu_time;
    struct replay_events events; /* events other than the clock, indexed by number - 1; at most EVENTS_MAX */
    struct replay_marks marks;
    struct program_marks program_marks;
    struct replay_counters counters;
};

int replay_add_info(struct replay *replay, const struct spool_metadata *record, struct error *err);

/* Returns a value of the metadata, or NULL if the recording lacks it. */
const char *replay_get_info(const struct replay *replay, const char *name);

/* Returns a value of the metadata as a number, or `missing` if the recording lacks the value, or the value is not a
 * decimal number. */
uint64_t replay_get_info_number(const struct replay *replay, const char *name, uint64_t missing);

/* Pack and unpack the address of a REPLAY_LIB_WAIT frame: enum wait_reason, and the number of the object. */
static inline uint64_t replay_encode_wait(uint32_t reason, uint32_t object)
{
    return (uint64_t)reason << 32 | object;
}

static inline uint32_t replay_decode_wait_reason(uint64_t address)
{
    return (uint32_t)(address >> 32);
}

static inline uint32_t replay_decode_wait_object(uint64_t address)
{
    return (uint32_t)address;
}

/* Returns the parent of a forked process that still has the parent's JIT code, or REPLAY_NONE if the process was not
 * forked, or has called exec. */
uint32_t replay_find_fork_parent(const struct replay *replay, uint32_t number);

bool replay_is_main_thread(const struct replay *replay, const struct replay_thread *thread);

/* Whether the profile shows the thread: it has samples (of any event) or waits (except preemptions), or is the main
 * thread of a process with samples. */
bool replay_is_shown(const struct replay *replay, const struct replay_thread *thread);

/* Extends the recording's range to `time` (ns of CLOCK_MONOTONIC). Ignores a `time` of 0. */
void replay_extend_range(struct replay *replay, uint64_t time);

/* Converts a time of the recording (ns of CLOCK_MONOTONIC) to ns since the Unix epoch. Returns 0 if the recording
 * lacks the offset. */
uint64_t replay_convert_to_realtime(const struct replay *replay, uint64_t time);

/* Returns the time (ns of CLOCK_MONOTONIC) at which the recording stopped, the end of all live threads. For an
 * unfinished recording: its last record. */
uint64_t replay_get_stop(const struct replay *replay);

/* Returns the duration of the recording in ns, or 0 (unknown, because the recorder did not finish). */
uint64_t replay_get_wall_time(const struct replay *replay);

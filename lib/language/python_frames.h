/*
 * The Python frames of a thread, read from the memory of its process. Reading needs no CPython option, and runs no code
 * in the process.
 *
 * The recorder finds the PyThreadState of a thread by the thread's id. The PyThreadState points to the innermost
 * _PyInterpreterFrame, and each _PyInterpreterFrame points to the _PyInterpreterFrame of its caller. One call of
 * _PyEval_EvalFrameDefault runs a group of Python frames, because calls between Python functions add no C frame. Each
 * call of _PyEval_EvalFrameDefault has an object on the C stack, the anchor of its group. The anchor's address assigns
 * the group to one native frame (python_stack.h).
 *
 * The memory matches the sample only if the thread has not run since. The caller checks this condition.
 *
 * Sources: Include/internal/pycore_frame.h and Python/ceval.c of CPython 3.11, 3.12 and 3.13.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "language/python_code.h"
#include "language/python_layout.h"
#include "language/python_library.h"
#include "language/python_memory.h"

enum { PYTHON_FRAMES_MAX = 2048, PYTHON_GROUPS_MAX = 512 };

struct python_frame {
    uint64_t code;
    int64_t offset; /* bytecode offset of the running instruction, in bytes; negative before the first instruction */
};

/* A frame of a thread's last sample, with its pc (python_frame.h), or 0 if omitted. */
struct python_known {
    struct python_frame frame;
    uint64_t pc;
};

/* The Python frames of one call of the interpreter loop. */
struct python_group {
    uint64_t anchor; /* an address in the interpreter's C frame */
    uint32_t first, count;
};

/* Buffers for reading one sample; a recording has one. */
struct python_reader {
    struct python_memory memory;
    struct python_frame *frames; /* PYTHON_FRAMES_MAX; innermost first */
    struct python_code **codes;  /* code of each frame, except the last `shared` frames */
    uint64_t *pcs;               /* pcs of the last `shared` frames, by the same index */
    uint64_t *addresses;         /* addresses of the code objects */
    struct python_group groups[PYTHON_GROUPS_MAX];
    size_t frame_count, group_count;
    size_t shared; /* number of outermost frames shared with the thread's last sample */
    struct python_thread *thread;
};

/* Returns false if memory ran out. */
bool python_reader_init(struct python_reader *reader);
void python_reader_destroy(struct python_reader *reader);

/* A process that runs CPython. */
struct python_process;

/* `start`: mapped address of the library's first segment. NULL if memory ran out. */
struct python_process *python_process_new(const struct python_library *library, uint64_t start);

/* Creates the state of a forked child, without the cached data of the parent. */
struct python_process *python_process_fork(const struct python_process *parent);
void python_process_free(struct python_process *process); /* accepts NULL */

enum python_outcome {
    PYTHON_READ,        /* the thread may have no Python frames */
    PYTHON_NO_THREAD,   /* no Python code runs in this thread, or Python is not initialized yet */
    PYTHON_CHANGED,     /* the thread's stack has changed since the sample */
    PYTHON_UNREADABLE,  /* the frames make no sense */
    PYTHON_UNSUPPORTED, /* unsupported version: see python_process_get_problem() */
};

/* The sample of the thread: the copy of its stack, and its time in ns of CLOCK_MONOTONIC. */
struct python_sample {
    uint32_t pid, tid;
    uint64_t time;
    uint64_t sp;
    const unsigned char *copy;
    size_t copy_size;
    const uint64_t *sps; /* stack pointers of the thread's native frames: `frame_count` */
    size_t frame_count;
    bool is_in_kernel; /* the kernel may write to the thread's stack before the thread leaves its CPU */
};

/* Copies the frames and their code objects from the process to the reader. */
enum python_outcome python_process_read(struct python_process *process, struct python_reader *reader,
                                        const struct python_sample *sample);

/* Stores the pcs of all frames (reader->pcs) for the thread's next sample. */
void python_process_store_stack(struct python_process *process, const struct python_reader *reader, uint64_t time);

/* Drops the code objects read for the last sample. Call this function if the thread has run since the sample. */
void python_process_forget(struct python_process *process);

/* Returns the reason that prof cannot read the Python frames of the process, or NULL without a known problem. */
const char *python_process_get_problem(const struct python_process *process);

/*
 * Merges Python frames into the native stack of a sample.
 *
 * Python frames form groups. Each group has an anchor (python_frames.h), which lies in a C frame of
 * _PyEval_EvalFrameDefault. python_stacks_add() inserts the group as callees of this C frame: the C frame called the
 * outermost Python frame, and the innermost Python frame called the next native frame. So the stack is in the order of
 * calls. The C frame stays, because it shows the call of the interpreter. The self time of the C frame becomes the self
 * time of the Python function.
 *
 * With `python3 -X perf`, Python generates a trampoline for each function, so that perf can name it.
 * python_stacks_add() omits the trampolines of known Python frames, because a trampoline repeats the Python frame.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "language/python_frames.h"
#include "process/tracker.h"

/* The pcs of a walk, innermost first, and the stack pointer in each frame. */
struct python_stack {
    uint64_t *pcs;
    const uint64_t *sps;
    size_t count, max; /* of pcs */
    bool is_complete;  /* the walk has reached the start of the thread */
};

/* Counts of samples. Starts zeroed. */
struct python_counts {
    uint64_t samples; /* samples with the interpreter in their stack */
    uint64_t read;    /* samples with Python frames */
    uint64_t late;    /* samples without Python frames: the thread ran before the recorder could read the frames */
    uint64_t other;   /* samples without Python frames: the frames were inconsistent or unreadable */
};

struct python_stacks {
    struct python_reader reader;
    struct python_functions functions;
    struct python_counts counts, events;
    uint64_t time;     /* ns: of the current sample */
    uint64_t *merged;  /* CHUNK_MAX_FRAMES */
    char problem[256]; /* reason why the recorder cannot read the frames of some process, or "" without a problem */
};

/* -ENOMEM if memory ran out. */
int python_stacks_init(struct python_stacks *stacks, struct spool_writer *spool, struct error *err);
void python_stacks_destroy(struct python_stacks *stacks);

/* Whether some frame of the stack is in the interpreter of the process. */
bool python_stack_has_python(const struct tracked_process *process, const struct python_stack *stack);

/* Reads the Python frames of the thread. The caller then checks whether the thread executed nothing from its sample
 * until after this call, and calls python_stacks_add(). */
enum python_outcome python_stacks_read(struct python_stacks *stacks, struct tracked_process *process,
                                       const struct python_sample *sample);

/* Inserts the frames of python_stacks_read() if the thread executed nothing, else drops the frames. Sets *is_added.
 * Fails only if the spool cannot be written or memory runs out. */
int python_stacks_add(struct python_stacks *stacks, struct tracked_process *process, bool stood_still,
                      struct python_stack *stack, bool *is_added, struct error *err);

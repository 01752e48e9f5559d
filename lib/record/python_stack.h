/*
 * Python frames among the native ones of a sample.
 *
 * The frames of a group come right inside of the C frame that has their anchor (python_frames.h), that of
 * _PyEval_EvalFrameDefault: it has called the outermost of them, and the innermost has called the native frame inside.
 * So the stack reads in the order in which things were called. The C frame stays, because it is where the interpreter
 * was called; its own time is that of the Python function.
 *
 * With `python3 -X perf` each group is called through a few bytes of code that Python makes for each function, so that
 * perf can name it. Where the frames were read that code is left out, because it says the same.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "language/python_frames.h"
#include "process/tracker.h"

/* The pcs of a walk, innermost first, and the stack pointer in each frame. */
struct python_stack {
    uint64_t *pcs;
    const uint64_t *sps;
    size_t count, max; /* of pcs */
    bool is_complete;  /* the walk reached the start of the thread */
};

/* Counts of samples. Zero it to start. */
struct python_counts {
    uint64_t samples; /* whose stack passes through the interpreter */
    uint64_t read;    /* of these: with their Python frames */
    uint64_t late;    /* of the others: the thread ran on before they were read */
    uint64_t other;   /* they were read at a moment when they made no sense, or could not be read */
};

struct python_stacks {
    struct python_reader reader;
    struct python_functions functions;
    struct python_counts counts, events;
    uint64_t time;     /* ns: of the sample at hand */
    uint64_t *merged;  /* CHUNK_MAX_FRAMES */
    char problem[256]; /* why those of some process cannot be read; "" */
};

/* -ENOMEM if memory ran out. */
int python_stacks_init(struct python_stacks *stacks, struct spool_writer *spool, struct error *err);
void python_stacks_destroy(struct python_stacks *stacks);

/* Whether a frame of the stack is in the interpreter of the process. */
bool python_stack_has_python(const struct tracked_process *process, const struct python_stack *stack);

/* Reads the Python frames of the thread. To be followed by python_stacks_add() once the caller knows whether the thread
 * has stood still since its sample, until after this call. */
enum python_outcome python_stacks_read(struct python_stacks *stacks, struct tracked_process *process,
                                       const struct python_sample *sample);

/* Inserts the frames that were read, or forgets them. Sets *is_added. Fails only if the spool cannot be written or
 * memory runs out. */
int python_stacks_add(struct python_stacks *stacks, struct tracked_process *process, bool stood_still,
                      struct python_stack *stack, bool *is_added, struct error *err);

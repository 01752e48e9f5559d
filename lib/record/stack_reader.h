/*
 * Reads the part of a stack that lies above its copy from the living process.
 *
 * The thread has run on since its sample, so the stack may have changed. The walker gets its memory only if the sample
 * is young and the topmost part of the copy still equals the stack.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STACK_READ_MAX = 1 << 20,           /* bytes above the copy */
    STACK_READ_MAX_AGE_NS = 1000000,    /* of a sample whose stack is still read */
    STACK_READ_OFF_COPIED_STACK = 4096, /* bytes of another stack that are read at once */
};

/* A recording has one reader, which starts anew with every sample. */
struct stack_reader {
    unsigned char *buffer; /* what was read: `have` bytes from address `base` */
    size_t have, needed;
    uint64_t base;
    size_t usual; /* bytes that are read at first: about what the last stack needed */
    unsigned char off_stack[STACK_READ_OFF_COPIED_STACK];
    size_t off_stack_have;
    uint64_t off_stack_base;

    /* Of the sample at hand. */
    uint32_t tid;  /* of a living thread of the process */
    uint64_t time; /* ns, CLOCK_MONOTONIC */
    uint64_t sp;
    const unsigned char *copy;
    size_t copy_size;
    bool started, gave_up;
    bool went_off_copied_stack; /* another stack was asked for */

    bool was_late; /* it gave up because the stack has changed since, or may have */
};

int stack_reader_init(struct stack_reader *reader, struct error *err);
void stack_reader_destroy(struct stack_reader *reader);

/* Starts on a sample. `tid`: of a thread of the process that has not ended. `may_be_deeper`: the copy was truncated, it
 * does not end with the stack. */
void stack_reader_start(struct stack_reader *reader, uint32_t tid, uint64_t time, uint64_t sp,
                        const unsigned char *copy, size_t copy_size, bool may_be_deeper);

/* As unwind_stack.read_above wants it; the context is the reader. Reads in growing pieces. */
bool stack_reader_read(void *context, uint64_t address, void *out, size_t size);

/* As unwind_stack.read_off_copied_stack wants it. */
bool stack_reader_read_off_copied_stack(void *context, uint64_t address, void *out, size_t size);

/* As unwind_stack.read_below wants it. The walker checks what it gets, so the age of the sample does not matter. */
bool stack_reader_read_below(void *context, uint64_t address, void *out, size_t size);

/* As unwind_stack.read_code wants it. Code seldom changes, so the age of the sample does not matter. */
bool stack_reader_read_code(void *context, uint64_t address, void *out, size_t size);

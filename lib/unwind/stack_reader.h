/*
 * Reads the part of a stack above its copy from the memory of the live process.
 *
 * The thread has run since its sample, so the stack may have changed. The reader returns memory only if the sample is
 * young and the topmost part of the copy still equals the stack.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "os/target_memory.h"
#include "base/error.h"

enum {
    STACK_READ_MAX = 1 << 20,           /* bytes above the copy */
    STACK_READ_MAX_AGE_NS = 1000000,    /* maximum age of a sample whose stack is read */
    STACK_READ_OFF_COPIED_STACK = 4096, /* bytes of one read from another stack */
};

/* The reader of a recording. stack_reader_start() resets it for each sample. */
struct stack_reader {
    unsigned char *buffer; /* `have` bytes read from address `base` */
    size_t have, needed;
    uint64_t base;
    size_t usual; /* bytes of the first read: about the size of the previous stack */
    unsigned char off_stack[STACK_READ_OFF_COPIED_STACK];
    size_t off_stack_have;
    uint64_t off_stack_base;

    /* Of the current sample. */
    struct target_thread thread; /* of the process */
    uint64_t time;               /* ns, CLOCK_MONOTONIC */
    uint64_t sp;
    const unsigned char *copy;
    size_t copy_size;
    bool started, gave_up;
    bool went_off_copied_stack; /* the walker requested another stack */

    bool was_late; /* the reader gave up because the stack has changed or may have changed */
};

int stack_reader_init(struct stack_reader *reader, struct error *err);
void stack_reader_destroy(struct stack_reader *reader);

/* Starts a sample. `thread`: a live thread of the process. `may_be_deeper`: the copy is truncated. */
void stack_reader_start(struct stack_reader *reader, struct target_thread thread, uint64_t time, uint64_t sp,
                        const unsigned char *copy, size_t copy_size, bool may_be_deeper);

/* The function for unwind_stack.read_above. `context` is the reader. Reads in growing pieces. */
bool stack_reader_read(void *context, uint64_t address, void *out, size_t size);

/* The function for unwind_stack.read_off_copied_stack. */
bool stack_reader_read_off_copied_stack(void *context, uint64_t address, void *out, size_t size);

/* The function for unwind_stack.read_code and read_below. Ignores the age of the sample, because code seldom changes,
 * and the walker checks the words below sp. */
bool stack_reader_read_code(void *context, uint64_t address, void *out, size_t size);

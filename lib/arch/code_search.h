/*
 * The state that both searches for a return instruction use: the code, which they read a window at a time, and the
 * targets of the jumps that they have followed. Private to lib/arch.
 */
#pragma once

#include "arch/arch.h"

/* CODE_SLACK: zero bytes after the code, which decoders may read. */
enum { CODE_WINDOW = 1024, CODE_SLACK = 40, CODE_TARGETS = 128 };

struct code_search {
    arch_code_reader *read;
    void *context; /* of `read` */
    unsigned char window[CODE_WINDOW + CODE_SLACK];
    uint64_t window_at;
    size_t window_size;
    uint64_t targets[CODE_TARGETS];
    size_t target_count;
    bool is_incomplete; /* a limit ended some path early */
};

/* Returns the code at `pc`, and stores its size, which is at least `least` unless the code ends before. */
static inline const unsigned char *code_search_read(struct code_search *search, uint64_t pc, size_t least, size_t *size)
{
    if (pc - search->window_at >= search->window_size || search->window_size - (pc - search->window_at) < least) {
        search->window_at = pc;
        search->window_size = search->read(search->context, pc, search->window, CODE_WINDOW);
        memset(search->window + search->window_size, 0, CODE_SLACK);
    }
    *size = search->window_size - (size_t)(pc - search->window_at);
    return search->window + (pc - search->window_at);
}

static inline bool code_search_has_target(const struct code_search *search, uint64_t pc)
{
    for (size_t i = 0; i < search->target_count; i++)
        if (search->targets[i] == pc)
            return true;
    return false;
}

/* Adds the target of a jump. Returns false if a path has followed this jump, or if the search has too many targets. */
static inline bool code_search_add_target(struct code_search *search, uint64_t pc)
{
    if (code_search_has_target(search, pc))
        return false;
    if (search->target_count == CODE_TARGETS) {
        search->is_incomplete = true;
        return false;
    }
    search->targets[search->target_count++] = pc;
    return true;
}

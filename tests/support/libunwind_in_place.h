/*
 * libunwind on a thread that ptrace has stopped, in the memory of its process. It is loaded on first use, as in
 * libunwind_walk.h.
 */
#pragma once

#include "os/late_library.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <libunwind-ptrace.h>
#include <stdbool.h>

struct libunwind_in_place {
    __typeof__(unw_create_addr_space) *create_addr_space;
    __typeof__(unw_destroy_addr_space) *destroy_addr_space;
    __typeof__(unw_set_caching_policy) *set_caching_policy;
    __typeof__(unw_flush_cache) *flush_cache;
    __typeof__(unw_init_remote) *init_remote;
    __typeof__(unw_step) *step;
    __typeof__(unw_get_reg) *get_reg;
    __typeof__(unw_is_signal_frame) *is_signal_frame;
    __typeof__(_UPT_create) *create;
    __typeof__(_UPT_destroy) *destroy;
    unw_addr_space_t space;
};

/* False if the library is not installed. */
static inline bool libunwind_in_place_open(struct libunwind_in_place *library)
{
    static const struct late_symbol symbols[] = {{"_Ux86_64_create_addr_space", NULL},
                                                 {"_Ux86_64_destroy_addr_space", NULL},
                                                 {"_Ux86_64_set_caching_policy", NULL},
                                                 {"_Ux86_64_flush_cache", NULL},
                                                 {"_Ux86_64_init_remote", NULL},
                                                 {"_Ux86_64_step", NULL},
                                                 {"_Ux86_64_get_reg", NULL},
                                                 {"_Ux86_64_is_signal_frame", NULL}};
    void *handle;
    if (!late_library_load_for_others("libunwind-x86_64.so.8") ||
        !late_library_load("libunwind-x86_64.so.8", symbols, sizeof(symbols) / sizeof(*symbols), library) ||
        !(handle = dlopen("libunwind-ptrace.so.0", RTLD_NOW)))
        return false;
    *(void **)&library->create = dlsym(handle, "_UPT_create");
    *(void **)&library->destroy = dlsym(handle, "_UPT_destroy");
    library->space = library->create_addr_space(dlsym(handle, "_UPT_accessors"), 0);
    library->set_caching_policy(library->space, UNW_CACHE_GLOBAL);
    return true;
}

static inline void libunwind_in_place_close(struct libunwind_in_place *library)
{
    library->destroy_addr_space(library->space);
}

/* The pcs of the frames by libunwind, with the conventions of unwind_walk(). *error is the result of its last step:
 * 0 at the end of the stack, else the reason why it stopped. */
static inline size_t libunwind_in_place_walk(struct libunwind_in_place *library, pid_t tid, uint64_t *pcs, size_t max,
                                             int *error)
{
    unw_cursor_t cursor;
    size_t count = 0;
    void *context = library->create(tid);
    *error = context ? library->init_remote(&cursor, library->space, context) : -UNW_ENOMEM;
    bool exact = true;
    for (int more = *error == 0; more && count < max;) {
        unw_word_t ip = 0;
        library->get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip == 0)
            break;
        bool is_trampoline = library->is_signal_frame(&cursor) > 0;
        pcs[count++] = ip - (exact || is_trampoline ? 0 : 1);
        exact = is_trampoline;
        *error = library->step(&cursor);
        more = *error > 0;
    }
    if (context)
        library->destroy(context);
    return count;
}

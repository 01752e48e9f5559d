/*
 * The stacks of a tree: for each stack its caller, func and category. Every computation on a tree starts from a view.
 * The first view comes from the profile itself. Transforms (transform_stacks.h) derive views with the same number of
 * stacks from this view. A derived view has its own callers and funcs, and maps each stack of the profile to the stack
 * in which its samples now end. Later passes (call nodes, search, timings) treat all views alike.
 *
 * Func indexes at or above profile->funcs.length stand for whole libraries, one per resource: see get_resource_func().
 */
#pragma once

#include "profile/profile.h"

struct stack_view {
    uint32_t *prefix; /* the caller, whose index is smaller, or PROFILE_NONE for roots */
    uint32_t *frame;
    uint32_t *func;
    uint16_t *category; /* category of the frame, else of the caller, else the default category; always in range */
    size_t length;
    uint32_t func_count;
    uint32_t category_count; /* at least 1 */
    uint32_t default_category;
    uint32_t *leaf; /* for each stack of the profile, the stack of the view in which its samples end, PROFILE_NONE if
                     * they do not count, or NULL (the same stack) */
    uint8_t *used;  /* for each stack, 0 if no sample ends in the stack or below, or NULL (all are used) */
    bool owns_prefix, owns_func, owns_category; /* the view owns the array, which is otherwise borrowed */
};

/* Makes the view of a checked profile. The view borrows prefixes and frames, so the profile must outlive the view. */
int stack_view_init(struct stack_view *view, const struct profile *profile, struct error *err);

/* Makes a view to transform, a copy of `base`, which must outlive the view and come from stack_view_init(). */
int stack_view_derive(struct stack_view *view, const struct stack_view *base, struct error *err);

void stack_view_destroy(struct stack_view *view);

/* Returns the func that stands for a resource. */
static inline uint32_t get_resource_func(const struct profile *profile, uint32_t resource)
{
    return (uint32_t)profile->funcs.length + resource;
}

/* Returns the resource of a func, also of a func that stands for a resource, or PROFILE_NONE for none. */
static inline uint32_t get_func_resource(const struct profile *profile, uint32_t func)
{
    return func < profile->funcs.length ? profile->funcs.resource[func] : func - (uint32_t)profile->funcs.length;
}

/* Returns the stack of the view in which samples of a stack of the profile (or PROFILE_NONE) end, or PROFILE_NONE
 * for none. */
static inline uint32_t stack_view_get_leaf(const struct stack_view *view, uint32_t stack)
{
    return view->leaf && stack != PROFILE_NONE ? view->leaf[stack] : stack;
}

/* Returns the stack above the end of a leaf-first path of at least one func, or PROFILE_NONE if the stack does not
 * end with this path. */
static inline uint32_t stack_view_find_above(const struct stack_view *view, uint32_t stack, const uint32_t *path,
                                             size_t length)
{
    for (size_t i = 0;; i++) {
        if (stack == PROFILE_NONE || view->func[stack] != path[i])
            return PROFILE_NONE;
        if (i + 1 == length)
            return stack;
        stack = view->prefix[stack];
    }
}

/* The names of a func of a view: a func of the profile, or a func that stands for a library. */
struct func_names {
    uint32_t name;     /* string; unknown strings are PROFILE_NONE */
    uint32_t lib;      /* string: the library */
    uint32_t lib_path; /* string, which library_paths_find() sets */
    uint32_t file;     /* string: the source file */
    uint32_t line;     /* line of the declaration, 1-based; 0 unknown */
    uint32_t resource; /* resource that transforms can collapse into one func, or PROFILE_NONE for none */
};

/* For an index out of range, every name is unknown. */
struct func_names get_func_names(const struct profile *profile, uint32_t func);

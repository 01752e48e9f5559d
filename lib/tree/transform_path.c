/*
 * Rewrites the path of a row as a transform changes the row's stacks. A path from a root is the start of the row's
 * stacks; a path of an inverted tree is the end of the row's stacks, in reverse. If a transform cuts stacks at the
 * outermost frame of a func, a path from the root loses the part before the func's first frame, an inverted path the
 * part behind its last.
 */
#include "tree/frame_kinds.h"
#include "tree/search_filter.h"
#include "tree/stack_view.h"
#include "tree/transform.h"

struct path {
    uint32_t *funcs;
    size_t *length;
    bool inverted;
};

static void keep_range(const struct path *path, size_t first, size_t last)
{
    memmove(path->funcs, path->funcs + first, (last - first) * sizeof(*path->funcs));
    *path->length = last - first;
}

static void remove_range(const struct path *path, size_t first, size_t last)
{
    memmove(path->funcs + first, path->funcs + last, (*path->length - last) * sizeof(*path->funcs));
    *path->length -= last - first;
}

/* Finds the first and last frame of the func on the path. Returns false if the path lacks the func. */
static bool find_func(const struct path *path, uint32_t func, size_t *first, size_t *last)
{
    bool found = false;
    *first = *last = 0;
    for (size_t i = 0; i < *path->length; i++)
        if (path->funcs[i] == func) {
            *first = found ? *first : i;
            *last = i;
            found = true;
        }
    return found;
}

static bool begins_with(const struct path *path, const struct transform *transform)
{
    return *path->length >= transform->path_length &&
           memcmp(path->funcs, transform->path, transform->path_length * sizeof(*path->funcs)) == 0;
}

/* Returns whether a transform that removes single frames keeps the path's frame i. */
static bool is_frame_kept(const struct transform *transform, const struct path_context *context, uint32_t func,
                          size_t i)
{
    switch (transform->kind) {
    case TRANSFORM_FOCUS_CATEGORY:
        return context->categories[i] == transform->index;
    case TRANSFORM_MERGE_CATEGORY:
        return context->categories[i] != transform->index;
    case TRANSFORM_FOCUS_RESOURCE:
        return get_func_resource(context->profile, func) == transform->index;
    case TRANSFORM_MERGE_RESOURCE:
        return get_func_resource(context->profile, func) != transform->index;
    case TRANSFORM_FOCUS_FRAMES:
        return get_frame_kind(context->profile, func) & transform->index;
    case TRANSFORM_MERGE_MATCHING:
        return !search_func_matches(context->search, func);
    default: /* TRANSFORM_MERGE_FUNCTION */
        return func != transform->index;
    }
}

static void filter_frames(const struct path *path, const struct transform *transform,
                          const struct path_context *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < *path->length; i++)
        if (is_frame_kept(transform, context, path->funcs[i], i))
            path->funcs[kept++] = path->funcs[i];
    *path->length = kept;
}

static void merge_runs(const struct path *path, uint32_t func)
{
    size_t kept = 0;
    for (size_t i = 0; i < *path->length; i++)
        if (path->funcs[i] != func || kept == 0 || path->funcs[kept - 1] != func)
            path->funcs[kept++] = path->funcs[i];
    *path->length = kept;
}

static void collapse_resource(const struct path *path, const struct profile *profile, uint32_t resource)
{
    uint32_t func = get_resource_func(profile, resource);
    for (size_t i = 0; i < *path->length; i++)
        if (path->funcs[i] < profile->funcs.length && profile->funcs.resource[path->funcs[i]] == resource)
            path->funcs[i] = func;
    merge_runs(path, func);
}

static void focus_function(const struct path *path, uint32_t func)
{
    size_t first, last;
    if (!find_func(path, func, &first, &last))
        *path->length = path->inverted ? *path->length : 0;
    else if (path->inverted)
        keep_range(path, 0, last + 1);
    else
        keep_range(path, first, *path->length);
}

static void focus_subtree(const struct path *path, const struct transform *transform)
{
    if (path->inverted != transform->inverted || transform->path_length == 0)
        return;
    if (begins_with(path, transform))
        remove_range(path, 0, transform->path_length - 1);
    else
        *path->length = 0;
}

static void merge_call_node(const struct path *path, const struct transform *transform)
{
    size_t length = transform->path_length;
    if (!path->inverted && length && begins_with(path, transform))
        remove_range(path, length - 1, length);
}

static void focus_self(const struct path *path, uint32_t func)
{
    path->funcs[0] = func;
    *path->length = 1;
}

static void collapse_recursion(const struct path *path, uint32_t func)
{
    size_t first, last;
    if (find_func(path, func, &first, &last))
        remove_range(path, first, last);
}

static void collapse_function(const struct path *path, uint32_t func)
{
    size_t first, last;
    if (!find_func(path, func, &first, &last))
        return;
    if (path->inverted)
        keep_range(path, last, *path->length);
    else
        keep_range(path, 0, first + 1);
}

void transform_rewrite_path(const struct transform *transform, const struct path_context *context, uint32_t *funcs,
                            size_t *length)
{
    struct path path = {funcs, length, context->inverted};
    size_t first, last;
    if (*length == 0)
        return;
    switch (transform->kind) {
    case TRANSFORM_MERGE_FUNCTION:
    case TRANSFORM_FOCUS_CATEGORY:
    case TRANSFORM_MERGE_CATEGORY:
    case TRANSFORM_FOCUS_RESOURCE:
    case TRANSFORM_MERGE_RESOURCE:
    case TRANSFORM_FOCUS_FRAMES:
    case TRANSFORM_MERGE_MATCHING:
        filter_frames(&path, transform, context);
        break;
    case TRANSFORM_MERGE_CALL_NODE:
        merge_call_node(&path, transform);
        break;
    case TRANSFORM_FOCUS_FUNCTION:
        focus_function(&path, transform->index);
        break;
    case TRANSFORM_FOCUS_SUBTREE:
        focus_subtree(&path, transform);
        break;
    case TRANSFORM_FOCUS_SELF:
        focus_self(&path, transform->index);
        break;
    case TRANSFORM_DROP_FUNCTION:
        *length = find_func(&path, transform->index, &first, &last) ? 0 : *length;
        break;
    case TRANSFORM_COLLAPSE_RESOURCE:
        collapse_resource(&path, context->profile, transform->index);
        break;
    case TRANSFORM_COLLAPSE_DIRECT_RECURSION:
        merge_runs(&path, transform->index);
        break;
    case TRANSFORM_COLLAPSE_RECURSION:
        collapse_recursion(&path, transform->index);
        break;
    case TRANSFORM_COLLAPSE_FUNCTION:
        collapse_function(&path, transform->index);
        break;
    case TRANSFORM_DROP_CATEGORY:
    case TRANSFORM_DROP_RESOURCE:
    case TRANSFORM_FILTER_MARKERS:
    case TRANSFORM_KINDS:
        break;
    }
}

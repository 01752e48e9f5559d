/*
 * A transform is one or two passes over the stacks, callers first, that give each stack its new caller, and store in
 * `to` the stack in which its samples now end. Stacks keep their numbers: a merged or dropped stack stays in the table
 * without references, and the pass writes only the column of callers. So a transform of millions of stacks costs as
 * much as copying a few columns, and a frame that survives keeps its address, line and category.
 *
 * Many transforms need the `top` of a stack: the outermost frame of a func, or the end of a path from the root.
 */
#include "tree/transform_stacks.h"

#include "tree/frame_kinds.h"
#include "tree/search_filter.h"

/* ---- where samples end ---- */

static uint32_t *allocate_column(const struct stack_view *view)
{
    return malloc((view->length + 1) * sizeof(uint32_t));
}

/* Samples that ended in stack s now end in to[s]. Takes ownership of `to`. */
static void move_samples(struct stack_view *view, uint32_t *to)
{
    if (!view->leaf) {
        view->leaf = to;
        return;
    }
    for (size_t stack = 0; stack < view->length; stack++)
        if (view->leaf[stack] != PROFILE_NONE)
            view->leaf[stack] = to[view->leaf[stack]];
    free(to);
}

int stack_view_find_used(struct stack_view *view, struct error *err)
{
    if (!view->leaf)
        return 0;
    if (!view->used)
        view->used = malloc(view->length + 1);
    if (!view->used)
        return error_no_memory(err);
    memset(view->used, 0, view->length);
    for (size_t stack = 0; stack < view->length; stack++)
        if (view->leaf[stack] != PROFILE_NONE)
            view->used[view->leaf[stack]] = 1;
    for (size_t stack = view->length; stack-- > 0;)
        if (view->used[stack] && view->prefix[stack] != PROFILE_NONE)
            view->used[view->prefix[stack]] = 1;
    return 0;
}

/* ---- selecting frames ---- */

static void mark_func(const struct stack_view *view, uint32_t func, uint8_t *removed)
{
    for (size_t stack = 0; stack < view->length; stack++)
        removed[stack] = view->func[stack] == func;
}

/* Marks the category if `own`, else all other categories. */
static void mark_category(const struct stack_view *view, uint32_t category, bool own, uint8_t *removed)
{
    for (size_t stack = 0; stack < view->length; stack++)
        removed[stack] = (view->category[stack] == category) == own;
}

static void mark_resource(const struct stack_view *view, const struct profile *profile, uint32_t resource, bool own,
                          uint8_t *removed)
{
    for (size_t stack = 0; stack < view->length; stack++)
        removed[stack] = (get_func_resource(profile, view->func[stack]) == resource) == own;
}

/* `kinds` is the set of frame kinds to keep. */
static void mark_frames(const struct stack_view *view, const uint8_t *kind_of_func, uint32_t kinds, uint8_t *removed)
{
    for (size_t stack = 0; stack < view->length; stack++)
        removed[stack] = (kind_of_func[view->func[stack]] & kinds) == 0;
}

static void mark_matching(const struct stack_view *view, const struct search *search, uint8_t *removed)
{
    for (size_t stack = 0; stack < view->length; stack++)
        removed[stack] = search_func_matches(search, view->func[stack]);
}

/* ---- merging: some frames disappear ---- */

/* The callees of a removed frame become callees of its nearest remaining caller. */
static void merge_removed_frames(struct stack_view *view, const uint8_t *removed, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++) {
        uint32_t caller = view->prefix[stack];
        if (caller != PROFILE_NONE)
            caller = to[caller];
        view->prefix[stack] = caller;
        to[stack] = removed[stack] ? caller : stack;
    }
}

/* ---- tops ---- */

static void find_outermost(const struct stack_view *view, uint32_t func, uint32_t *top)
{
    for (uint32_t stack = 0; stack < view->length; stack++) {
        uint32_t caller = view->prefix[stack];
        uint32_t above = caller == PROFILE_NONE ? PROFILE_NONE : top[caller];
        top[stack] = above == PROFILE_NONE && view->func[stack] == func ? stack : above;
    }
}

/* Finds the stack at the end of a path from a root, for all stacks below. For a stack on the path, `matched` is the
 * number of matched funcs. */
static void find_path(const struct stack_view *view, const uint32_t *path, size_t length, uint32_t *matched,
                      uint32_t *top)
{
    for (uint32_t stack = 0; stack < view->length; stack++) {
        uint32_t caller = view->prefix[stack];
        uint32_t before = caller == PROFILE_NONE ? 0 : matched[caller];
        bool matches = before < length && view->func[stack] == path[before];
        matched[stack] = matches ? before + 1 : PROFILE_NONE;
        if (matched[stack] == length)
            top[stack] = stack;
        else
            top[stack] = caller == PROFILE_NONE ? PROFILE_NONE : top[caller];
    }
}

static void focus_on_subtrees(struct stack_view *view, const uint32_t *top, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++) {
        if (top[stack] == stack)
            view->prefix[stack] = PROFILE_NONE;
        to[stack] = top[stack] == PROFILE_NONE ? PROFILE_NONE : stack;
    }
}

static void drop_subtrees(const struct stack_view *view, const uint32_t *top, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++)
        to[stack] = top[stack] == PROFILE_NONE ? stack : PROFILE_NONE;
}

static void collapse_subtrees(const struct stack_view *view, const uint32_t *top, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++)
        to[stack] = top[stack] == PROFILE_NONE ? stack : top[stack];
}

/* ---- samples by their own frame ---- */

static void focus_on_self(struct stack_view *view, uint32_t func, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++) {
        view->prefix[stack] = PROFILE_NONE;
        to[stack] = view->func[stack] == func ? stack : PROFILE_NONE;
    }
}

static void drop_marked(const struct stack_view *view, const uint8_t *dropped, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++)
        to[stack] = dropped[stack] ? PROFILE_NONE : stack;
}

static void cut_off_callees(const struct stack_view *view, const uint32_t *path, size_t length, uint32_t *to)
{
    for (uint32_t stack = 0; stack < view->length; stack++)
        to[stack] = stack_view_find_above(view, stack, path, length);
}

/* ---- recursion: no sample moves ---- */

/* The innermost frame of a run stays, with its address; the run's caller becomes its caller. */
static void collapse_runs(struct stack_view *view, uint32_t func)
{
    for (uint32_t stack = 0; stack < view->length; stack++) {
        uint32_t caller = view->prefix[stack];
        if (view->func[stack] == func && caller != PROFILE_NONE && view->func[caller] == func)
            view->prefix[stack] = view->prefix[caller];
    }
}

static void collapse_recursion(struct stack_view *view, uint32_t func, uint32_t *top)
{
    find_outermost(view, func, top);
    for (uint32_t stack = 0; stack < view->length; stack++)
        if (view->func[stack] == func && top[stack] != stack)
            view->prefix[stack] = view->prefix[top[stack]];
}

static void replace_resource_funcs(struct stack_view *view, const struct profile *profile, uint32_t resource)
{
    uint32_t func = get_resource_func(profile, resource);
    for (uint32_t stack = 0; stack < view->length; stack++) {
        uint32_t old = view->func[stack];
        if (old < profile->funcs.length && profile->funcs.resource[old] == resource)
            view->func[stack] = func;
    }
}

static bool copy_shared_funcs(struct stack_view *view)
{
    if (view->owns_func)
        return true;
    uint32_t *func = allocate_column(view);
    if (!func)
        return false;
    if (view->length)
        memcpy(func, view->func, view->length * sizeof(*func));
    view->func = func;
    view->owns_func = true;
    return true;
}

/* ---- all together ---- */

/* The memory of a transform; unused members are NULL. */
struct scratch {
    uint32_t *to, *top;
    uint8_t *removed;
    uint8_t *kind_of_func; /* number of funcs, including funcs that stand for libraries; only for focus frames */
    struct search search;  /* only for merge matching */
};

static uint8_t *list_frame_kinds(const struct profile *profile)
{
    size_t count = profile->funcs.length + profile->resources.length;
    uint8_t *kinds = malloc(count + 1);
    for (uint32_t func = 0; kinds && func < count; func++)
        kinds[func] = (uint8_t)get_frame_kind(profile, func);
    return kinds;
}

static bool scratch_init(struct scratch *scratch, const struct stack_view *view, const struct profile *profile,
                         const struct transform *transform)
{
    bool needs_kinds = transform->kind == TRANSFORM_FOCUS_FRAMES;
    struct error err; /* only memory can run out */
    scratch->search = (struct search){0};
    bool enough = transform->kind != TRANSFORM_MERGE_MATCHING ||
                  search_init(&scratch->search, profile, transform->text, transform->text_length, &err) == 0;
    scratch->kind_of_func = needs_kinds ? list_frame_kinds(profile) : NULL;
    scratch->to = allocate_column(view);
    scratch->top = allocate_column(view);
    scratch->removed = malloc(view->length + 1);
    return enough && scratch->to && scratch->top && scratch->removed && (scratch->kind_of_func || !needs_kinds);
}

static void scratch_destroy(struct scratch *scratch)
{
    free(scratch->to);
    free(scratch->top);
    free(scratch->removed);
    free(scratch->kind_of_func);
    search_destroy(&scratch->search);
}

static void mark_path_ends(const struct stack_view *view, const struct transform *transform, struct scratch *scratch)
{
    find_path(view, transform->path, transform->path_length, scratch->to, scratch->top);
    for (uint32_t stack = 0; stack < view->length; stack++)
        scratch->removed[stack] = scratch->top[stack] == stack;
}

static void focus_subtree(struct stack_view *view, const struct transform *transform, struct scratch *scratch)
{
    if (transform->inverted) {
        cut_off_callees(view, transform->path, transform->path_length, scratch->to);
        return;
    }
    find_path(view, transform->path, transform->path_length, scratch->to, scratch->top);
    focus_on_subtrees(view, scratch->top, scratch->to);
}

/* Applies a transform that moves samples: fills scratch->to. */
static void transform_samples(struct stack_view *view, const struct profile *profile, const struct transform *transform,
                              struct scratch *scratch)
{
    switch (transform->kind) {
    case TRANSFORM_MERGE_FUNCTION:
        mark_func(view, transform->index, scratch->removed);
        merge_removed_frames(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_MERGE_CALL_NODE:
        mark_path_ends(view, transform, scratch);
        merge_removed_frames(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_FOCUS_CATEGORY:
    case TRANSFORM_MERGE_CATEGORY:
        mark_category(view, transform->index, transform->kind == TRANSFORM_MERGE_CATEGORY, scratch->removed);
        merge_removed_frames(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_FOCUS_RESOURCE:
    case TRANSFORM_MERGE_RESOURCE:
        mark_resource(view, profile, transform->index, transform->kind == TRANSFORM_MERGE_RESOURCE, scratch->removed);
        merge_removed_frames(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_FOCUS_FRAMES:
        mark_frames(view, scratch->kind_of_func, transform->index, scratch->removed);
        merge_removed_frames(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_MERGE_MATCHING:
        mark_matching(view, &scratch->search, scratch->removed);
        merge_removed_frames(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_FOCUS_FUNCTION:
        find_outermost(view, transform->index, scratch->top);
        focus_on_subtrees(view, scratch->top, scratch->to);
        break;
    case TRANSFORM_FOCUS_SUBTREE:
        focus_subtree(view, transform, scratch);
        break;
    case TRANSFORM_FOCUS_SELF:
        focus_on_self(view, transform->index, scratch->to);
        break;
    case TRANSFORM_DROP_FUNCTION:
        find_outermost(view, transform->index, scratch->top);
        drop_subtrees(view, scratch->top, scratch->to);
        break;
    case TRANSFORM_DROP_CATEGORY:
        mark_category(view, transform->index, true, scratch->removed);
        drop_marked(view, scratch->removed, scratch->to);
        break;
    case TRANSFORM_DROP_RESOURCE:
        mark_resource(view, profile, transform->index, true, scratch->removed);
        drop_marked(view, scratch->removed, scratch->to);
        break;
    default: /* TRANSFORM_COLLAPSE_FUNCTION */
        find_outermost(view, transform->index, scratch->top);
        collapse_subtrees(view, scratch->top, scratch->to);
    }
}

static int transform_recursion(struct stack_view *view, const struct profile *profile,
                               const struct transform *transform, struct error *err)
{
    uint32_t index = transform->index;
    if (transform->kind == TRANSFORM_COLLAPSE_DIRECT_RECURSION) {
        collapse_runs(view, index);
        return 0;
    }
    if (transform->kind == TRANSFORM_COLLAPSE_RESOURCE) {
        if (index >= profile->resources.length)
            return 0;
        if (!copy_shared_funcs(view))
            return error_no_memory(err);
        replace_resource_funcs(view, profile, index);
        collapse_runs(view, get_resource_func(profile, index));
        return 0;
    }
    uint32_t *top = allocate_column(view);
    if (!top)
        return error_no_memory(err);
    collapse_recursion(view, index, top);
    free(top);
    return 0;
}

static bool moves_samples(enum transform_kind kind)
{
    return kind != TRANSFORM_COLLAPSE_RESOURCE && kind != TRANSFORM_COLLAPSE_DIRECT_RECURSION &&
           kind != TRANSFORM_COLLAPSE_RECURSION;
}

int stack_view_transform(struct stack_view *view, const struct profile *profile, const struct transform *transform,
                         struct error *err)
{
    if (transform_has_path(transform->kind) && transform->path_length == 0)
        return 0;
    if (!moves_samples(transform->kind))
        return transform_recursion(view, profile, transform, err);
    struct scratch scratch;
    bool enough = scratch_init(&scratch, view, profile, transform);
    if (enough) {
        transform_samples(view, profile, transform, &scratch);
        move_samples(view, scratch.to);
        scratch.to = NULL;
    }
    scratch_destroy(&scratch);
    return enough ? 0 : error_no_memory(err);
}

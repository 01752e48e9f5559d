/*
 * The slow, obvious reference implementation of the engine: stacks as lists of frames, one per sample, that transforms
 * cut and filter; a call tree that is grown sample by sample. Nothing is shared with lib/tree but the profile.
 */
#pragma once

#include "random_profile.h"
#include "tree/engine.h"
#include "tree/frame_kinds.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 128, MAX_TRANSFORMS = 4 };

/* ---- stacks ---- */

struct slow_frame {
    uint32_t func, frame, category;
};

struct slow_stack {
    struct slow_frame frames[MAX_DEPTH]; /* root first */
    size_t depth;
    uint32_t category; /* of the innermost frame as it was recorded */
};

static inline uint32_t slow_category(const struct profile *profile, uint32_t stack)
{
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        if (profile->frames.category[profile->stacks.frame[stack]] != PROFILE_NONE)
            return profile->frames.category[profile->stacks.frame[stack]];
    return profile_find_default_category(profile);
}

static inline void slow_stack_read(struct slow_stack *out, const struct profile *profile, uint32_t stack)
{
    out->depth = 0;
    out->category = slow_category(profile, stack);
    for (uint32_t at = stack; at != PROFILE_NONE; at = profile->stacks.prefix[at])
        out->depth++;
    for (size_t i = out->depth; i-- > 0; stack = profile->stacks.prefix[stack]) {
        uint32_t frame = profile->stacks.frame[stack];
        out->frames[i] = (struct slow_frame){profile->frames.func[frame], frame, slow_category(profile, stack)};
    }
}

/* ---- transforms: each leaves a stack without frames if the sample is dropped ---- */

static inline void slow_keep(struct slow_stack *stack, size_t first, size_t last)
{
    memmove(stack->frames, stack->frames + first, (last - first) * sizeof(*stack->frames));
    stack->depth = last - first;
}

static inline void slow_remove(struct slow_stack *stack, size_t at)
{
    memmove(stack->frames + at, stack->frames + at + 1, (stack->depth - at - 1) * sizeof(*stack->frames));
    stack->depth--;
}

static inline size_t slow_first(const struct slow_stack *stack, uint32_t func)
{
    size_t at = 0;
    while (at < stack->depth && stack->frames[at].func != func)
        at++;
    return at;
}

static inline void slow_collapse_runs(struct slow_stack *stack, uint32_t func)
{
    for (size_t i = stack->depth; i-- > 1;)
        if (stack->frames[i].func == func && stack->frames[i - 1].func == func)
            slow_remove(stack, i - 1);
}

static inline bool slow_begins_with(const struct slow_stack *stack, const struct transform *transform)
{
    for (size_t i = 0; i < transform->path_length; i++)
        if (i >= stack->depth || stack->frames[i].func != transform->path[i])
            return false;
    return true;
}

static inline bool slow_ends_with(const struct slow_stack *stack, const struct transform *transform)
{
    for (size_t i = 0; i < transform->path_length; i++)
        if (i >= stack->depth || stack->frames[stack->depth - 1 - i].func != transform->path[i])
            return false;
    return true;
}

static inline bool slow_is_in(const struct slow_frame *frame, const struct profile *profile, uint32_t resource)
{
    if (frame->func >= profile->funcs.length)
        return frame->func == profile->funcs.length + resource;
    return profile->funcs.resource[frame->func] == resource;
}

/* ---- searches ---- */

static inline bool slow_contains(const char *text, const char *term, size_t length)
{
    for (; strlen(text) >= length; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)term[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

/* One term: -, then lib: or file:, then a name in quotes or a regular expression between slashes. */
struct slow_term {
    char text[64];
    bool excluded, only_lib, only_file, exact, is_expression;
};

static inline void slow_term_read(struct slow_term *term, const char *text, size_t length)
{
    *term = (struct slow_term){.excluded = length > 1 && *text == '-'};
    text += term->excluded;
    length -= term->excluded;
    term->only_lib = strncmp(text, "lib:", 4) == 0 && text[4] != ':';
    term->only_file = strncmp(text, "file:", 5) == 0 && text[5] != ':';
    size_t prefix = term->only_lib ? 4 : term->only_file ? 5 : 0;
    text += prefix;
    length -= prefix;
    term->exact = length > 2 && text[0] == '"' && text[length - 1] == '"';
    term->is_expression = length > 2 && text[0] == '/' && text[length - 1] == '/';
    bool enclosed = term->exact || term->is_expression;
    snprintf(term->text, sizeof(term->text), "%.*s", (int)(length - 2 * enclosed), text + enclosed);
}

/* Compiled once, as long as no other is asked for. */
static inline const regex_t *slow_expression(const char *text)
{
    static regex_t last;
    static char last_text[64];
    if (strcmp(text, last_text) != 0) {
        if (last_text[0])
            regfree(&last);
        if (regcomp(&last, text, REG_EXTENDED | REG_ICASE | REG_NOSUB))
            abort();
        strcpy(last_text, text);
    }
    return &last;
}

static inline bool slow_text_matches(const char *text, const struct slow_term *term, bool is_file)
{
    if (term->exact)
        return strcasecmp(text, term->text) == 0 ||
               (is_file && strrchr(text, '/') && strcasecmp(strrchr(text, '/') + 1, term->text) == 0);
    if (!term->is_expression)
        return slow_contains(text, term->text, strlen(term->text));
    return regexec(slow_expression(term->text), text, 0, NULL, 0) == 0;
}

static inline bool slow_string_matches(const struct profile *profile, uint32_t string, const struct slow_term *term,
                                       bool is_file)
{
    return slow_text_matches(strings_text(&profile->strings, string), term, is_file);
}

/* A term without a bracket does not match the parameters of a function. */
static inline bool slow_name_matches(const struct profile *profile, uint32_t name, const struct slow_term *term)
{
    char bare[64];
    const char *text = strings_text(&profile->strings, name);
    if (term->exact || (!term->is_expression && strchr(term->text, '(')))
        return slow_text_matches(text, term, false);
    snprintf(bare, sizeof(bare), "%.*s", text[0] == '(' ? 63 : (int)strcspn(text, "("), text);
    return slow_text_matches(bare, term, false);
}

static inline bool slow_term_matches_func(const struct profile *profile, uint32_t func, const struct slow_term *term)
{
    const struct func_table *funcs = &profile->funcs;
    bool is_library = func >= funcs->length;
    uint32_t resource = is_library ? func - (uint32_t)funcs->length : funcs->resource[func];
    uint32_t source = is_library ? PROFILE_NONE : funcs->source[func];
    return (!is_library && !term->only_lib && !term->only_file &&
            slow_name_matches(profile, funcs->name[func], term)) ||
           (!term->only_file && resource != PROFILE_NONE &&
            slow_string_matches(profile, profile->resources.data[resource].name, term, false)) ||
           (!term->only_lib && source != PROFILE_NONE &&
            slow_string_matches(profile, profile->sources.data[source].filename, term, true));
}

/* Whether the function matches one of the terms and none that is excluded. */
static inline bool slow_func_matches(const struct profile *profile, uint32_t func, const char *search, size_t size)
{
    bool has_terms = false, wants_some = false, found = false;
    for (const char *at = search; at < search + size;) {
        const char *end = memchr(at, ',', (size_t)(search + size - at));
        size_t length = (size_t)((end ? end : search + size) - at);
        struct slow_term term;
        slow_term_read(&term, at, length);
        bool matches = length && slow_term_matches_func(profile, func, &term);
        if (term.excluded && matches)
            return false;
        has_terms |= length > 0;
        wants_some |= length > 0 && !term.excluded;
        found |= matches;
        at += length + 1;
    }
    return has_terms && (found || !wants_some);
}

/* ---- transforms ---- */

static inline void slow_transform(struct slow_stack *stack, const struct profile *profile,
                                  const struct transform *transform)
{
    uint32_t index = transform->index;
    size_t first = slow_first(stack, index), length = transform->path_length;
    struct slow_frame *frames = stack->frames;
    if (stack->depth == 0)
        return;
    switch (transform->kind) {
    case TRANSFORM_MERGE_FUNCTION:
        for (size_t i = stack->depth; i-- > 0;)
            if (frames[i].func == index)
                slow_remove(stack, i);
        break;
    case TRANSFORM_MERGE_CALL_NODE:
        if (slow_begins_with(stack, transform))
            slow_remove(stack, length - 1);
        break;
    case TRANSFORM_FOCUS_FUNCTION:
        slow_keep(stack, first, stack->depth);
        break;
    case TRANSFORM_FOCUS_SUBTREE:
        if (transform->inverted)
            slow_keep(stack, 0, slow_ends_with(stack, transform) ? stack->depth + 1 - length : 0);
        else
            slow_keep(stack, slow_begins_with(stack, transform) ? length - 1 : stack->depth, stack->depth);
        break;
    case TRANSFORM_FOCUS_SELF:
        slow_keep(stack, stack->depth - (frames[stack->depth - 1].func == index), stack->depth);
        break;
    case TRANSFORM_FOCUS_CATEGORY:
        for (size_t i = stack->depth; i-- > 0;)
            if (frames[i].category != index)
                slow_remove(stack, i);
        break;
    case TRANSFORM_MERGE_CATEGORY:
        for (size_t i = stack->depth; i-- > 0;)
            if (frames[i].category == index)
                slow_remove(stack, i);
        break;
    case TRANSFORM_FOCUS_RESOURCE:
        for (size_t i = stack->depth; i-- > 0;)
            if (!slow_is_in(&frames[i], profile, index))
                slow_remove(stack, i);
        break;
    case TRANSFORM_MERGE_RESOURCE:
        for (size_t i = stack->depth; i-- > 0;)
            if (slow_is_in(&frames[i], profile, index))
                slow_remove(stack, i);
        break;
    case TRANSFORM_FOCUS_FRAMES:
        for (size_t i = stack->depth; i-- > 0;)
            if (!(get_frame_kind(profile, frames[i].func) & index))
                slow_remove(stack, i);
        break;
    case TRANSFORM_DROP_RESOURCE:
        stack->depth = slow_is_in(&frames[stack->depth - 1], profile, index) ? 0 : stack->depth;
        break;
    case TRANSFORM_DROP_FUNCTION:
        stack->depth = first < stack->depth ? 0 : stack->depth;
        break;
    case TRANSFORM_DROP_CATEGORY:
        stack->depth = frames[stack->depth - 1].category == index ? 0 : stack->depth;
        break;
    case TRANSFORM_COLLAPSE_RESOURCE:
        for (size_t i = 0; i < stack->depth; i++)
            if (frames[i].func < profile->funcs.length && profile->funcs.resource[frames[i].func] == index)
                frames[i].func = (uint32_t)profile->funcs.length + index;
        slow_collapse_runs(stack, (uint32_t)profile->funcs.length + index);
        break;
    case TRANSFORM_COLLAPSE_DIRECT_RECURSION:
        slow_collapse_runs(stack, index);
        break;
    case TRANSFORM_COLLAPSE_RECURSION:
        for (size_t last = stack->depth; last-- > first;)
            if (frames[last].func == index)
                while (last > first)
                    slow_remove(stack, --last);
        break;
    case TRANSFORM_COLLAPSE_FUNCTION:
        slow_keep(stack, 0, first < stack->depth ? first + 1 : stack->depth);
        break;
    case TRANSFORM_MERGE_MATCHING:
        for (size_t i = stack->depth; i-- > 0;)
            if (slow_func_matches(profile, frames[i].func, transform->text, transform->text_length))
                slow_remove(stack, i);
        break;
    case TRANSFORM_FILTER_MARKERS: /* test_tree_sample_filter.c */
    case TRANSFORM_KINDS:
        break;
    }
}

/* ---- the tree ---- */

struct slow_node {
    uint32_t func;
    double self, total;
    bool alive;
    struct slow_node *child, *sibling;
};

static inline struct slow_node *slow_child(struct slow_node *node, uint32_t func)
{
    for (struct slow_node *c = node->child; c; c = c->sibling)
        if (c->func == func)
            return c;
    struct slow_node *child = calloc(1, sizeof(*child));
    child->func = func;
    child->sibling = node->child;
    node->child = child;
    return child;
}

static inline void slow_free(struct slow_node *node)
{
    while (node->child) {
        struct slow_node *child = node->child;
        node->child = child->sibling;
        slow_free(child);
        free(child);
    }
}

static inline void slow_sum(struct slow_node *node)
{
    node->total = node->self;
    node->alive = node->self != 0;
    for (struct slow_node *c = node->child; c; c = c->sibling) {
        slow_sum(c);
        node->total += c->total;
        node->alive |= c->alive;
    }
}

/* ---- the query ---- */

struct slow_query {
    const struct profile *profile;
    const struct profile *recorded; /* the same before samples were dropped; NULL: none were */
    uint32_t threads[8];
    size_t thread_count;
    struct time_range range;
    struct transform transforms[MAX_TRANSFORMS];
    uint32_t paths[MAX_TRANSFORMS][MAX_DEPTH]; /* of the transforms */
    size_t transform_count;
    enum sample_weight weight;
    char search[64];
};

static inline bool slow_matches(const struct slow_query *query, const struct slow_stack *stack)
{
    for (const char *at = query->search; *at;) {
        size_t length = strcspn(at, ",");
        struct slow_term term;
        slow_term_read(&term, at, length);
        bool found = false;
        for (size_t i = 0; i < stack->depth && !found; i++)
            found = slow_term_matches_func(query->profile, stack->frames[i].func, &term);
        if (length && found == term.excluded)
            return false;
        at += length + (at[length] == ',');
    }
    return true;
}

static inline void slow_stack_make(struct slow_stack *out, const struct slow_query *query, uint32_t stack)
{
    slow_stack_read(out, query->profile, stack);
    for (size_t i = 0; i < query->transform_count; i++)
        slow_transform(out, query->profile, &query->transforms[i]);
}

/* ---- recorded waits ---- */

static inline bool slow_stores_waits(const struct sample_table *samples)
{
    return samples->cpu_delta && samples->weight && samples->weight_type == WEIGHT_TRACING_MS;
}

/* Of the thread as it was recorded. */
static inline const struct sample_table *slow_recorded(const struct slow_query *query, uint32_t thread)
{
    return &(query->recorded ? query->recorded : query->profile)->threads.data[thread].samples;
}

static inline bool slow_is_wait_row(const struct profile *profile, const struct sample_table *samples, size_t i)
{
    if (!slow_stores_waits(samples) || samples->stack[i] == PROFILE_NONE)
        return false;
    uint32_t category = profile->frames.category[profile->stacks.frame[samples->stack[i]]];
    return category != PROFILE_NONE &&
           strcmp(strings_text(&profile->strings, profile->categories.data[category].name), "Idle") == 0;
}

/* A row without a stack has CPU time before a wait. */
static inline bool slow_is_sample_row(const struct profile *profile, const struct sample_table *samples, size_t i)
{
    return samples->stack[i] != PROFILE_NONE && !slow_is_wait_row(profile, samples, i);
}

static inline bool slow_is_wait_end(const struct profile *profile, const struct sample_table *samples, size_t i)
{
    return i > 0 && slow_is_wait_row(profile, samples, i) && samples->cpu_delta[i] == 0 && samples->weight[i] > 0 &&
           samples->stack[i] == samples->stack[i - 1];
}

/* With which stack a thread with recorded waits ran before row `i`, if it did. */
static inline uint32_t slow_running_stack(const struct profile *profile, const struct sample_table *samples, size_t i)
{
    size_t at = i + 1 < samples->length && samples->stack[i] == PROFILE_NONE ? i + 1 : i;
    if (i > 0 && slow_is_sample_row(profile, samples, i - 1))
        return samples->stack[i - 1];
    if (at < samples->length && slow_is_sample_row(profile, samples, at))
        return samples->stack[at];
    uint32_t wait = samples->stack[at < samples->length ? at : at - 1];
    return wait == PROFILE_NONE ? PROFILE_NONE : profile->stacks.prefix[wait];
}

/* The row for which the time before row `i` counts: the next one from it on that is on a CPU, or ends a wait; else the
 * nearest one before; else SIZE_MAX. */
static inline size_t slow_row_for(const struct profile *profile, const struct sample_table *samples, size_t i,
                                  bool is_cpu)
{
    for (size_t at = i; at < samples->length; at++)
        if (is_cpu ? slow_is_sample_row(profile, samples, at) : slow_is_wait_end(profile, samples, at))
            return at;
    for (size_t at = i; at-- > 0;)
        if (is_cpu ? slow_is_sample_row(profile, samples, at) : slow_is_wait_end(profile, samples, at))
            return at;
    return SIZE_MAX;
}

/* By time on or off the CPU, samples of the other kind are none. */
static inline bool slow_counts(const struct slow_query *query, uint32_t thread, size_t i)
{
    const struct sample_table *samples = slow_recorded(query, thread);
    bool stores_waits = slow_stores_waits(samples);
    bool on_cpu = stores_waits ? slow_is_sample_row(query->profile, samples, i)
                               : !samples->cpu_delta || samples->cpu_delta[i] != 0;
    bool off_cpu = stores_waits ? slow_is_wait_end(query->profile, samples, i) : !on_cpu;
    switch (query->weight) {
    case WEIGH_ON_CPU:
        return on_cpu;
    case WEIGH_OFF_CPU:
        return !on_cpu;
    case WEIGH_CPU_TIME:
        return on_cpu || !stores_waits;
    case WEIGH_OFF_CPU_TIME:
        return off_cpu || !stores_waits;
    case WEIGH_TIME:
        return on_cpu || off_cpu || !stores_waits;
    default:
        return !stores_waits || slow_is_sample_row(query->profile, samples, i);
    }
}

static inline double slow_weight(const struct slow_query *query, uint32_t thread, size_t i)
{
    const struct sample_table *samples = &query->profile->threads.data[thread].samples;
    if (query->weight == WEIGH_SAMPLES)
        return slow_counts(query, thread, i);
    bool is_weighed = slow_counts(query, thread, i) || query->weight == WEIGH_RECORDED;
    return is_weighed ? samples->weight ? samples->weight[i] : 1 : 0;
}

/* ---- time ---- */

/* The engine gives every profile with CPU times a last func of this name, and a last stack with it alone. */
static inline void slow_add_not_running(struct profile *profile)
{
    if (!profile->meta.has_cpu_delta)
        return;
    uint32_t func = profile_add_func(profile, strings_add_z(&profile->strings, "(not running)"), PROFILE_NONE);
    uint32_t frame = profile_add_frame(profile, func, PROFILE_NONE, -1);
    for (uint32_t i = 0; i < profile->categories.length; i++)
        if (strcmp(strings_text(&profile->strings, profile->categories.data[i].name), "Idle") == 0) {
            profile->frames.category[frame] = i;
            profile->frames.subcategory[frame] = 0;
        }
    profile_add_stack(profile, PROFILE_NONE, frame);
}

struct slow_gap {
    double start, end, cpu; /* ms: the thread ran from the start on for so long, then it waited */
};

/* The time before sample i, or after the last sample. */
static inline struct slow_gap slow_gap_of(const struct profile *profile, uint32_t t, size_t i)
{
    const struct thread *thread = &profile->threads.data[t];
    const struct sample_table *samples = &thread->samples;
    size_t last = samples->length;
    if (last == 0) {
        bool is_known = profile->meta.has_cpu_delta && thread->start < thread->end;
        return (struct slow_gap){is_known ? thread->start : 0, is_known ? thread->end : 0, 0};
    }
    double before = i ? samples->time[i - 1] : samples->time[0] - profile->meta.interval;
    if (i == 0 && samples->cpu_delta && !isnan(samples->cpu_delta[0]) && !isnan(thread->start))
        before = thread->start < samples->time[0] ? thread->start : samples->time[0];
    if (i == last)
        return (struct slow_gap){before, samples->cpu_delta && thread->end > before ? thread->end : before, 0};
    double cpu = samples->cpu_delta ? samples->cpu_delta[i] / 1000 : NAN, length = samples->time[i] - before;
    if (isnan(cpu))
        cpu = i == 0 && length > profile->meta.interval ? profile->meta.interval : length;
    return (struct slow_gap){before, samples->time[i], cpu};
}

/* Walks through the gap in small steps, which all times and ranges of random profiles are multiples of. */
static inline void slow_gap_sums(const struct slow_gap *gap, struct time_range range, double *cpu, double *wait)
{
    const double step = 0.0625;
    *cpu = *wait = 0;
    for (double at = gap->start; at < gap->end; at += step)
        if (at >= range.from && at < range.to)
            *(at < gap->start + gap->cpu ? cpu : wait) += step;
    if (gap->start >= range.from && gap->end <= range.to && gap->start < range.to)
        *cpu = gap->cpu;
}

/* The length of the wait that ends at row `i`, and the time that its weight has besides, just before its end. */
static inline double slow_wait_sum(const struct slow_query *query, uint32_t thread, size_t i)
{
    const struct sample_table *samples = slow_recorded(query, thread);
    const double step = 0.0625;
    double sum = 0;
    if (i >= samples->length || !slow_is_wait_end(query->recorded ? query->recorded : query->profile, samples, i))
        return 0;
    double length = samples->time[i] - samples->time[i - 1];
    for (double at = samples->time[i] - length; at < samples->time[i]; at += step)
        sum += at >= query->range.from && at < query->range.to ? step : 0;
    for (double at = samples->time[i] - (samples->weight[i] - length); at < samples->time[i]; at += step)
        sum += at >= query->range.from && at < query->range.to ? step : 0;
    return sum;
}

/* Whether the query asks for the sample; then its stack is that after all transforms. */
static inline bool slow_is_asked(const struct slow_query *query, const struct sample_table *samples, size_t i,
                                 struct slow_stack *stack)
{
    if (samples->stack[i] == PROFILE_NONE || samples->time[i] < query->range.from ||
        samples->time[i] >= query->range.to)
        return false;
    slow_stack_make(stack, query, samples->stack[i]);
    return stack->depth && slow_matches(query, stack);
}

static inline bool slow_is_time(enum sample_weight weight)
{
    return weight == WEIGH_TIME || weight == WEIGH_CPU_TIME || weight == WEIGH_OFF_CPU_TIME;
}

typedef void slow_visit(void *context, const struct slow_stack *stack, double weight);

static inline void slow_visit_stack(const struct slow_query *query, uint32_t stack, double weight, slow_visit *visit,
                                    void *context)
{
    struct slow_stack made;
    slow_stack_make(&made, query, stack);
    if (made.depth && slow_matches(query, &made))
        visit(context, &made, weight);
}

static inline void slow_each_gap(const struct slow_query *query, uint32_t thread, slow_visit *visit, void *context)
{
    const struct profile *profile = query->profile;
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    for (size_t i = 0; i <= samples->length; i++) {
        bool is_last = i == samples->length;
        uint32_t stack = is_last ? PROFILE_NONE : samples->stack[i];
        struct slow_gap gap = slow_gap_of(profile, thread, i);
        double cpu, wait;
        slow_gap_sums(&gap, query->range, &cpu, &wait);
        if (query->weight == WEIGH_CPU_TIME)
            wait = 0;
        if (query->weight == WEIGH_OFF_CPU_TIME)
            cpu = 0;
        if (slow_stores_waits(samples)) {
            size_t runner = slow_row_for(profile, slow_recorded(query, thread), i, true);
            runner = runner == SIZE_MAX ? i : runner;
            if (runner < samples->length && samples->stack[runner] != PROFILE_NONE)
                slow_visit_stack(query, samples->stack[runner], cpu, visit, context);
            if (slow_row_for(profile, slow_recorded(query, thread), 0, false) != SIZE_MAX) {
                wait = query->weight == WEIGH_CPU_TIME ? 0 : slow_wait_sum(query, thread, i);
                if (!is_last && samples->stack[i] != PROFILE_NONE)
                    slow_visit_stack(query, samples->stack[i], wait, visit, context);
                continue;
            }
            cpu = 0;
        }
        if (stack == PROFILE_NONE && (!is_last || (i && samples->stack[i - 1] == PROFILE_NONE)))
            continue;
        bool is_own = !is_last && samples->cpu_delta && samples->cpu_delta[i] == 0 && !slow_stores_waits(samples);
        if (!is_last)
            slow_visit_stack(query, stack, cpu + (is_own ? wait : 0), visit, context);
        if (!is_own && profile->meta.has_cpu_delta)
            slow_visit_stack(query, (uint32_t)profile->stacks.length - 1, wait, visit, context);
    }
}

static inline void slow_each_sample(const struct slow_query *query, slow_visit *visit, void *context)
{
    struct slow_stack stack;
    for (size_t t = 0; t < query->thread_count; t++) {
        const struct sample_table *samples = &query->profile->threads.data[query->threads[t]].samples;
        if (slow_is_time(query->weight))
            slow_each_gap(query, query->threads[t], visit, context);
        else
            for (size_t i = 0; i < samples->length; i++)
                if (slow_is_asked(query, samples, i, &stack))
                    visit(context, &stack, slow_weight(query, query->threads[t], i));
    }
}

static inline uint64_t slow_sample_count(const struct slow_query *query)
{
    struct slow_stack stack;
    uint64_t count = 0;
    for (size_t t = 0; t < query->thread_count; t++) {
        const struct sample_table *samples = &query->profile->threads.data[query->threads[t]].samples;
        for (size_t i = 0; i < samples->length; i++)
            count += slow_counts(query, query->threads[t], i) && slow_is_asked(query, samples, i, &stack);
    }
    return count;
}

/* ---- random queries ---- */

/* A path that some stack has after the transforms so far, from its root or, inverted, from its leaf. */
static inline size_t slow_random_path(const struct slow_query *query, struct random *random, bool inverted,
                                      uint32_t *path)
{
    struct slow_stack stack = {.depth = 0};
    if (query->profile->stacks.length)
        slow_stack_make(&stack, query, random_below(random, (uint32_t)query->profile->stacks.length));
    size_t length = stack.depth ? 1 + random_below(random, (uint32_t)stack.depth) : 0;
    for (size_t i = 0; i < length; i++)
        path[i] = stack.frames[inverted ? stack.depth - 1 - i : i].func;
    return length;
}

static const char *const slow_searches[] = {"",
                                            "",
                                            "",
                                            "funca",
                                            "FuncA",
                                            "liba",
                                            "file1",
                                            "x::R",
                                            "b,liba",
                                            "a,b,c",
                                            "nowhere",
                                            ",",
                                            "run(int",
                                            "e0.c,Func",
                                            "A:",
                                            "func",
                                            "-funca",
                                            "-lib:b",
                                            "lib:a",
                                            "lib:func",
                                            "file:e1",
                                            "-file:file",
                                            "\"liba.so\"",
                                            "\"liba\"",
                                            "libA.so",
                                            "t)",
                                            "Funcb::run(int)",
                                            "\"FuncA::run(int)\"",
                                            "file:\"File2.c\"",
                                            "\"File2.c\"",
                                            "-",
                                            "/^func[ab]/",
                                            "/(A|x)::run/,-lib:c",
                                            "lib:/[ab].so$/",
                                            "-/c$/",
                                            "lib::x",
                                            "file:/^.src.file0/,-/^funcx/"};

static inline const char *slow_random_search(struct random *random)
{
    return slow_searches[random_below(random, sizeof(slow_searches) / sizeof(*slow_searches))];
}

static inline void slow_add_transform(struct slow_query *query, struct random *random)
{
    const struct profile *profile = query->profile;
    uint32_t *path = query->paths[query->transform_count];
    struct transform transform = {.kind = (enum transform_kind)random_below(random, TRANSFORM_FILTER_MARKERS)};
    uint32_t funcs = (uint32_t)(profile->funcs.length + profile->resources.length);
    if (transform_has_path(transform.kind)) {
        transform.inverted = transform.kind == TRANSFORM_FOCUS_SUBTREE && random_below(random, 2);
        transform.path = path;
        transform.path_length = slow_random_path(query, random, transform.inverted, path);
        if (transform.path_length == 0)
            return;
    } else if (transform.kind == TRANSFORM_MERGE_MATCHING) {
        transform.text = slow_random_search(random);
        transform.text_length = strlen(transform.text);
    } else if (transform.kind == TRANSFORM_FOCUS_FRAMES) {
        transform.index = random_below(random, 2 * FRAME_JS);
    } else if (transform.kind == TRANSFORM_COLLAPSE_RESOURCE || transform.kind == TRANSFORM_FOCUS_RESOURCE ||
               transform.kind == TRANSFORM_DROP_RESOURCE || transform.kind == TRANSFORM_MERGE_RESOURCE) {
        transform.index = random_below(random, (uint32_t)profile->resources.length + 1);
    } else if (transform.kind == TRANSFORM_FOCUS_CATEGORY || transform.kind == TRANSFORM_DROP_CATEGORY ||
               transform.kind == TRANSFORM_MERGE_CATEGORY) {
        transform.index = random_below(random, 4);
    } else {
        transform.index = random_below(random, random_below(random, 4) ? (uint32_t)profile->funcs.length : funcs + 1);
    }
    query->transforms[query->transform_count++] = transform;
}

static inline void slow_random_query(struct slow_query *query, const struct profile *profile, struct random *random)
{
    query->profile = profile;
    query->recorded = NULL;
    query->thread_count = query->transform_count = 0;
    query->range = whole_time;
    query->weight = random_below(random, 2) ? WEIGH_RECORDED : (enum sample_weight)random_below(random, WEIGH_KINDS);
    for (uint32_t i = 0; i < profile->threads.length; i++)
        if (random_below(random, 3))
            query->threads[query->thread_count++] = i;
    if (random_below(random, 2)) {
        query->range.from = random_below(random, 40) * 0.5;
        query->range.to = query->range.from + random_below(random, 60) * 0.5;
    }
    for (uint32_t wanted = random_below(random, MAX_TRANSFORMS + 2); wanted > 1; wanted--)
        slow_add_transform(query, random);
    strcpy(query->search, slow_random_search(random));
}

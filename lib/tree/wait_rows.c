#include "tree/wait_rows.h"

uint32_t find_idle_category(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->categories.length; i++)
        if (strcmp(strings_text(&profile->strings, profile->categories.data[i].name), "Idle") == 0)
            return i;
    return PROFILE_NONE;
}

uint32_t find_wait_reason(const struct profile *profile, const char *name)
{
    uint32_t idle = find_idle_category(profile);
    if (idle == PROFILE_NONE)
        return PROFILE_NONE;
    const struct category *category = &profile->categories.data[idle];
    for (uint32_t i = 0; i < category->subcategories.length; i++)
        if (strcmp(profile_text(profile, category->subcategories.data[i]), name) == 0)
            return i;
    return PROFILE_NONE;
}

uint32_t find_runnable_reason(const struct profile *profile)
{
    uint32_t reason = find_wait_reason(profile, "Runnable");
    return reason == PROFILE_NONE ? find_wait_reason(profile, "Preempted") : reason;
}

struct wait_rows get_wait_rows(const struct profile *profile, uint32_t thread)
{
    static const char not_sampled[] = "(not sampled)";
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    bool has_rows = samples->cpu_delta && samples->weight && samples->weight_type == WEIGHT_TRACING_MS;
    return (struct wait_rows){.samples = samples,
                              .prefix_of_stack = profile->stacks.prefix,
                              .frame_of_stack = profile->stacks.frame,
                              .category_of_frame = profile->frames.category,
                              .reason_of_frame = profile->frames.subcategory,
                              .func_of_frame = profile->frames.func,
                              .name_of_func = profile->funcs.name,
                              .not_sampled = strings_find(&profile->strings, not_sampled, strlen(not_sampled)),
                              .category = has_rows ? find_idle_category(profile) : PROFILE_NONE};
}

bool profile_has_waits(const struct profile *profile)
{
    bool names_reasons = find_runnable_reason(profile) != PROFILE_NONE;
    for (uint32_t thread = 0; thread < profile->threads.length; thread++) {
        const struct wait_rows rows = get_wait_rows(profile, thread);
        if (names_reasons && has_wait_rows(&rows))
            return true;
        for (size_t i = 0; has_wait_rows(&rows) && i < rows.samples->length; i++)
            if (is_wait_row(&rows, i))
                return true;
    }
    return false;
}

uint32_t find_running_stack(const struct wait_rows *rows, const struct sample_table *samples, size_t i)
{
    size_t length = samples->length;
    if (i > 0 && is_cpu_row(rows, i - 1))
        return samples->stack[i - 1];
    i += i + 1 < length && rows->samples->stack[i] == PROFILE_NONE;
    if (is_cpu_row(rows, i))
        return samples->stack[i];
    uint32_t wait = i < length ? samples->stack[i] : length ? samples->stack[length - 1] : PROFILE_NONE;
    return wait == PROFILE_NONE ? PROFILE_NONE : rows->prefix_of_stack[wait];
}

static bool is_of_kind(const struct wait_rows *rows, enum wait_row_kind kind, size_t i)
{
    return kind == ROW_WAIT_END ? is_wait_end(rows, i) : is_cpu_row(rows, i);
}

size_t row_cursor_find(struct row_cursor *cursor, const struct wait_rows *rows, enum wait_row_kind kind, size_t i)
{
    size_t length = rows->samples->length, at = i;
    if (cursor->is_last || (cursor->is_found && cursor->row >= i))
        return cursor->row;
    while (at < length && !is_of_kind(rows, kind, at))
        at++;
    if (at >= length) {
        cursor->is_last = true;
        for (at = i < length ? i : length; at > 0 && !is_of_kind(rows, kind, at - 1);)
            at--;
        at = at > 0 ? at - 1 : SIZE_MAX;
    }
    cursor->is_found = true;
    cursor->row = at;
    return at;
}

/*
 * Recorded waits. A recorder of context switches stores a wait as two rows of the thread's samples with the same stack,
 * row A at the start and row B at the end. The innermost frame of the stack names the reason of the wait, in category
 * "Idle". Neither row has CPU time. A row without a stack before A has the CPU time since the row before. This CPU time
 * belongs to the stack of the next sample on a CPU. In older profiles, A has the CPU time. All other rows of the thread
 * have CPU time. The weight of B is the length of the wait, plus the length of the unseen waits for which this wait
 * stands. An unseen wait has rows only if its waker is known, and then the weight of B is 0.
 *
 * CPU time that no sample covers is a row whose only frame is "(not sampled)". Such a row is no sample.
 *
 * Such threads have weights of type "tracing-ms" and CPU times. Other threads may have "Idle" leaf frames, too, but
 * their samples do not come in pairs.
 */
#pragma once

#include "profile/profile.h"

/* The category "Idle", or PROFILE_NONE. */
uint32_t find_idle_category(const struct profile *profile);

/* The subcategory of "Idle" with this name; PROFILE_NONE: none. */
uint32_t find_wait_reason(const struct profile *profile, const char *name);

/* The subcategory of "Idle" for waits for a CPU: "Runnable", or "Preempted" in older profiles. PROFILE_NONE: none. */
uint32_t find_runnable_reason(const struct profile *profile);

struct wait_rows {
    const struct sample_table *samples; /* recorded samples, also of waits that a transform drops */
    const uint32_t *prefix_of_stack, *frame_of_stack, *category_of_frame, *reason_of_frame, *func_of_frame;
    const uint32_t *name_of_func;
    uint32_t category;    /* "Idle"; PROFILE_NONE: the thread has no recorded waits */
    uint32_t not_sampled; /* the name "(not sampled)"; STRING_NONE: all CPU time of the profile has samples */
};

struct wait_rows get_wait_rows(const struct profile *profile, uint32_t thread);

/* Whether a thread stores its waits in rows, whether or not it has waited. */
static inline bool has_wait_rows(const struct wait_rows *rows)
{
    return rows->category != PROFILE_NONE;
}

/* Returns whether the recorder recorded waits. A thread has the rows of a wait, or "Idle" has the reasons of waits,
 * which the recorder writes even if no thread waits. Linear in the samples up to the first wait. */
bool profile_has_waits(const struct profile *profile);

/* Whether row `i` is the start or the end of a wait; `i` may be out of range. */
static inline bool is_wait_row(const struct wait_rows *rows, size_t i)
{
    if (!has_wait_rows(rows) || i >= rows->samples->length || rows->samples->stack[i] == PROFILE_NONE)
        return false;
    return rows->category_of_frame[rows->frame_of_stack[rows->samples->stack[i]]] == rows->category;
}

/* Whether row `i` has a stack with CPU time, also "(not sampled)"; `i` may be out of range. */
static inline bool is_cpu_row(const struct wait_rows *rows, size_t i)
{
    return i < rows->samples->length && rows->samples->stack[i] != PROFILE_NONE && !is_wait_row(rows, i);
}

/* Whether row `i` is a sample: a stack that was taken on a CPU. `i` may be out of range. In threads that do not store
 * waits in rows, samples of sleeping threads are samples, too. */
static inline bool is_sample_row(const struct wait_rows *rows, size_t i)
{
    if (!is_cpu_row(rows, i))
        return false;
    uint32_t stack = rows->samples->stack[i];
    return rows->not_sampled == STRING_NONE || rows->prefix_of_stack[stack] != PROFILE_NONE ||
           rows->name_of_func[rows->func_of_frame[rows->frame_of_stack[stack]]] != rows->not_sampled;
}

/* Whether row `i` is the end of a wait, which may be unseen. The wait is then the time since the row before. */
static inline bool is_wait_or_unseen_end(const struct wait_rows *rows, size_t i)
{
    return i > 0 && is_wait_row(rows, i) && rows->samples->cpu_delta[i] == 0 &&
           rows->samples->stack[i - 1] == rows->samples->stack[i];
}

/* Whether row `i` is the end of a wait with a weight. */
static inline bool is_wait_end(const struct wait_rows *rows, size_t i)
{
    return is_wait_or_unseen_end(rows, i) && rows->samples->weight[i] > 0;
}

/* Returns the reason of the wait of row `i`: a subcategory of "Idle". */
static inline uint32_t get_wait_row_reason(const struct wait_rows *rows, size_t i)
{
    return rows->reason_of_frame[rows->frame_of_stack[rows->samples->stack[i]]];
}

/* Returns the stack with which a thread ran before row `i` (up to the number of rows): the stack of the on-CPU sample
 * at either end of this time. Between two waits, returns the caller of the later wait, because the thread reached that
 * wait at the end. PROFILE_NONE: unknown. `samples`: the rows, with their own stacks where a filter dropped some. */
uint32_t find_running_stack(const struct wait_rows *rows, const struct sample_table *samples, size_t i);

/* Finds the row for a time: the next row of a kind, else the last row of this kind before. The times of requests must
 * ascend. All requests together take one pass over the rows. Starts zeroed. */
struct row_cursor {
    size_t row;
    bool is_found, is_last; /* no other row of the kind follows */
};

enum wait_row_kind { ROW_ON_CPU, ROW_WAIT_END };

/* Returns the first row of this kind at or after `i`, else the last row before, or SIZE_MAX if no such row exists. */
size_t row_cursor_find(struct row_cursor *cursor, const struct wait_rows *rows, enum wait_row_kind kind, size_t i);

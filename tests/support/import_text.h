/*
 * Imports files of other tools, written into the test, and queries the profiles.
 */
#pragma once

#include "import/import.h"

#include <math.h>
#include <stdio.h>

static inline int import_bytes(const char *bytes, size_t size, struct profile *out, struct error *err)
{
    struct import *import = import_new();
    assert_non_null(import);
    int code = import_feed(import, bytes, size, err);
    if (!code)
        code = import_finish(import, out, err);
    import_free(import);
    return code;
}

static inline void import_text(const char *text, struct profile *out)
{
    struct error err = {""};
    *out = (struct profile){0};
    if (import_bytes(text, strlen(text), out, &err) != 0)
        fail_msg("%s", err.text);
}

static inline void assert_refused(const char *text, const char *part)
{
    struct profile profile = {0};
    struct error err = {""};
    assert_int_not_equal(import_bytes(text, strlen(text), &profile, &err), 0);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static inline void assert_warns(const struct profile *profile, const char *part)
{
    const char *warning = profile_text(profile, profile->meta.warning);
    if (!strstr(warning, part))
        fail_msg("\"%s\" does not say \"%s\"", warning, part);
}

/* The stack as "outer;inner". */
static inline const char *stack_text(const struct profile *profile, uint32_t stack)
{
    static char text[512];
    char *start = text + sizeof(text) - 1;
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack]) {
        uint32_t func = profile->frames.func[profile->stacks.frame[stack]];
        const char *name = profile_text(profile, profile->funcs.name[func]);
        assert_true(strlen(name) + 1 < (size_t)(start - text));
        if (*start)
            *--start = ';';
        start -= strlen(name);
        memcpy(start, name, strlen(name));
    }
    return start;
}

static inline void assert_sample(const struct profile *profile, const struct sample_table *samples, size_t row,
                                 const char *stack, double time, double weight)
{
    assert_true(row < samples->length);
    assert_string_equal(stack_text(profile, samples->stack[row]), stack);
    if (fabs(samples->time[row] - time) > 1e-6 || fabs(samples->weight[row] - weight) > 1e-6)
        fail_msg("row %zu is at %g and weighs %g", row, samples->time[row], samples->weight[row]);
}

/* The sum of the weights of the samples. */
static inline double sum_of_weights(const struct sample_table *samples)
{
    double sum = 0;
    for (size_t i = 0; i < samples->length; i++)
        sum += samples->weight ? samples->weight[i] : 1;
    return sum;
}

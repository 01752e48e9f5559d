/*
 * Small random profiles for the tests that compare a fast algorithm with a slow, obvious one. Everything follows from
 * the seed. Names come from a small alphabet so that recursion, merged frames, equal names and search hits are all
 * frequent.
 */
#pragma once

#include "profile/profile.h"
#include "support/sample_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct random {
    uint64_t state;
};

static inline uint32_t random_below(struct random *random, uint32_t limit)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random->state >> 33) % limit);
}

/* A stack whose innermost frame is of category 3, "Idle"; PROFILE_NONE if the profile has none. */
static inline uint32_t random_idle_stack(struct random *random, const struct profile *profile)
{
    uint32_t length = (uint32_t)profile->stacks.length, first = length ? random_below(random, length) : 0;
    for (uint32_t i = 0; i < length; i++)
        if (profile->frames.category[profile->stacks.frame[(first + i) % length]] == 3)
            return (first + i) % length;
    return PROFILE_NONE;
}

/* The two rows of a wait, with CPU time before it in a row of its own, or, as older profiles have it, in the first of
 * the two; some of them are damaged. */
static inline void random_wait(struct random *random, struct profile *profile, struct sample_table *samples,
                               double *time)
{
    uint32_t stack = random_idle_stack(random, profile);
    bool is_whole = random_below(random, 6) != 0, has_time_apart = random_below(random, 2);
    for (int row = has_time_apart ? 0 : 1; row < 2; row++) {
        if (!samples_add(samples, row ? stack : PROFILE_NONE, *time))
            abort();
        samples->weight[samples->length - 1] = 0;
        samples->cpu_delta[samples->length - 1] = row && has_time_apart ? 0 : 125 * random_below(random, 3);
    }
    *time += random_below(random, 6) * 0.5;
    if (!samples_add(samples, is_whole ? stack : random_idle_stack(random, profile), *time))
        abort();
    samples->cpu_delta[samples->length - 1] = is_whole ? 0 : 125;
    samples->weight[samples->length - 1] = random_below(random, 8) * 0.5;
    if (samples->waker && random_below(random, 3))
        samples->waker[samples->length - 1] = random_below(random, (uint32_t)profile->strings.entries.length);
    if (samples->waker_stack && random_below(random, 2))
        samples->waker_stack[samples->length - 1] = samples->stack[random_below(random, (uint32_t)samples->length)];
}

static inline void random_samples(struct random *random, struct profile *profile, struct sample_table *samples)
{
    bool weighted = random_below(random, 3) == 0, has_cpu = random_below(random, 2) == 0;
    if ((weighted && !samples_give_weight(samples)) || (has_cpu && !samples_give_cpu_delta(samples)))
        abort();
    bool has_waits = weighted && has_cpu && random_below(random, 4);
    if (has_waits && random_below(random, 2) && !samples_give_waker(samples))
        abort();
    samples->weight_type = has_waits ? WEIGHT_TRACING_MS : weighted ? WEIGHT_BYTES : WEIGHT_SAMPLES;
    double time = random_below(random, 10);
    uint32_t count = random_below(random, 60);
    for (uint32_t i = 0; i < count; i++, time += random_below(random, 4) * 0.5) {
        if (has_waits && random_below(random, 3) == 0) {
            random_wait(random, profile, samples, &time);
            continue;
        }
        uint32_t stack = random_below(random, 12) && profile->stacks.length
                             ? random_below(random, (uint32_t)profile->stacks.length)
                             : PROFILE_NONE;
        if (!samples_add(samples, stack, time))
            abort();
        if (weighted)
            samples->weight[samples->length - 1] = (double)random_below(random, 20) - 5;
        if (has_cpu)
            samples->cpu_delta[samples->length - 1] =
                random_below(random, 6) ? 125 * random_below(random, 6) : NAN; /* exact in ms */
    }
    for (size_t i = 1; has_waits && i < samples->length; i++) { /* no wait stands for more than the time before it */
        double most = 2 * samples->time[i] - samples->time[i - 1] - samples->time[0];
        samples->weight[i] = samples->weight[i] < most ? samples->weight[i] : most;
    }
}

/* When the thread began and ended, as far as it is known; a file may say anything. */
static inline void random_life(struct random *random, struct thread *thread)
{
    const struct sample_table *samples = &thread->samples;
    double first = samples->length ? samples->time[0] : 0,
           last = samples->length ? samples->time[samples->length - 1] : 0;
    thread->start = random_below(random, 3) ? first + 2 - random_below(random, 12) * 0.5 : NAN;
    thread->end = random_below(random, 3) ? last - 2 + random_below(random, 12) * 0.5 : NAN;
}

/* `profile` is initialized here; the caller destroys it. */
static inline void random_profile(struct profile *profile, uint64_t seed)
{
    static const char *const colors[] = {"blue", "grey", "red", "green"};
    static const char *const categories[] = {"User", "Other", "Kernel", "Idle"};
    struct random random = {seed * 2 + 1};
    char name[32];
    profile_init(profile);
    profile->meta.interval = 1;
    for (int i = 0; i < 4; i++)
        profile_add_category(profile, categories[i], colors[i]);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "lib%c.so", 'A' + i);
        struct resource resource = {strings_add_z(&profile->strings, name), PROFILE_NONE, 1};
        snprintf(name, sizeof(name), "/src/File%d.c", i);
        struct source source = {.filename = strings_add_z(&profile->strings, name),
                                .id = PROFILE_NONE,
                                .start_line = 1,
                                .start_column = 1,
                                .content = PROFILE_NONE,
                                .source_map_url = PROFILE_NONE};
        if (!array_push(&profile->resources, resource) || !array_push(&profile->sources, source))
            abort();
        struct native_symbol symbol = {0, 16 * i, resource.name, 16};
        if (!array_push(&profile->native_symbols, symbol))
            abort();
    }
    struct library library = {0, 0, 0, 0, 0, 0, PROFILE_NONE};
    if (!array_push(&profile->libs, library))
        abort();
    uint32_t funcs = 1 + random_below(&random, 8);
    for (uint32_t i = 0; i < funcs; i++) {
        char letter = "abcABCxy"[random_below(&random, 8)];
        snprintf(name, sizeof(name), "Func%c::run(int)", letter);
        if (letter == 'y')
            strcpy(name, "(truncated)");
        uint32_t func = profile_add_func(profile, strings_add_z(&profile->strings, name),
                                         random_below(&random, 2) ? random_below(&random, 3) : PROFILE_NONE);
        profile->funcs.source[func] = random_below(&random, 2) ? random_below(&random, 3) : PROFILE_NONE;
    }
    uint32_t frames = 1 + random_below(&random, 12);
    for (uint32_t i = 0; i < frames; i++) {
        uint32_t frame = profile_add_frame(profile, random_below(&random, funcs), 0, 16 * (int64_t)(i / 3));
        if (random_below(&random, 2)) {
            profile->frames.category[frame] = random_below(&random, 4);
            profile->frames.subcategory[frame] = 0;
        }
        profile->frames.line[frame] = random_below(&random, 4);
        profile->frames.inline_depth[frame] = (uint8_t)random_below(&random, 2);
        profile->frames.native_symbol[frame] = random_below(&random, 2) ? random_below(&random, 3) : PROFILE_NONE;
    }
    /* Now and then a table in which some node has more children than a list is walked for. */
    uint32_t stacks = random_below(&random, 80);
    bool chains = random_below(&random, 2);
    for (uint32_t i = 0; i < stacks; i++) {
        uint32_t prefix = i == 0 || random_below(&random, 8) == 0 ? PROFILE_NONE
                          : chains && random_below(&random, 4)    ? i - 1
                                                                  : random_below(&random, i);
        profile_add_stack(profile, prefix, random_below(&random, frames));
    }
    uint32_t threads = 1 + random_below(&random, 3);
    for (uint32_t i = 0; i < threads; i++) {
        struct thread *thread = profile_add_thread(profile);
        snprintf(name, sizeof(name), "thread %u", i);
        thread->name = thread->process_name = thread->process_type = strings_add_z(&profile->strings, name);
        thread->pid = thread->tid = strings_add_z(&profile->strings, "1");
        random_samples(&random, profile, &thread->samples);
        random_life(&random, thread);
        profile->meta.has_cpu_delta |= thread->samples.cpu_delta != NULL;
    }
}

/*
 * Writes a profile with recorded waits for bench_lanes.mjs: each wait stands for the unseen waits since the one before.
 *
 *     generate_waits WAITS THREADS FILE
 */
#include "../support/wait_profile.h"

#include "file/profile_file.h"
#include "profile/write.h"

#include <math.h>

static uint32_t below(uint64_t *random, uint32_t limit)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 32) * limit >> 32);
}

static bool add_row(struct sample_table *samples, uint32_t stack, double time, double cpu, double weight)
{
    if (!samples_add(samples, stack, time))
        return false;
    samples->cpu_delta[samples->length - 1] = 1000 * cpu;
    samples->weight[samples->length - 1] = weight;
    return true;
}

/* Of the time between two waits of rows, the thread runs for a part, and has waits without rows in the rest. */
static bool add_waits(struct thread *thread, const uint32_t *stacks, uint32_t count, uint64_t *random)
{
    double time = 0;
    for (uint32_t i = 0; i < count; i++) {
        double gap = 0.5 + below(random, 8000) / 1000., cpu = gap * below(random, 100) / 100;
        double length = 0.05 + below(random, 3000) / 1000.;
        uint32_t stack = stacks[below(random, 5)];
        if (!add_row(&thread->samples, PROFILE_NONE, time += gap, cpu, 0) ||
            !add_row(&thread->samples, stack, time, 0, 0) ||
            !add_row(&thread->samples, stack, time += length, 0, length + gap - cpu))
            return false;
    }
    thread->end = time;
    return true;
}

static int write_profile(const struct profile *profile, const char *path, struct error *err)
{
    struct profile_file *file;
    int code = profile_file_create(&file, path, err);
    if (code)
        return code;
    struct byte_sink sink = profile_file_make_sink(file);
    code = profile_write(profile, NULL, 0.001, &sink, err);
    if (code) {
        profile_file_abandon(file);
        return code;
    }
    return profile_file_commit(file, err);
}

int main(int argc, char **argv)
{
    uint32_t waits = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    uint32_t threads = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (!waits || !threads) {
        fprintf(stderr, "usage: %s WAITS THREADS FILE\n", argv[0]);
        return 2;
    }
    struct profile profile;
    struct error err = {0};
    uint64_t random = UINT64_C(88172645463325252);
    const struct wait_stacks made = wait_profile_make(&profile);
    const uint32_t stacks[] = {made.lookup_lock_a, made.store_lock_b, made.sleep, made.lookup_runnable, made.unknown};
    int code = 0;
    for (uint32_t i = 0; !code && i < threads; i++)
        if (!add_waits(wait_profile_thread(&profile, "worker", 0), stacks, waits / threads, &random))
            code = error_no_memory(&err);
    for (size_t i = 0; i < profile.threads.length; i++)
        profile.meta.profiling_end = fmax(profile.meta.profiling_end, profile.threads.data[i].end);
    if (!code)
        code = profile_check(&profile, &err);
    if (!code)
        code = write_profile(&profile, argv[3], &err);
    if (code)
        fprintf(stderr, "%s: %s\n", argv[3], err.text);
    profile_destroy(&profile);
    return code ? 1 : 0;
}

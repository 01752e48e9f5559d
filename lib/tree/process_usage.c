#include "tree/process_usage.h"

enum { BINS = 2000 }; /* 20 ms of a build of 40 s, less than most processes last */

struct usage {
    const struct profile *profile;
    struct time_range range;
    uint32_t runnable; /* find_runnable_reason() */
    double bin;        /* ms */
    double *demand;    /* for each bin, mean number of running and runnable threads */
};

static void add_demand(struct usage *usage, double from, double to)
{
    from = fmax((from - usage->range.from) / usage->bin, 0);
    to = fmin((to - usage->range.from) / usage->bin, BINS);
    for (size_t i = (size_t)fmin(from, BINS); (double)i < to; i++)
        usage->demand[i] += fmin(to, (double)(i + 1)) - fmax(from, (double)i);
}

/* Adds the times in which a thread runs or is runnable. Returns the CPU time of the thread in the range, ms. */
static double add_thread(struct usage *usage, uint32_t thread)
{
    const struct thread_gaps gaps = find_sample_gaps(usage->profile, thread);
    size_t first, last;
    double cpu = 0;
    find_samples_in_range(gaps.samples, usage->range, &first, &last);
    for (size_t i = first; gaps.samples->cpu_delta && i <= last; i++) {
        double start = get_gap_start(&gaps, i), ran = measure_gap_in(&gaps, i, usage->range).cpu;
        cpu += ran;
        add_demand(usage, fmax(start, usage->range.from), fmax(start, usage->range.from) + ran);
        if (is_wait_or_unseen_end(&gaps.waits, i) && get_wait_row_reason(&gaps.waits, i) == usage->runnable)
            add_demand(usage, start, get_gap_end(&gaps, i));
    }
    return cpu;
}

/* Finds the longest part in which few bins have more than one thread. */
static void find_serial_part(struct process_tree *tree, const struct usage *usage)
{
    static const double least = 0.1, most = 1.2; /* threads; the kernel counts times by two clocks */
    static const double cost = 3; /* a short parallel time does not split a serial part of thrice its length */
    double score = 0, best = 0;
    size_t first = 0;
    for (size_t i = 0; i < BINS; i++) {
        double threads = usage->demand[i];
        double *sum = threads < least ? &tree->idle : threads <= most ? &tree->alone : &tree->parallel;
        *sum += usage->bin;
        if (!(score > 0)) {
            score = 0;
            first = i;
        }
        score += threads <= most ? 1 : -cost;
        if (score <= best)
            continue;
        best = score;
        tree->serial.from = usage->range.from + (double)first * usage->bin;
        tree->serial.to = usage->range.from + (double)(i + 1) * usage->bin;
    }
}

static void measure_serial_part(struct process_tree *tree, const struct profile *profile)
{
    static const double least = 0.1; /* of the range */
    double most = 0;
    if (tree->serial.to - tree->serial.from < least * (tree->range.to - tree->range.from) ||
        !(tree->alone + tree->parallel > 0))
        tree->serial.to = tree->serial.from;
    const struct time_range range = {tree->serial.from, tree->serial.to};
    tree->serial.process = PROFILE_NONE;
    for (uint32_t i = 0; i < tree->processes.length; i++) {
        const struct process *process = &tree->processes.data[i];
        if (process->end <= range.from || process->start >= range.to)
            continue;
        double cpu = 0;
        for (uint32_t at = 0; at < process->thread_count; at++)
            cpu += sum_thread_cpu_time(profile, tree->threads[process->first_thread + at], range);
        tree->serial.cpu += cpu;
        if (cpu <= most)
            continue;
        most = cpu;
        tree->serial.process = i;
    }
    if (most < tree->serial.cpu / 2)
        tree->serial.process = PROFILE_NONE;
}

int measure_process_usage(struct process_tree *tree, const struct profile *profile, struct error *err)
{
    struct usage usage = {.profile = profile,
                          .range = tree->range,
                          .runnable = find_runnable_reason(profile),
                          .bin = (tree->range.to - tree->range.from) / BINS,
                          .demand = calloc(BINS, sizeof(*usage.demand))};
    if (!usage.demand)
        return error_no_memory(err);
    for (size_t i = 0; i < tree->processes.length; i++) {
        struct process *process = &tree->processes.data[i];
        for (uint32_t at = 0; at < process->thread_count; at++)
            process->cpu += add_thread(&usage, tree->threads[process->first_thread + at]);
    }
    if (usage.bin > 0) {
        find_serial_part(tree, &usage);
        measure_serial_part(tree, profile);
    }
    free(usage.demand);
    return 0;
}

#include "record/cpu_slices.h"

static const uint64_t longest_unread = UINT64_C(400) * 1000 * 1000; /* ns: the rings have no older record unread */

static int write_slice(struct waits *waits, struct tracked_thread *thread, struct error *err)
{
    struct cpu_slice *slice = &thread->run.slice;
    const struct spool_slice stored = {.thread = thread->number,
                                       .time_ns = slice->end,
                                       .cpu = slice->cpu,
                                       .length_ns = slice->end - slice->start,
                                       .off_cpu_ns = slice->end - slice->start - slice->ran};
    bool is_empty = slice->ran == 0;
    slice->ran = 0;
    if (is_empty || waits->paused || !thread_filter_matches(waits->options.filter, thread->name))
        return 0;
    return spool_write_slice(waits->options.spool, &stored, err);
}

int cpu_slices_add_running_time(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    struct cpu_slice *slice = &run->slice;
    uint64_t start = run->on_cpu_since, interval = waits->options.interval;
    run->on_cpu_since = 0;
    if (!start || time <= start || run->cpu == UINT32_MAX || waits->options.no_cpus)
        return 0;
    bool continues = slice->ran && slice->cpu == run->cpu && start < slice->end + interval &&
                     time < slice->start + SLICE_INTERVALS * interval;
    int code = continues ? 0 : write_slice(waits, thread, err);
    if (!continues)
        *slice = (struct cpu_slice){.start = start, .cpu = run->cpu};
    slice->end = time;
    slice->ran += time - start;
    return code;
}

int cpu_slices_flush(struct waits *waits, struct tracked_thread *thread, uint64_t now, bool is_end, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t until = is_end ? now : now - longest_unread;
    bool is_on = run->on_cpu_since != 0;
    int code = 0;
    if (is_on && (is_end || until > run->on_cpu_since + part_length)) {
        code = cpu_slices_add_running_time(waits, thread, until, err);
        run->on_cpu_since = until;
    }
    return code || (!is_end && until < run->slice.end + waits->options.interval) ? code
                                                                                 : write_slice(waits, thread, err);
}

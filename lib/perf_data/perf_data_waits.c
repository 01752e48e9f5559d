#include "perf_data/perf_data_waits.h"

#include <linux/perf_event.h>

static bool is_sched_switch(const struct perf_data_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT && !strncmp(attr->name, "sched:sched_switch", 18);
}

/* Whether the samples of an event have the stacks where threads are about to wait. */
static bool is_switch(const struct perf_data_attr *attr)
{
    return (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES) ||
           is_sched_switch(attr);
}

static bool read_switch_number(const struct perf_data_feed *feed, const struct perf_data_record *record,
                               const char *field, uint64_t *value)
{
    return is_sched_switch(record->attr) && perf_data_tracing_read_number(&feed->data->tracing, record->attr->config,
                                                                          record->raw, record->raw_size, field, value);
}

/* In a recording of all processes, the thread that leaves a CPU is the last thread that was switched to it. A recording
 * that starts at the exec of a program contains only this program. */
int perf_data_waits_count_switch(struct perf_data_feed *feed, const struct perf_data_record *record)
{
    uint64_t next;
    if (record->attr->starts_at_exec || !read_switch_number(feed, record, "next_pid", &next))
        return 0;
    uint32_t *last = hash_at(&feed->last_on_cpu, record->record.cpu);
    if (!last)
        return error_no_memory(feed->err);
    feed->switches += *last != HASH_MISSING;
    feed->chained_switches += *last == record->record.tid;
    *last = (uint32_t)next & INT32_MAX;
    return 0;
}

void perf_data_waits_choose_source(struct perf_data_feed *feed)
{
    enum { NEARLY = 20, FEW = 4 };
    uint64_t lost = feed->switches - feed->chained_switches;
    bool is_chain = lost <= feed->switches / NEARLY + 1 && feed->chained_switches > FEW * lost;
    feed->has_all_switches = !feed->has_switches && is_chain;
    feed->has_switches |= feed->has_all_switches;
}

int perf_data_waits_open(struct perf_data_feed *feed)
{
    const struct waits_options options = {.spool = feed->spool,
                                          .tracker = feed->tracker,
                                          .filter = &feed->filter,
                                          .interval = feed->interval,
                                          .no_cpus = !(feed->data->attrs.data[0].sample_type & PERF_SAMPLE_CPU),
                                          .no_looks = true};
    if (!feed->has_switches)
        return 0;
    int code = waits_init(&feed->waits, &options, feed->err);
    feed->has_waits = !code;
    tracker_expect_switches(feed->tracker, !feed->has_all_switches);
    return code;
}

void perf_data_waits_close(struct perf_data_feed *feed)
{
    if (feed->has_waits)
        waits_destroy(&feed->waits);
    perf_data_reasons_destroy(&feed->reasons);
    hash_destroy(&feed->last_on_cpu);
}

int perf_data_waits_store_stack(struct perf_data_feed *feed, const struct perf_data_record *record,
                                struct tracked_thread *thread, size_t kernel_frames, size_t frames, uint32_t flags)
{
    enum wait_reason reason = REASON_UNKNOWN;
    if (!feed->has_waits || !is_switch(record->attr) || frames == kernel_frames)
        return 0;
    if (feed->is_this_kernel)
        reason = perf_data_find_reason(&feed->reasons, feed->frames, kernel_frames);
    return thread_run_set_event_stack(&thread->run, record->record.time, feed->frames + kernel_frames,
                                      frames - kernel_frames, flags, reason, feed->err);
}

int perf_data_waits_handle_switch(struct perf_data_feed *feed, const struct perf_data_record *record)
{
    enum { STATES = 0xff, ENDS = 0x30 /* EXIT_DEAD, EXIT_ZOMBIE */ };
    const struct perf_record *raw = &record->record;
    uint64_t state, next;
    if (!feed->has_all_switches || !is_sched_switch(record->attr) ||
        !perf_data_tracing_read_number(&feed->data->tracing, record->attr->config, record->raw, record->raw_size,
                                       "prev_state", &state) ||
        !perf_data_tracing_read_number(&feed->data->tracing, record->attr->config, record->raw, record->raw_size,
                                       "next_pid", &next))
        return 0;
    tracker_expect_switches(feed->tracker, true); /* now, as perf describes some threads before enabling the event */
    struct perf_record out = {.type = PERF_RECORD_SWITCH, .pid = raw->pid, .tid = raw->tid, .time = raw->time};
    out.cpu = raw->cpu;
    out.context_switch.out = true;
    out.context_switch.preempted = !(state & STATES); /* the thread's state is "running" */
    struct perf_record in = {.type = PERF_RECORD_SWITCH, .tid = (uint32_t)next, .time = raw->time, .cpu = raw->cpu};
    int code = raw->tid && !(state & ENDS) ? waits_handle_switch(&feed->waits, &out, feed->err) : 0;
    return code || !in.tid ? code : waits_handle_switch(&feed->waits, &in, feed->err);
}

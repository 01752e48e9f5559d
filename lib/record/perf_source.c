#include "record/source.h"

#include "os/clock.h"
#include "process/kernel_map.h"
#include "sample/wakeup_mode.h"
#include "sample/perf_apart.h"
#include "sample/perf_events.h"
#include "sample/perf_merge.h"
#include "sample/signals.h"
#include "sample/wakeups.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <time.h>

enum {
    ROUNDS_AT_ONCE = 64, /* rounds before the next check for signals */
    FAST_START_HZ = 2000 /* highest rate at which a ring starts in fast mode */
};

static const uint64_t look_interval =
    40 * SECOND / 1000;          /* time (ns) between two reads of the rings; a longer time would save little */
enum { MAX_LOOK_DOUBLINGS = 3 }; /* empty rings are read at least every 320 ms */

struct perf_source {
    struct source common;
    struct perf_events events;
    struct perf_apart apart;          /* threads with short-lived children */
    struct wakeups wakeups;           /* after `events` in the merge; empty: wakers are not recorded */
    struct signals signals;           /* last in the merge; empty: the kernel does not report signals */
    struct wakeup_mode *wakeup_modes; /* one per CPU */
    unsigned empty_looks;             /* consecutive reads of empty rings */
    uint32_t least_tid;               /* lowest tid of the threads at the start; 0: all threads are recorded */
    uint64_t lost_records, lost_wakeups;
    uint64_t lost_others; /* lost records of processes and mappings, if the kernel counts them apart from samples */
};

static struct perf_source *get_perf_source(struct source *source)
{
    return (struct perf_source *)source;
}

/* ---- records ---- */

static int handle_sample(struct perf_source *perf, const struct perf_record *record, size_t cpu_index,
                         struct error *err)
{
    struct cpu_sample_quality quality;
    int code = cpu_samples_add(perf->common.sinks.samples, record, false, &quality, err);
    if (code)
        return code;
    wakeup_mode_add_sample(&perf->wakeup_modes[cpu_index], record->time, quality.depth);
    if (quality.depth != WAKEUP_STACK_FITS)
        cpu_pin_count_deep_stack(perf->common.pin, record->cpu, record->tid, record->time);
    return 0;
}

static int handle_event(struct perf_source *perf, const struct perf_record *record, uint32_t event, struct error *err)
{
    uint64_t period = event_sampling_get_period(&perf->events.sampling, event, record->sample.period);
    return cpu_samples_add_event(perf->common.sinks.samples, record, event, period, err);
}

static void handle_throttle(struct perf_source *perf, const struct perf_record *record)
{
    uint32_t event = event_sampling_find_number(&perf->events.sampling, record->id); /* 0: the CPU clock */
    struct record_result *result = perf->common.result;
    *(event ? &result->events[event - 1].throttled : &result->throttled) += 1;
}

static void handle_wakeup(struct perf_source *perf, const struct perf_merge_record *raw)
{
    struct wakeup wakeup;
    struct perf_record record;
    if (wakeups_parse(&perf->wakeups, raw->bytes, raw->size, &wakeup)) {
        bool is_recorded = waits_handle_wakeup(perf->common.sinks.waits, &wakeup);
        wakeups_count(&perf->wakeups, raw->ring - perf->events.cpus.length, &wakeup, is_recorded);
    } else if (!perf_record_parse(&perf->events.layout, raw->bytes, raw->size, &record) &&
               record.type == PERF_RECORD_LOST) {
        perf->lost_wakeups += record.lost;
    }
}

static int handle_waker_stack(struct perf_source *perf, const struct perf_merge_record *raw, struct error *err)
{
    const struct source_sinks *sinks = &perf->common.sinks;
    const struct perf_layout layout = wakeups_get_stack_layout(&perf->wakeups);
    struct wakeup wakeup;
    struct perf_record record;
    if (!wakeups_parse(&perf->wakeups, raw->bytes, raw->size, &wakeup) || wakeup.context == WAKEUP_BY_INTERRUPT ||
        perf_record_parse(&layout, raw->bytes, raw->size, &record))
        return 0;
    struct tracked_thread *woken = waits_find_woken(sinks->waits, &wakeup);
    return woken ? cpu_samples_add_waker(sinks->samples, &record, woken, err) : 0;
}

static int handle_signal(struct perf_source *perf, const struct perf_merge_record *raw, struct error *err)
{
    const struct source_sinks *sinks = &perf->common.sinks;
    struct signal_delivery delivery;
    struct tracked_process *process = NULL;
    if (!signals_parse(&perf->signals, raw->bytes, raw->size, &delivery) ||
        pauses_include(sinks->pauses, delivery.time) || !tracker_find_thread(sinks->tracker, delivery.tid, &process))
        return 0;
    struct process_signals *signals = &sinks->ends->signals;
    if (delivery.is_sent && delivery.number != SIGKILL) {
        const struct sent_signal sent = {.pid = process->pid, .number = delivery.number, .sender = delivery.sender};
        process_signals_store_sent(signals, &sent);
        return 0;
    }
    if (delivery.has_sender && !delivery.is_sent)
        delivery.sender = process_signals_remove_sender(signals, process->pid, delivery.number);
    const struct process_signal_note note = {.pid = process->pid,
                                             .tid = delivery.tid,
                                             .number = delivery.number,
                                             .sender = delivery.sender,
                                             .time = delivery.time};
    return process_ends_add_signal(sinks->ends, &note, err);
}

/* Handles the end of the command, which is a child of prof. */
static int handle_exit(struct perf_source *perf, uint32_t pid, struct error *err)
{
    const struct source_sinks *sinks = &perf->common.sinks;
    return (pid_t)pid == target_get_pid(sinks->target) ? 0 : process_ends_find(sinks->ends, pid, err);
}

/* False for samples of the idle task, and with options.no_inherit for the starts of child processes, whose end the
 * recorder would never see. */
static bool is_recorded(const struct perf_source *perf, const struct perf_record *record)
{
    bool is_idle = record->type == PERF_RECORD_SAMPLE && record->pid == 0;
    bool is_child = record->type == PERF_RECORD_FORK && record->pid != record->task.parent_pid;
    return !is_idle && !(is_child && perf->common.options->no_inherit);
}

static void handle_loss(struct perf_source *perf, struct perf_record *record, size_t ring)
{
    uint64_t samples = perf_events_count_lost(&perf->events, ring, record->lost);
    perf->lost_others += samples < record->lost ? record->lost - samples : 0;
    perf->lost_records += record->lost = samples;
    wakeup_mode_add_loss(&perf->wakeup_modes[ring], record->time);
    if (perf->common.sinks.waits)
        waits_add_loss(perf->common.sinks.waits);
}

/* Handles a record of processes or mappings. */
static int handle_task(struct perf_source *perf, const struct perf_record *record, struct error *err)
{
    const struct source_sinks *sinks = &perf->common.sinks;
    int code = 0;
    bool is_exec = record->type == PERF_RECORD_COMM && record->comm.exec;
    if (!perf->events.all) /* the kernel may exchange the events of two threads at a context switch */
        perf_apart_handle_record(&perf->apart, record);
    if (sinks->waits)
        code = waits_end_tasks(sinks->waits, record, err);
    if (!code)
        code = tracker_handle_record(sinks->tracker, record, err);
    if (!code && record->type == PERF_RECORD_EXIT && record->pid == record->tid)
        code = handle_exit(perf, record->pid, err);
    if (!code && is_exec && sinks->waits)
        waits_handle_exec(sinks->waits, record);
    return code;
}

static int handle_record(struct perf_source *perf, const struct perf_merge_record *raw, struct error *err)
{
    const struct source_sinks *sinks = &perf->common.sinks;
    struct perf_record record;
    size_t stacks = perf->events.cpus.length + perf->wakeups.cpus.length;
    if (raw->ring >= stacks + perf->wakeups.stacks.length)
        return handle_signal(perf, raw, err);
    if (raw->ring >= stacks)
        return handle_waker_stack(perf, raw, err);
    if (raw->ring >= perf->events.cpus.length) {
        handle_wakeup(perf, raw);
        return 0;
    }
    const struct perf_layout *clock = &perf->events.layout;
    uint32_t event =
        event_sampling_find_number(&perf->events.sampling, perf_record_read_sample_id(clock, raw->bytes, raw->size));
    struct perf_layout layout = event_sampling_get_layout(&perf->events.sampling, clock, event);
    if (perf_record_parse(&layout, raw->bytes, raw->size, &record)) {
        perf->lost_records++;
        return 0;
    }
    if (!is_recorded(perf, &record))
        return 0;
    if (record.type == PERF_RECORD_SAMPLE)
        return event ? handle_event(perf, &record, event, err) : handle_sample(perf, &record, raw->ring, err);
    if (record.type == PERF_RECORD_THROTTLE)
        handle_throttle(perf, &record);
    if (record.type == PERF_RECORD_KSYMBOL)
        return kernel_map_write_symbol(sinks->libraries, sinks->spool, record.time, &record.kernel_symbol, err);
    perf_rate_handle_record(&perf->events.rates, &record);
    if (record.type == PERF_RECORD_SWITCH || record.type == PERF_RECORD_SWITCH_CPU_WIDE)
        return sinks->waits ? waits_handle_switch(sinks->waits, &record, err) : 0;
    if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES)
        handle_loss(perf, &record, raw->ring);
    return handle_task(perf, &record, err);
}

/* Reads one round. Returns 1 if the rings may have more records, 0 if the rings were empty. */
static int read_round(struct perf_source *perf, struct error *err)
{
    struct perf_merge_record raw;
    if (!perf_merge_begin(perf->common.merge))
        return 0;
    while (perf_merge_next(perf->common.merge, &raw)) {
        int code = handle_record(perf, &raw, err);
        if (code)
            return code;
    }
    return 1;
}

static int read_rings(struct perf_source *perf, unsigned rounds, struct error *err)
{
    process_exits_read(&perf->common.sinks.ends->exits);
    int code = read_round(perf, err);
    perf->empty_looks = code ? 0 : perf->empty_looks + 1;
    while (code > 0 && --rounds)
        code = read_round(perf, err);
    return code < 0 ? code : 0;
}

/* Reads a limited number of rounds, because threads fill the rings meanwhile. */
static int read_some(struct source *source, struct error *err)
{
    return read_rings(get_perf_source(source), ROUNDS_AT_ONCE, err);
}

/* ---- rounds ---- */

/* Sets fast mode for a CPU while its stacks are deeper than their copies, and while the rings are empty: the stack
 * depth after an idle time is unknown. */
static void choose_wakeups(struct perf_source *perf)
{
    for (size_t i = 0; i < perf->events.cpus.length; i++)
        perf_events_set_announcing(&perf->events.cpus.data[i], perf->wakeup_modes[i].fast || perf->empty_looks);
}

static uint64_t get_deadline(struct source *source, uint64_t now)
{
    const struct perf_source *perf = get_perf_source(source);
    const struct source_sinks *sinks = &source->sinks;
    unsigned doublings = perf->empty_looks < MAX_LOOK_DOUBLINGS ? perf->empty_looks : MAX_LOOK_DOUBLINGS;
    if (sinks->wants_waits)
        return now + look_interval;
    return now + (look_interval << doublings);
}

static int begin_round(struct source *source, const struct epoll_event *ready, int count, struct error *err)
{
    struct perf_source *perf = get_perf_source(source);
    (void)ready, (void)count;
    perf_events_clear_announcements(&perf->events);
    uint64_t start = monotonic_ns();
    int code = read_rings(perf, ROUNDS_AT_ONCE, err);
    return code ? code : recorder_work_store(source->sinks.work, "Catch up", start, err);
}

static int end_round(struct source *source, struct error *err)
{
    struct wakeups *wakeups = &get_perf_source(source)->wakeups;
    (void)err;
    choose_wakeups(get_perf_source(source));
    if (!wakeups->chosen)
        wakeups_filter_stacks(wakeups, get_perf_source(source)->least_tid);
    wakeups_choose_periods(wakeups, monotonic_ns());
    cpu_pin_choose(source->pin, monotonic_ns());
    return 0;
}

static int finish_waits(struct source *source, bool all, struct error *err)
{
    (void)source, (void)all, (void)err;
    return 0; /* the records of switches already update the waits */
}

static void update_every_second(struct source *source)
{
    perf_apart_update_every_second(&get_perf_source(source)->apart);
    perf_rate_update_every_second(&get_perf_source(source)->events.rates);
}

/* A daemon is a grandchild of the command: an intermediate child starts it and exits. The daemon often does not exist
 * yet when the command ends. So this function waits a moment before it lists the processes that continue. */
static int wait_for_daemons(struct perf_source *perf, struct error *err)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    char names[64];
    if (perf->common.result->end != RECORD_TARGET_ENDED || perf->common.options->all)
        return 0;
    int code = read_rings(perf, ROUNDS_AT_ONCE, err);
    if (!code && tracker_list_survivors(perf->common.sinks.tracker, names, sizeof(names)))
        nanosleep(&moment, NULL);
    return code;
}

static int stop(struct source *source, struct error *err)
{
    struct perf_source *perf = get_perf_source(source);
    int code = wait_for_daemons(perf, err);
    perf_events_stop(&perf->events);
    wakeups_stop(&perf->wakeups);
    signals_stop(&perf->signals);
    tracker_read_clocks(source->sinks.tracker);
    source->result->stopped = monotonic_ns();
    return code ? code : read_rings(perf, UINT32_MAX, err);
}

/* ---- threads ---- */

static int add(struct source *source, pid_t pid, pid_t tid, bool is_command, struct error *err)
{
    struct perf_source *perf = get_perf_source(source);
    (void)pid, (void)is_command;
    perf->least_tid = perf->least_tid && perf->least_tid < (uint32_t)tid ? perf->least_tid : (uint32_t)tid;
    return perf_events_add_thread(&perf->events, tid, err);
}

static int add_all(struct source *source, int cgroup, struct error *err)
{
    return perf_events_add_all(&get_perf_source(source)->events, cgroup, err);
}

/* ---- beginning ---- */

static int open_merge(struct perf_source *perf, struct error *err)
{
    size_t count = perf->events.cpus.length, wakeup_count = perf->wakeups.cpus.length;
    size_t stack_count = perf->wakeups.stacks.length, signal_count = perf->signals.cpus.length;
    size_t all = count + wakeup_count + stack_count + signal_count;
    struct perf_ring **rings = calloc(all, sizeof(struct perf_ring *));
    if (!rings)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        rings[i] = &perf->events.cpus.data[i].ring;
    for (size_t i = 0; i < wakeup_count; i++)
        rings[count + i] = &perf->wakeups.cpus.data[i].ring;
    for (size_t i = 0; i < stack_count; i++)
        rings[count + wakeup_count + i] = &perf->wakeups.stacks.data[i].ring;
    for (size_t i = 0; i < signal_count; i++)
        rings[all - signal_count + i] = &perf->signals.cpus.data[i].ring;
    perf->common.merge = perf_merge_new(&perf->events.layout, rings, all);
    free(rings);
    return perf->common.merge ? 0 : error_no_memory(err);
}

static int watch_rings(const struct perf_source *perf, int epoll_fd, struct error *err)
{
    int code = source_watch(epoll_fd, perf->events.announcement_fd, err);
    for (size_t i = 0; i < perf->events.cpus.length && !code; i++)
        code = source_watch(epoll_fd, perf->events.cpus.data[i].ring_fd, err);
    for (size_t i = 0; i < perf->wakeups.cpus.length && !code; i++)
        code = source_watch(epoll_fd, perf->wakeups.cpus.data[i].fd, err);
    for (size_t i = 0; i < perf->wakeups.stacks.length && !code; i++)
        code = source_watch(epoll_fd, perf->wakeups.stacks.data[i].fd, err);
    for (size_t i = 0; i < perf->signals.cpus.length && !code; i++)
        code = source_watch(epoll_fd, perf->signals.cpus.data[i].fds[0], err);
    return code;
}

/* Adds a note if wakers are requested and cannot be recorded. */
static void open_wakeups(struct perf_source *perf)
{
    const struct record_options *options = perf->common.options;
    struct error why = {.text = "prof records no wakers, because it records no waits"};
    if (options->wakers == WAKERS_NO)
        return;
    bool has_waits = perf->events.switches && options->off_cpu;
    int code = has_waits ? wakeups_open(&perf->wakeups, perf->events.layout.sample_type & PERF_SAMPLE_ID, &why) : -1;
    if (code && options->wakers == WAKERS_REQUESTED)
        record_result_add_note(perf->common.result, "%s", why.text);
}

/* Whether the kernel refused perf events, rather than memory or a descriptor. */
static bool is_refusal(int code)
{
    return code == -EPERM || code == -EACCES || code == -ENOSYS || code == -ENOENT || code == -EOPNOTSUPP;
}

static int open_events(struct perf_source *perf, char *refusal, size_t size, struct error *err)
{
    const struct record_options *wanted = perf->common.options;
    struct error why = {0};
    struct perf_options options = {.rate = wanted->rate,
                                   .at_exec = wanted->argv && !wanted->all,
                                   .all = wanted->all,
                                   .threads_only = wanted->no_inherit,
                                   /* a whole system has too many switches */
                                   .switches = wanted->off_cpu || !wanted->all,
                                   .cpus = wanted->cpus,
                                   .no_cpu_samples = wanted->no_cpu_samples,
                                   .events = wanted->events};
    int code = perf_events_open(&perf->events, &options, &why);
    if (!code)
        return 0;
    if (is_refusal(code))
        snprintf(refusal, size, "%.*s", PERF_NOTE_SIZE - 64, why.text);
    return error_set(err, -code, "%s", why.text);
}

/* ---- end ---- */

static uint64_t cpu_time(const struct source *source)
{
    return perf_events_read_totals(&((const struct perf_source *)source)->events).cpu_time;
}

static void note_new_cpus(const struct perf_source *perf)
{
    uint32_t missed = perf_events_count_new_cpus(&perf->events);
    if (missed)
        record_result_add_note(perf->common.result,
                               "%u CPUs came online during the recording, and prof took no samples on these CPUs",
                               missed);
}

static void note_lower_rates(const struct perf_source *perf)
{
    const struct perf_rate *rates = &perf->events.rates;
    if (rates->lowered)
        record_result_add_note(
            perf->common.result,
            "prof sampled %u thread%s with very many context switches at only %llu Hz, because each sample slows %s; CPU times are exact",
            rates->lowered, rates->lowered == 1 ? "" : "s", 1000000000ULL / (rates->interval * PERF_RATE_FEWER),
            rates->lowered == 1 ? "it" : "them");
}

static void note_losses(const struct perf_source *perf)
{
    if (perf->lost_others)
        record_result_add_note(
            perf->common.result,
            "%llu records of processes and mappings are lost, because the buffer was full; prof read the mappings of these processes instead, and some of their symbols may be missing",
            (unsigned long long)perf->lost_others);
    if (perf->lost_wakeups)
        record_result_add_note(perf->common.result,
                               "some waits have no waker: %llu wakeups are lost, because the buffer was full",
                               (unsigned long long)perf->lost_wakeups);
}

static struct source_totals fill_result(struct source *source, bool counts_events)
{
    struct perf_source *perf = get_perf_source(source);
    struct perf_totals totals = perf_events_read_totals(&perf->events);
    const struct event_sampling *sampling = &perf->events.sampling;
    for (size_t i = 0; sampling->list && i < sampling->list->length; i++) {
        struct event_totals event = event_sampling_read_totals(sampling, perf->events.layout.read_format, (uint32_t)i);
        totals.lost += source->result->events[i].lost = event.lost;
        if (counts_events)
            source->result->events[i].count = event.count;
    }
    note_new_cpus(perf);
    note_lower_rates(perf);
    note_losses(perf);
    return (struct source_totals){.cpu_time = totals.cpu_time, .lost = totals.lost, .lost_records = perf->lost_records};
}

static void close_in_child(struct source *source)
{
    perf_events_close(&get_perf_source(source)->events); /* open events would still count after the recording */
}

static void free_source(struct source *source)
{
    struct perf_source *perf = get_perf_source(source);
    perf_merge_free(source->merge);
    perf_apart_destroy(&perf->apart);
    perf_events_close(&perf->events);
    wakeups_close(&perf->wakeups);
    signals_close(&perf->signals);
    free(perf->wakeup_modes);
    free(perf);
}

static void describe(const struct source *source, struct metadata_start *start)
{
    const struct perf_source *perf = (const struct perf_source *)source;
    start->event = source->options->no_cpu_samples ? "none" : perf->events.hardware ? "cycles" : "cpu-clock";
    start->tier = perf->events.tier == PERF_TIER_KERNEL_AND_USER ? "kernel and user" : "user only";
    start->stack_size = perf->events.stack_size;
    start->wakers = perf->wakeups.cpus.length != 0;
}

static const struct source_class perf_class = {.describe = describe,
                                               .add = add,
                                               .add_all = add_all,
                                               .deadline = get_deadline,
                                               .begin_round = begin_round,
                                               .end_round = end_round,
                                               .read = read_some,
                                               .settle = finish_waits,
                                               .second = update_every_second,
                                               .stop = stop,
                                               .cpu_time = cpu_time,
                                               .fill_result = fill_result,
                                               .close_in_child = close_in_child,
                                               .free = free_source};

static int open_all(struct perf_source *perf, int epoll_fd, char *refusal, size_t size, struct error *err)
{
    struct error why;
    struct source *common = &perf->common;
    int code = open_events(perf, refusal, size, err);
    if (code)
        return code;
    memcpy(common->result->notes, perf->events.notes, sizeof(common->result->notes));
    common->result->note_count = perf->events.note_count;
    common->has_switches = perf->events.switches;
    common->covers_kernel = perf->events.switches || perf->events.tier == PERF_TIER_KERNEL_AND_USER;
    common->rate = perf->events.rate;
    common->period = perf->events.hardware ? SECOND / perf->events.rate : 0;
    open_wakeups(perf);
    signals_open(&perf->signals, perf->events.layout.sample_type & PERF_SAMPLE_ID,
                 &why); /* permitted to root, or by a setting */
    code = open_merge(perf, err);
    if (!code)
        code = watch_rings(perf, epoll_fd, err);
    if (code)
        return code;
    perf->wakeup_modes = calloc(perf->events.cpus.length, sizeof(*perf->wakeup_modes));
    if (!perf->wakeup_modes)
        return error_no_memory(err);
    for (size_t i = 0; i < perf->events.cpus.length; i++)
        wakeup_mode_init(&perf->wakeup_modes[i], common->options->rate <= FAST_START_HZ);
    choose_wakeups(perf);
    return 0;
}

int perf_source_open(struct source **out, const struct source *common, int epoll_fd, char *refusal, size_t size,
                     struct error *err)
{
    struct perf_source *perf = calloc(1, sizeof(*perf));
    *out = NULL;
    if (!perf)
        return error_no_memory(err);
    perf->common = *common;
    perf->common.class = &perf_class;
    perf->events = (struct perf_events)PERF_EVENTS_NONE;
    *out = &perf->common;
    return open_all(perf, epoll_fd, refusal, size, err);
}

#include "record/perf_recording.h"

#include "os/clock.h"
#include "process/kernel_map.h"
#include "process/tracker.h"
#include "record/control.h"
#include "record/recording_loop.h"
#include "record/waits.h"
#include "record/wakeup_mode.h"
#include "record/whom.h"
#include "sample/perf_events.h"
#include "sample/perf_merge.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

enum {
    ROUNDS_AT_ONCE = 64, /* rounds before the next check for signals */
    FAST_START_HZ = 2000 /* highest rate at which a ring starts in fast mode */
};

static const uint64_t look_interval = 40 * SECOND / 1000; /* between two looks at the rings; more would save little */
static const uint64_t wait_look_interval = 4 * SECOND / 1000; /* while threads switch: longer waits are all seen */
enum { MAX_LOOK_DOUBLINGS = 3 };                              /* empty rings are read at least every 320 ms */

/* ---- records ---- */

static int take_sample(struct recording *recording, const struct perf_record *record, size_t cpu_index,
                       struct error *err)
{
    enum wakeup_stack depth;
    int code = recording_take_sample(recording, record, &depth, err);
    if (code)
        return code;
    wakeup_mode_sample(&recording->wakeup_modes[cpu_index], record->time, depth);
    if (depth != WAKEUP_STACK_FITS)
        cpu_pin_deep_stack(&recording->pin, record->cpu, record->tid, record->time);
    return 0;
}

/* Whether the kernel may swap the events of two threads at a context switch. */
static bool exchanges_events(const struct recording *recording)
{
    return !recording->events.all;
}

static int take_record(struct recording *recording, const struct perf_merge_record *raw, struct error *err)
{
    struct perf_record record;
    if (raw->ring >= recording->events.cpus.length + recording->wakeups.cpus.length)
        return recording_take_signal_record(recording, raw, err);
    if (raw->ring >= recording->events.cpus.length) {
        recording_take_wakeup(recording, raw);
        return 0;
    }
    const struct perf_layout *clock = &recording->events.layout;
    uint32_t event =
        event_sampling_number(&recording->events.sampling, perf_record_sample_id(clock, raw->bytes, raw->size));
    struct perf_layout layout = event_sampling_layout(&recording->events.sampling, clock, event);
    if (perf_record_parse(&layout, raw->bytes, raw->size, &record)) {
        recording->lost_records++;
        return 0;
    }
    if (!whom_is_recorded(recording, &record))
        return 0;
    if (record.type == PERF_RECORD_SAMPLE)
        return event ? recording_take_event(recording, &record, event, err)
                     : take_sample(recording, &record, raw->ring, err);
    if (record.type == PERF_RECORD_THROTTLE)
        recording_take_throttle(recording, event_sampling_number(&recording->events.sampling, record.id));
    if (record.type == PERF_RECORD_KSYMBOL)
        return kernel_map_symbol(recording->libraries, recording->spool, record.time, &record.kernel_symbol, err);
    perf_rate_record(&recording->events.rates, &record);
    if (record.type == PERF_RECORD_SWITCH || record.type == PERF_RECORD_SWITCH_CPU_WIDE)
        return recording->follows_runs ? waits_switch(&recording->waits, &record, err) : 0;
    if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES) {
        uint64_t samples = perf_events_lost(&recording->events, raw->ring, record.lost);
        recording->lost_others += samples < record.lost ? record.lost - samples : 0;
        recording->lost_records += record.lost = samples;
        wakeup_mode_lost(&recording->wakeup_modes[raw->ring], record.time);
        if (recording->follows_runs)
            waits_lost(&recording->waits);
    }
    if (exchanges_events(recording))
        perf_apart_record(&recording->apart, &record);
    int code = 0;
    bool is_exec = record.type == PERF_RECORD_COMM && record.comm.exec;
    if ((record.type == PERF_RECORD_EXIT || is_exec) && recording->follows_runs)
        code = waits_thread_ends(&recording->waits, &record, err);
    if (!code)
        code = tracker_record(recording->tracker, &record, err);
    if (!code && record.type == PERF_RECORD_EXIT && record.pid == record.tid)
        recording_note_end(recording, record.pid);
    if (!code && is_exec && recording->follows_runs)
        waits_exec(&recording->waits, &record);
    return code;
}

/* Reads one round. Returns 1 if there may be more, 0 if the rings were empty. */
static int read_round(struct recording *recording, struct error *err)
{
    struct perf_merge_record raw;
    if (!perf_merge_begin(recording->merge))
        return 0;
    while (perf_merge_next(recording->merge, &raw)) {
        int code = take_record(recording, &raw, err);
        if (code)
            return code;
    }
    return 1;
}

static int read_rings(struct recording *recording, unsigned rounds, struct error *err)
{
    process_exits_read(&recording->exits);
    int code = read_round(recording, err);
    recording->empty_looks = code ? 0 : recording->empty_looks + 1;
    while (code > 0 && --rounds)
        code = read_round(recording, err);
    return code < 0 ? code : 0;
}

int perf_recording_read(struct recording *recording, struct error *err)
{
    return read_rings(recording, ROUNDS_AT_ONCE, err);
}

/* ---- the loop ---- */

/* Sets fast mode for a CPU while its stacks are deeper than their copies, and while the rings are empty: the stack
 * depth after an idle time is unknown. */
static void choose_announcements(struct recording *recording)
{
    for (size_t i = 0; i < recording->events.cpus.length; i++)
        perf_events_announce(&recording->events.cpus.data[i],
                             recording->wakeup_modes[i].fast || recording->empty_looks);
}

/* Returns the time (ns) of the next wakeup without a record or a signal. */
static uint64_t next_deadline(const struct recording *recording, uint64_t now)
{
    unsigned doublings = recording->empty_looks < MAX_LOOK_DOUBLINGS ? recording->empty_looks : MAX_LOOK_DOUBLINGS;
    const uint64_t others[] = {recording->next_flush, recording_time_up(recording), control_deadline(recording),
                               marks_deadline(&recording->marks),
                               recording->control.paused ? UINT64_MAX : counters_deadline(&recording->counters)};
    uint64_t interval = look_interval << doublings;
    if (recording_wants_waits(recording))
        interval = waits_want_look(&recording->waits) ? wait_look_interval : look_interval;
    uint64_t deadline = now + interval;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        deadline = others[i] < deadline ? others[i] : deadline;
    return deadline;
}

static int wait_ms(const struct recording *recording, uint64_t now)
{
    uint64_t deadline = next_deadline(recording, now);
    return deadline > now ? (int)((deadline - now + 999999) / 1000000) : 0;
}

/* A daemon is a grandchild of the command: an intermediate child starts it and exits. It seldom exists when the command
 * ends, so waits a moment before listing the processes that continue. */
static int await_daemons(struct recording *recording, struct error *err)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    char names[64];
    if (recording->result->end != RECORD_TARGET_ENDED || recording->options->all)
        return 0;
    int code = read_rings(recording, ROUNDS_AT_ONCE, err);
    if (!code && tracker_list_survivors(recording->tracker, names, sizeof(names)))
        nanosleep(&moment, NULL);
    return code;
}

int perf_recording_until_end(struct recording *recording, struct error *err)
{
    int code = 0;
    while (!recording->ending && !code) {
        struct epoll_event ready[16];
        uint64_t now = monotonic_ns();
        code = recording_loop_keep_time(recording, now, err);
        if (code || recording->ending)
            break;
        int count = epoll_wait(recording->epoll_fd, ready, 16, wait_ms(recording, now));
        bool signals = false;
        for (int i = 0; i < count; i++) {
            signals |= ready[i].data.fd == recording->signal_fd;
            recording_take_end(recording, ready[i].data.fd);
        }
        perf_events_take_announcements(&recording->events);
        now = monotonic_ns();
        code = read_rings(recording, ROUNDS_AT_ONCE, err);
        if (!code)
            code = recording_note_work(recording, "Catch up", now, err);
        if (!code)
            code = recording_loop_read_marks(recording, false, err);
        if (!code && recording_wants_waits(recording))
            code = waits_look(&recording->waits, err);
        choose_announcements(recording);
        cpu_pin_choose(&recording->pin, monotonic_ns());
        if (signals)
            recording_loop_take_signals(recording);
        for (int i = 0; i < count && !code; i++)
            code = control_take(recording, ready[i].data.fd, err);
        if (recording->runs_again && !code)
            code = recording_run_again(recording, err);
    }
    if (!code)
        code = await_daemons(recording, err);
    perf_events_stop(&recording->events);
    wakeups_stop(&recording->wakeups);
    signals_stop(&recording->signal_rings);
    tracker_read_clocks(recording->tracker);
    uint64_t stopped = recording->result->stopped = monotonic_ns();
    if (!code)
        code = read_rings(recording, UINT32_MAX, err);
    recording_take_exits(recording);
    return code ? code : recording_end_runs(recording, stopped, err);
}

/* ---- beginning ---- */

static int open_merge(struct recording *recording, struct error *err)
{
    size_t count = recording->events.cpus.length, wakeup_count = recording->wakeups.cpus.length;
    size_t signal_count = recording->signal_rings.cpus.length;
    struct perf_ring **rings = calloc(count + wakeup_count + signal_count, sizeof(struct perf_ring *));
    if (!rings)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        rings[i] = &recording->events.cpus.data[i].ring;
    for (size_t i = 0; i < wakeup_count; i++)
        rings[count + i] = &recording->wakeups.cpus.data[i].ring;
    for (size_t i = 0; i < signal_count; i++)
        rings[count + wakeup_count + i] = &recording->signal_rings.cpus.data[i].ring;
    recording->merge = perf_merge_new(&recording->events.layout, rings, count + wakeup_count + signal_count);
    free(rings);
    return recording->merge ? 0 : error_no_memory(err);
}

static int watch_rings(struct recording *recording, struct error *err)
{
    int code = recording_watch(recording, recording->events.announcement_fd, err);
    for (size_t i = 0; i < recording->events.cpus.length && !code; i++)
        code = recording_watch(recording, recording->events.cpus.data[i].ring_fd, err);
    for (size_t i = 0; i < recording->wakeups.cpus.length && !code; i++)
        code = recording_watch(recording, recording->wakeups.cpus.data[i].fd, err);
    for (size_t i = 0; i < recording->signal_rings.cpus.length && !code; i++)
        code = recording_watch(recording, recording->signal_rings.cpus.data[i].fds[0], err);
    return code;
}

/* Whether the kernel refused perf events, rather than memory or a descriptor. */
static bool is_refusal(int code)
{
    return code == -EPERM || code == -EACCES || code == -ENOSYS || code == -ENOENT || code == -EOPNOTSUPP;
}

int perf_recording_open(struct recording *recording, struct error *err)
{
    struct error why = {0};
    const struct record_options *wanted = recording->options;
    struct perf_options options = {.rate = wanted->rate,
                                   .at_exec = wanted->argv && !wanted->all,
                                   .all = wanted->all,
                                   .threads_only = wanted->no_inherit,
                                   /* too many for the whole system */
                                   .switches = wanted->off_cpu || !wanted->all,
                                   .cpus = wanted->cpus,
                                   .no_cpu_samples = wanted->no_cpu_samples,
                                   .events = wanted->events};
    int code = perf_events_open(&recording->events, &options, &why);
    if (code) {
        if (is_refusal(code))
            snprintf(recording->refusal, sizeof(recording->refusal), "%.*s", PERF_NOTE_SIZE - 64, why.text);
        return error_set(err, -code, "%s", why.text);
    }
    recording->follows_runs = recording->events.switches;
    memcpy(recording->result->notes, recording->events.notes, sizeof(recording->result->notes));
    recording->result->note_count = recording->events.note_count;
    recording_open_wakeups(recording);
    recording_open_signals(recording);
    process_exits_open(&recording->exits);
    code = open_merge(recording, err);
    if (!code)
        code = watch_rings(recording, err);
    if (code)
        return code;
    recording->wakeup_modes = calloc(recording->events.cpus.length, sizeof(*recording->wakeup_modes));
    if (!recording->wakeup_modes)
        return error_no_memory(err);
    for (size_t i = 0; i < recording->events.cpus.length; i++)
        wakeup_mode_init(&recording->wakeup_modes[i], recording->options->rate <= FAST_START_HZ);
    choose_announcements(recording);
    return 0;
}

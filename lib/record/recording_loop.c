#include "record/recording_loop.h"

#include "os/clock.h"
#include "record/control.h"
#include "record/producer.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Interval (ns) of flushes: a killed recorder loses at most the data of one interval. A power failure also loses the
 * data that the disk has not yet written, together about a second. */
static const uint64_t flush_interval = UINT64_C(900000000);

/* ---- producers ---- */

enum { PRODUCERS_MAX = 8 };

struct producers {
    struct producer list[PRODUCERS_MAX];
    size_t count;
};

/* In the order of calls. */
static struct producers list_producers(struct recording *recording)
{
    const struct producer all[] = {marks_as_producer(&recording->marks), counters_as_producer(&recording->counters),
                                   process_ends_as_producer(&recording->ends),
                                   recorder_work_as_producer(&recording->work),
                                   waits_as_producer(&recording->waits)}; /* the last one only with waits */
    struct producers producers = {.count = sizeof(all) / sizeof(*all) - !recording_has_switches(recording)};
    _Static_assert(sizeof(all) <= sizeof(producers.list), "the list is large enough for all producers");
    memcpy(producers.list, all, sizeof(all));
    return producers;
}

static bool is_due(const struct recording *recording, const struct producer *producer)
{
    return !producer->has_pauses || !recording->control.paused;
}

static int run_producers(struct recording *recording, const struct producers *producers, struct error *err)
{
    int code = 0;
    for (const struct producer *p = producers->list; p < producers->list + producers->count && !code; p++) {
        uint64_t now = monotonic_ns();
        if (!p->run || !is_due(recording, p))
            continue;
        code = p->run(p->self, now, err);
        if (!code && p->work)
            code = recorder_work_store(&recording->work, p->work, now, err);
    }
    return code;
}

static int run_producers_early(struct recording *recording, const struct producers *producers, struct error *err)
{
    int code = 0;
    for (const struct producer *p = producers->list; p < producers->list + producers->count && !code; p++)
        code = p->run_early && is_due(recording, p) ? p->run_early(p->self, err) : 0;
    return code;
}

static int flush_producers(const struct producers *producers, uint64_t now, struct error *err)
{
    int code = 0;
    for (const struct producer *p = producers->list; p < producers->list + producers->count && !code; p++)
        code = p->flush ? p->flush(p->self, now, err) : 0;
    return code;
}

static int finish_producers(const struct recording *recording, const struct producers *producers, struct error *err)
{
    int code = 0;
    for (const struct producer *p = producers->list; p < producers->list + producers->count && !code; p++)
        code = p->finish && is_due(recording, p) ? p->finish(p->self, recording->result->stopped, err) : 0;
    return code;
}

/* ---- signals ---- */

/* Reaps the target at normal priority: see scheduling.h. */
static int reap_target(struct recording *recording, struct error *err)
{
    int status, code = 0;
    struct rusage usage;
    if (!target_has_ended(recording->target))
        return 0;
    bool was_raised = recording->loop.thread.policy.size;
    scheduling_restore(&recording->loop.thread.policy);
    if (target_reap(recording->target, &status, &usage))
        code = recording_store_target_end(recording, status, &usage, err);
    if (was_raised)
        scheduling_raise(&recording->loop.thread.policy);
    return code;
}

static void handle_interrupt(struct recording *recording, bool from_terminal)
{
    if (recording->loop.follows)
        recording_end(recording, RECORD_TARGET_ENDED, 0);
    else if (!target_interrupt(recording->target, from_terminal))
        recording_end(recording, RECORD_STOPPED, SIGINT);
}

/* Handles SIGCHLD. With ptrace, the signal may report a stop, which the source handles. */
static int handle_child(struct recording *recording, struct error *err)
{
    return recording->sampler.is_ptrace ? 0 : reap_target(recording, err);
}

void recording_loop_handle_signals(struct recording *recording)
{
    struct signalfd_siginfo info;
    struct error *err = &recording->result->problem;
    while (read(recording->loop.signal_fd, &info, sizeof(info)) == sizeof(info)) {
        int signal = (int)info.ssi_signo, code = 0;
        bool is_control = signal == SIGUSR1 || signal == SIGUSR2;
        if ((is_control || signal == SIGCHLD) && recording->spool)
            code = control_handle_signal(recording, signal, err);
        if (!code && signal == SIGCHLD)
            code = handle_child(recording, err);
        else if (signal == SIGINT)
            handle_interrupt(recording, info.ssi_code == SI_KERNEL);
        else if (!is_control && signal != SIGCHLD)
            recording_end(recording, RECORD_STOPPED, signal);
        if (code) {
            recording->result->end = RECORD_SPOOL_FULL;
            recording->loop.ending = true;
        }
    }
}

/* ---- time ---- */

/* Returns the end (ns) of the duration, which starts after the delay, or UINT64_MAX for no duration. */
static uint64_t get_end_time(const struct recording *recording)
{
    const struct record_options *options = recording->options;
    return options->duration ? recording->loop.started + options->control.delay + options->duration : UINT64_MAX;
}

static uint64_t get_earlier_time(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct timespec compute_timeout(struct recording *recording, const struct producers *producers, uint64_t now)
{
    struct source *source = recording->source;
    uint64_t deadline = get_earlier_time(source->class->deadline(source, now), recording->loop.next_flush);
    deadline = get_earlier_time(deadline, get_earlier_time(get_end_time(recording), control_get_deadline(recording)));
    for (const struct producer *p = producers->list; p < producers->list + producers->count; p++)
        if (p->deadline && is_due(recording, p))
            deadline = get_earlier_time(deadline, p->deadline(p->self));
    uint64_t left = deadline > now ? deadline - now : 0;
    return timespec_from_ns(left);
}

static int flush_recording(struct recording *recording, const struct producers *producers, uint64_t now,
                           struct error *err)
{
    struct source *source = recording->source;
    recording->loop.next_flush = now + flush_interval;
    source->class->second(source);
    int code = source->class->settle(source, false, err);
    if (!code)
        code = flush_producers(producers, now, err);
    uint64_t start = monotonic_ns();
    if (!code)
        code = spool_writer_flush(recording->spool, err);
    return code ? code : recorder_work_store(&recording->work, "Flush", start, err);
}

/* Ends the recording when its time is up, and when all followed processes have ended. */
static int run_due(struct recording *recording, const struct producers *producers, uint64_t now, struct error *err)
{
    if (now >= get_end_time(recording))
        recording_end(recording, RECORD_TIME_UP, 0);
    if (recording->loop.follows && !tracker_count_processes(recording->tracker))
        recording_end(recording, RECORD_TARGET_ENDED, 0);
    excesses_add_silent_memory(&recording->excesses, recording->tracker);
    int code = control_run_due(recording, now, err);
    if (code || now < recording->loop.next_flush)
        return code;
    struct record_result *result = recording->result;
    if (recording->loop.follows && /* the kernel may have lost the records of their ends */
        !tracker_list_survivors(recording->tracker, result->survivor_names, sizeof(result->survivor_names)))
        recording_end(recording, RECORD_TARGET_ENDED, 0);
    return flush_recording(recording, producers, now, err);
}

/* ---- the loop ---- */

/* Linux 5.11 waits for ns, older kernels for ms. */
static int wait_for_events(int epoll_fd, struct epoll_event *ready, int count, struct timespec timeout)
{
    int got = epoll_pwait2(epoll_fd, ready, count, &timeout, NULL);
    if (got < 0 && errno == ENOSYS)
        got = epoll_wait(epoll_fd, ready, count, (int)(timeout.tv_sec * 1000 + (timeout.tv_nsec + 999999) / 1000000));
    return got;
}

static int run_round(struct recording *recording, const struct producers *producers, uint64_t now, struct error *err)
{
    enum { EVENTS = 16 };
    struct epoll_event ready[EVENTS];
    struct source *source = recording->source;
    int count = wait_for_events(recording->loop.epoll_fd, ready, EVENTS, compute_timeout(recording, producers, now));
    bool signals = false;
    for (int i = 0; i < count; i++) {
        signals |= ready[i].data.fd == recording->loop.signal_fd;
        recording_handle_end(recording, ready[i].data.fd);
    }
    int code = run_producers_early(recording, producers, err);
    if (!code)
        code = source->class->begin_round(source, ready, count, err);
    if (!code)
        code = run_producers(recording, producers, err);
    if (signals)
        recording_loop_handle_signals(recording);
    for (int i = 0; i < count && !code; i++)
        code = control_handle_event(recording, ready[i].data.fd, err);
    if (!code)
        code = source->class->end_round(source, err);
    if (!code && target_is_to_run_again(recording->target) && !recording->loop.ending)
        code = recording_run_again(recording, err);
    return code;
}

static int run_rounds(struct recording *recording, const struct producers *producers, struct error *err)
{
    int code = 0;
    while (!recording->loop.ending && !code) {
        uint64_t now = monotonic_ns();
        code = run_due(recording, producers, now, err);
        if (!code && !recording->loop.ending)
            code = run_round(recording, producers, now, err);
    }
    return code ? code : recording->source->class->stop(recording->source, err);
}

int recording_loop_run(struct recording *recording, struct error *err)
{
    const struct producers producers = list_producers(recording);
    bool is_once = recording->options->once;
    scheduling_raise(&recording->loop.thread.policy);
    cpu_pin_init(&recording->loop.thread.pin);
    int code = is_once ? ptrace_source_read_once(recording->source, &recording->waits, err)
                       : run_rounds(recording, &producers, err);
    cpu_pin_release(&recording->loop.thread.pin);
    scheduling_restore(&recording->loop.thread.policy);
    if (code || is_once)
        return code;
    code = finish_producers(recording, &producers, err);
    return code ? code : recording_store_unsampled(recording, recording->result->stopped, err);
}

#include "record/recording_loop.h"

#include "os/clock.h"
#include "record/control.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A killed recorder loses at most this much. A power failure also loses the data that the disk has not yet written,
 * together about a second. */
static const uint64_t flush_interval = UINT64_C(900000000);

static void reap_target(struct recording *recording)
{
    siginfo_t info = {0};
    int status;
    struct rusage usage;
    if (!recording->options->argv || recording->target_reaped ||
        waitid(P_PID, (id_t)recording->target.pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
        return;
    bool was_raised = recording->policy.size;
    scheduling_restore(&recording->policy);
    if (wait4(recording->target.pid, &status, WNOHANG, &usage) == recording->target.pid)
        recording_target_ended(recording, status, &usage);
    if (was_raised)
        scheduling_raise(&recording->policy);
}

static void take_interrupt(struct recording *recording, bool from_terminal)
{
    if (recording->follows) {
        recording_end(recording, RECORD_TARGET_ENDED, 0);
        return;
    }
    if (recording->interrupted || !recording->options->argv) {
        recording_end(recording, RECORD_STOPPED, SIGINT);
        return;
    }
    recording->interrupted = true;
    if (!from_terminal)
        kill(recording->target.pid, SIGINT);
}

void recording_loop_take_signals(struct recording *recording)
{
    struct signalfd_siginfo info;
    while (read(recording->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        bool is_control = info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2;
        if ((is_control || info.ssi_signo == SIGCHLD) && recording->spool &&
            control_take_signal(recording, (int)info.ssi_signo, &recording->result->problem)) {
            recording->result->end = RECORD_SPOOL_FULL;
            recording->ending = true;
        }
        if (is_control)
            continue;
        if (info.ssi_signo == SIGCHLD && !recording->sampler)
            reap_target(recording);
        else if (info.ssi_signo == SIGCHLD)
            continue; /* may be a ptrace stop, which the sampler handles */
        else if (info.ssi_signo == SIGINT)
            take_interrupt(recording, info.ssi_code == SI_KERNEL);
        else
            recording_end(recording, RECORD_STOPPED, (int)info.ssi_signo);
    }
}

/* Replaces lost records of exits. */
static void end_if_all_are_gone(struct recording *recording)
{
    struct record_result *result = recording->result;
    if (recording->follows && recording->lost_records &&
        !tracker_list_survivors(recording->tracker, result->survivor_names, sizeof(result->survivor_names)))
        recording_end(recording, RECORD_TARGET_ENDED, 0);
}

int recording_loop_keep_time(struct recording *recording, uint64_t now, struct error *err)
{
    if (now >= recording_time_up(recording))
        recording_end(recording, RECORD_TIME_UP, 0);
    if (recording->follows && !tracker_count_processes(recording->tracker))
        recording_end(recording, RECORD_TARGET_ENDED, 0);
    int code = control_keep_time(recording, now, err);
    if (!code && !recording->control.paused)
        code = counters_keep_time(&recording->counters, now, err);
    if (code || now < recording->next_flush)
        return code;
    recording->next_flush = now + flush_interval;
    end_if_all_are_gone(recording);
    recording_take_exits(recording);
    perf_apart_second(&recording->apart);
    perf_rate_second(&recording->events.rates);
    if (recording->follows_runs) {
        code = recording_settle(recording, false, err);
        if (!code)
            code = waits_flush(&recording->waits, now, false, err);
    }
    if (!code)
        code = recording_note_unwinding(recording, now, err);
    uint64_t start = monotonic_ns();
    if (!code)
        code = spool_writer_flush(recording->spool, err);
    return code ? code : recording_note_work(recording, "Flush", start, err);
}

int recording_loop_read_marks(struct recording *recording, bool is_end, struct error *err)
{
    uint64_t now = monotonic_ns();
    int code = marks_look(&recording->marks, recording->tracker, &recording->control.pauses, now, is_end, err);
    return code ? code : recording_note_work(recording, "Read marks", now, err);
}

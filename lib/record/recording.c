/*
 * Ends a recording: stores the first reason, and the CPU time that the kernel counted.
 */
#include "record/recording.h"

#include "os/clock.h"

void recording_end(struct recording *recording, enum record_end end, int signal)
{
    if (recording->loop.ending)
        return;
    recording->loop.ending = true;
    if (recording->result->end == RECORD_SPOOL_FULL || recording->result->end == RECORD_SIZE_REACHED)
        return; /* the recording ended before its command */
    recording->result->end = end;
    recording->result->signal = signal;
}

static void end_with_target(struct recording *recording)
{
    recording->result->target_ended = true;
    recording->loop.follows = recording->options->follow_daemons;
    if (!recording->loop.follows)
        recording_end(recording, RECORD_TARGET_ENDED, 0);
}

static uint64_t timeval_to_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_usec * 1000;
}

int recording_store_target_end(void *context, int status, const struct rusage *usage, struct error *err)
{
    struct recording *recording = context;
    recording->result->target_cpu += timeval_to_ns(&usage->ru_utime) + timeval_to_ns(&usage->ru_stime);
    recording->result->target_ended = true;
    recording->result->target_status = status;
    bool runs_again = target_note_end(recording->target, status) && !recording->loop.ending;
    uint32_t pid = (uint32_t)target_get_pid(recording->target);
    int code = process_ends_add(&recording->ends, pid, status, monotonic_ns(), err);
    if (!code && !runs_again)
        end_with_target(recording);
    return code;
}

void recording_handle_end(struct recording *recording, int fd)
{
    if (target_handle_end(recording->target, fd))
        end_with_target(recording);
}

/* Stores unsampled CPU time, except after pauses or with a list of CPUs: a process's CPU clock also runs during pauses
 * and on other CPUs. */
int recording_store_unsampled(struct recording *recording, uint64_t stopped, struct error *err)
{
    bool is_comparable = !recording->control.paused_cpu_time && !recording->control.paused &&
                         !recording->options->all && !recording->options->cpus && !recording->filter.count;
    return recording_has_switches(recording) && is_comparable ? tracker_write_unseen(recording->tracker, stopped, err)
                                                              : 0;
}

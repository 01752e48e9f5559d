#include "record/process_ends.h"

#include "os/clock.h"

#include <signal.h>

void process_ends_init(struct process_ends *ends, struct spool_writer *spool, bool finds_exits)
{
    ends->spool = spool;
    if (finds_exits)
        process_exits_open(&ends->exits);
    process_signals_init(&ends->signals);
}

void process_ends_close(struct process_ends *ends)
{
    process_exits_close(&ends->exits);
}

int process_ends_add(struct process_ends *ends, uint32_t pid, int status, uint64_t time, struct error *err)
{
    const struct spool_process_exit ended = {.pid = pid, .time_ns = time, .status = (unsigned)status};
    int code = ends->spool ? spool_write_process_exit(ends->spool, &ended, err) : 0;
    bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return code || !was_killed || !ends->spool ? code
                                               : process_signals_add_kill(&ends->signals, ends->spool, pid, time, err);
}

int process_ends_find(struct process_ends *ends, uint32_t pid, struct error *err)
{
    int status;
    return process_exits_add_end(&ends->exits, pid, &status) ? process_ends_add(ends, pid, status, monotonic_ns(), err)
                                                             : 0;
}

struct flushing {
    struct process_ends *ends;
    struct error *err;
    int code;
};

static void write_exit(void *context, const struct process_exit_message *message)
{
    struct flushing *flushing = context;
    if (!flushing->code)
        flushing->code = process_ends_add(flushing->ends, message->pid, message->status, message->time, flushing->err);
}

/* Stores the exit statuses found since the last call. */
static int flush_ends(void *self, uint64_t now, struct error *err)
{
    struct process_ends *ends = self;
    (void)now;
    struct flushing flushing = {.ends = ends, .err = err};
    process_exits_read(&ends->exits);
    process_exits_match(&ends->exits, write_exit, &flushing);
    return flushing.code;
}

int process_ends_add_signal(struct process_ends *ends, const struct process_signal_note *note, struct error *err)
{
    return process_signals_add(&ends->signals, ends->spool, note, err);
}

void process_ends_add_notes(const struct process_ends *ends, struct record_result *result)
{
    if (ends->signals.left_out)
        record_result_add_note(result,
                               "%llu signals have no marker, because a recording has at most %d markers of signals",
                               (unsigned long long)ends->signals.left_out, PROCESS_SIGNALS_MAX);
}

struct producer process_ends_as_producer(struct process_ends *ends)
{
    return (struct producer){.self = ends, .flush = flush_ends, .finish = flush_ends};
}

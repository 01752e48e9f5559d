#include "sample/ptrace_thread.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"

#include <fcntl.h>
#include <unistd.h>

struct ptrace_thread *ptrace_thread_new(pid_t pid, pid_t tid)
{
    struct ptrace_thread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return NULL;
    thread->pid = pid;
    thread->tid = tid;
    thread->schedstat_fd = thread->stat_fd = thread->status_fd = thread->sched_fd = -1;
    thread->stopped_slices = UINT64_MAX;
    return thread;
}

void ptrace_thread_free(struct ptrace_thread *thread)
{
    if (thread)
        ptrace_thread_close_files(thread);
    free(thread);
}

void ptrace_thread_close_files(struct ptrace_thread *thread)
{
    int *const files[] = {&thread->schedstat_fd, &thread->stat_fd, &thread->status_fd, &thread->sched_fd};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        if (*files[i] >= 0)
            close(*files[i]);
        *files[i] = -1;
    }
}

/* Reads the file from its start, and appends a NUL. */
static bool read_file(const struct ptrace_thread *thread, int *fd, const char *name, char *text, size_t size)
{
    if (*fd < 0) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)thread->pid, (int)thread->tid, name);
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    ssize_t length = *fd < 0 ? -1 : pread(*fd, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool ptrace_thread_read_schedule(struct ptrace_thread *thread, struct ptrace_schedule *schedule)
{
    char text[96], *end;
    if (!read_file(thread, &thread->schedstat_fd, "schedstat", text, sizeof(text)))
        return false;
    schedule->cpu = strtoull(text, &end, 10);
    schedule->ready = strtoull(end, &end, 10);
    schedule->slices = strtoull(end, NULL, 10);
    return true;
}

char ptrace_thread_read_state(struct ptrace_thread *thread)
{
    char text[1024];
    struct proc_stat stat;
    if (!read_file(thread, &thread->stat_fd, "stat", text, sizeof(text)) || !proc_stat_parse(text, &stat))
        return 0;
    thread->cpu = stat.cpu;
    thread->is_realtime = stat.is_realtime;
    return stat.state;
}

/* Parses "se.exec_start : 2239545.976016" (ms), the last update of the thread's CPU time, when it left the CPU. */
uint64_t ptrace_thread_read_departure(struct ptrace_thread *thread)
{
    static const char key[] = "se.exec_start";
    char text[256];
    const char *at = read_file(thread, &thread->sched_fd, "sched", text, sizeof(text)) ? strstr(text, key) : NULL;
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return 0;
    char *end;
    uint64_t ms = strtoull(at + 1, &end, 10);
    return ms * 1000000 + (*end == '.' ? strtoull(end + 1, NULL, 10) : 0);
}

bool ptrace_thread_is_asleep(char scheduler_state)
{
    return scheduler_state && !strchr("RtZX", scheduler_state);
}

void ptrace_thread_begin_stop(struct ptrace_thread *thread, uint64_t now)
{
    if (!thread->held_since)
        thread->held_since = now;
}

void ptrace_thread_skip_runnable(struct ptrace_thread *thread, uint64_t runnable)
{
    uint64_t held = monotonic_ns() - thread->held_since;
    thread->held_since += runnable < held ? runnable : held;
}

void ptrace_thread_end_stop(struct ptrace_thread *thread)
{
    if (thread->held_since)
        thread->run.held += monotonic_ns() - thread->held_since;
    thread->run.stops += thread->held_since != 0;
    thread->held_since = 0;
}

void ptrace_thread_read_preemptions(struct ptrace_thread *thread)
{
    static const char key[] = "\nnonvoluntary_ctxt_switches:";
    char text[4096];
    const char *at = read_file(thread, &thread->status_fd, "status", text, sizeof(text)) ? strstr(text, key) : NULL;
    if (at)
        thread->run.preemptions = strtoull(at + strlen(key), NULL, 10);
}

/* Returns the number of waits that have ended since the last moment. Each time slice follows a wait, a preemption, or a
 * stop by the tracer. Reads the number of preemptions, which takes 7 us, only for several time slices. */
static uint32_t count_ended_waits(struct ptrace_thread *thread, const struct ptrace_schedule *now, bool asleep)
{
    struct ptrace_run *run = &thread->run;
    uint64_t known = run->last.schedule.slices + run->stops, before = run->preemptions;
    uint64_t slices = now->slices > known ? now->slices - known : 0; /* fewer: another thread has called exec */
    if (slices > 1)
        ptrace_thread_read_preemptions(thread);
    else if (!run->last.asleep && !asleep)
        run->preemptions += slices;
    uint64_t preempted = run->preemptions > before ? run->preemptions - before : 0;
    return preempted < slices ? (uint32_t)(slices - preempted) : 0;
}

size_t ptrace_thread_add_moment(struct ptrace_thread *thread, const struct ptrace_schedule *schedule, uint64_t time,
                                bool asleep, struct ptrace_switch *switches)
{
    const struct ptrace_moment now = {
        .time = time, .schedule = *schedule, .asleep = asleep, .ended = count_ended_waits(thread, schedule, asleep)};
    if (thread->held_since) {
        thread->run.held += time > thread->held_since ? time - thread->held_since : 0;
        thread->held_since = time;
    }
    return ptrace_run_add_moment(&thread->run, &now, switches);
}

bool ptrace_thread_read_name(struct ptrace_thread *thread)
{
    char path[64], name[sizeof(thread->name) + 1];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)thread->pid, (int)thread->tid);
    if (!file_read_text(path, name, sizeof(name)))
        return false;
    name[sizeof(thread->name) - 1] = '\0';
    if (strcmp(name, thread->name) == 0)
        return false;
    memcpy(thread->name, name, sizeof(thread->name));
    return true;
}

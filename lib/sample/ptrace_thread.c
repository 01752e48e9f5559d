#include "sample/ptrace_thread.h"

#include "base/clock.h"
#include "base/file_io.h"
#include "base/file_proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ptrace_thread *ptrace_thread_new(pid_t pid, pid_t tid)
{
    struct ptrace_thread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return NULL;
    thread->pid = pid;
    thread->tid = tid;
    thread->schedstat_fd = thread->stat_fd = -1;
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
    if (thread->schedstat_fd >= 0)
        close(thread->schedstat_fd);
    if (thread->stat_fd >= 0)
        close(thread->stat_fd);
    thread->schedstat_fd = thread->stat_fd = -1;
}

/* Reads the file from its start, and ends the text with a NUL. */
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

bool ptrace_thread_schedule(struct ptrace_thread *thread, struct ptrace_schedule *schedule)
{
    char text[96], *end;
    if (!read_file(thread, &thread->schedstat_fd, "schedstat", text, sizeof(text)))
        return false;
    schedule->cpu = strtoull(text, &end, 10);
    schedule->ready = strtoull(end, &end, 10);
    schedule->slices = strtoull(end, NULL, 10);
    return true;
}

char ptrace_thread_scheduler_state(struct ptrace_thread *thread)
{
    char text[1024];
    struct proc_stat stat;
    if (!read_file(thread, &thread->stat_fd, "stat", text, sizeof(text)) || !proc_stat_parse(text, &stat))
        return 0;
    thread->cpu = stat.cpu;
    return stat.state;
}

void ptrace_thread_hold(struct ptrace_thread *thread, uint64_t now)
{
    if (!thread->held_since)
        thread->held_since = now;
}

void ptrace_thread_release(struct ptrace_thread *thread)
{
    if (thread->held_since)
        thread->run.held += monotonic_ns() - thread->held_since;
    thread->held_since = 0;
}

size_t ptrace_thread_take(struct ptrace_thread *thread, const struct ptrace_schedule *schedule, uint64_t time,
                          bool asleep, struct ptrace_switch *switches)
{
    const struct ptrace_moment now = {.time = time, .schedule = *schedule, .asleep = asleep};
    if (thread->held_since) {
        thread->run.held += time > thread->held_since ? time - thread->held_since : 0;
        thread->held_since = time;
    }
    return ptrace_run_take(&thread->run, &now, switches);
}

bool ptrace_thread_read_name(struct ptrace_thread *thread)
{
    char path[64], name[sizeof(thread->name) + 1];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)thread->pid, (int)thread->tid);
    if (!file_read_text(path, name, sizeof(name)))
        return false;
    name[strcspn(name, "\n")] = '\0';
    name[sizeof(thread->name) - 1] = '\0';
    if (strcmp(name, thread->name) == 0)
        return false;
    memcpy(thread->name, name, sizeof(thread->name));
    return true;
}

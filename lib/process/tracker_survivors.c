/* Counts and lists the processes that outlive a recording. */
#include "process/tracker.h"

#include "process/tracker_internal.h"

#include "os/file_proc.h"
#include "process/attach.h"

size_t tracker_count_processes(const struct tracker *tracker)
{
    return tracker->processes.items.length - tracker->processes.free.length;
}

size_t tracker_list_survivors(const struct tracker *tracker, char *text, size_t size)
{
    enum { LISTED = 5 };
    size_t count = 0, used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < tracker->processes.items.length; i++) {
        const struct tracked_process *process = tracker->processes.items.data[i];
        /* The EXIT record of an ended process may be missing. */
        if (!process || !proc_is_running(process->pid) || count++ >= LISTED || used >= size)
            continue;
        char name[32];
        attach_read_thread_name((pid_t)process->pid, (pid_t)process->pid, name, sizeof(name));
        used += (size_t)snprintf(text + used, size - used, "%s%s (%" PRIu32 ")", used ? ", " : "", name, process->pid);
    }
    if (count > LISTED && used < size)
        snprintf(text + used, size - used, " and %zu more", count - LISTED);
    return count;
}

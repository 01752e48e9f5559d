#include "process/command_line.h"

#include "process/attach.h"
#include "spool/info.h"
#include "process/tracked_process.h"

static const uint64_t exec_takes = 1000000000; /* ns, at most */

int command_line_read(struct spool_writer *spool, struct tracked_process *process, const char *name, uint64_t time,
                      struct error *err)
{
    pid_t pid = (pid_t)process->pid;
    bool is_there = attach_has_command(pid);
    char now[32];
    if (!is_there && time <= process->exec_without_command + exec_takes)
        return 0;
    process->exec_without_command = 0;
    attach_read_thread_name(pid, pid, now, sizeof(now));
    if (!is_there || strcmp(now, name) != 0)
        return 0;
    char **words = attach_read_command(pid);
    if (!words)
        return error_no_memory(err);
    int code = info_write_process_command(spool, process->number, words, err);
    free(words);
    return code;
}

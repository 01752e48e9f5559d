#include "record/target.h"

#include "base/array.h"
#include "process/attach.h"
#include "os/clock.h"
#include "process/launch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct target {
    const struct record_options *options;
    struct launch launch;
    uint32_t runs;
    bool is_reaped, runs_again, is_interrupted; /* is_interrupted: the command has received one SIGINT */
    uint64_t launch_clock;                      /* ns of CPU time before exec */
    struct rlimit files_limit;                  /* limit before target_change_settings() */
    struct sigaction child_action, size_action; /* actions of both signals before the first target_start() */
    bool has_limit, has_actions;
    char **running_command;
    ARRAY(uint64_t) clocks; /* ns: CPU clocks of options.pids at the start of the recording */
    ARRAY(int) pid_fds;     /* descriptors of the processes of options.pids that still run */
};

struct target *target_new(const struct record_options *options)
{
    struct target *target = calloc(1, sizeof(*target));
    if (target)
        target->options = options;
    return target;
}

void target_free(struct target *target)
{
    if (!target)
        return;
    for (size_t i = 0; i < target->pid_fds.length; i++)
        close(target->pid_fds.data[i]);
    array_free(&target->pid_fds);
    array_free(&target->clocks);
    free(target->running_command);
    free(target);
}

/* ---- settings ---- */

/* prof needs many open files for programs with many libraries, and for machines with many CPUs. The soft limit only
 * protects programs that use select(), which prof does not. */
void target_change_settings(struct target *target)
{
    static const rlim_t enough = 65536;
    struct rlimit *before = &target->files_limit;
    target->has_limit = getrlimit(RLIMIT_NOFILE, before) == 0;
    struct rlimit raised = {.rlim_cur = before->rlim_max < enough ? before->rlim_max : enough,
                            .rlim_max = before->rlim_max};
    if (target->has_limit && raised.rlim_cur > before->rlim_cur)
        setrlimit(RLIMIT_NOFILE, &raised);
    if (!target->options->argv)
        signal(SIGXFSZ, SIG_IGN);
}

static void restore_actions(const struct target *target)
{
    if (!target->has_actions)
        return;
    sigaction(SIGCHLD, &target->child_action, NULL);
    sigaction(SIGXFSZ, &target->size_action, NULL);
}

void target_restore_settings(struct target *target)
{
    restore_actions(target);
    if (target->has_limit)
        setrlimit(RLIMIT_NOFILE, &target->files_limit);
}

/* ---- the command ---- */

/* Sets the actions of two signals: an ignored SIGCHLD would not report the command's end, and SIGXFSZ would kill prof
 * at a file-size limit. The command keeps the old actions. */
int target_start(struct target *target, const char *marks_directory, bool is_traced, struct error *err)
{
    const struct record_options *options = target->options;
    const struct launch_options launch = {.argv = options->argv,
                                          .mask = options->target_mask,
                                          .files_limit = target->files_limit,
                                          .marks_directory = marks_directory,
                                          .is_traced = is_traced,
                                          .output_to_error = options->output_to_error};
    restore_actions(target);
    sigaction(SIGCHLD, NULL, &target->child_action);
    sigaction(SIGXFSZ, NULL, &target->size_action);
    target->has_actions = true;
    target->runs_again = false;
    int code = launch_fork(&target->launch, &launch, err);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    if (code)
        return code;
    target->is_reaped = false;
    target->runs++;
    return 0;
}

int target_exec_command(struct target *target, struct error *err)
{
    return launch_exec(&target->launch, target->options->argv[0], err);
}

void target_cancel(struct target *target)
{
    launch_cancel(&target->launch);
}

bool target_reap(struct target *target, int *status, struct rusage *usage)
{
    return wait4(target->launch.pid, status, WNOHANG, usage) == target->launch.pid;
}

bool target_has_ended(const struct target *target)
{
    siginfo_t info = {0};
    return target->options->argv && !target->is_reaped &&
           !waitid(P_PID, (id_t)target->launch.pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

bool target_note_end(struct target *target, int status)
{
    target->is_reaped = true;
    target->runs_again = status == 0 && !target->is_interrupted && target->runs < target->options->control.iterations;
    return target->runs_again;
}

bool target_interrupt(struct target *target, bool from_terminal)
{
    if (target->is_interrupted || !target->options->argv)
        return false;
    target->is_interrupted = true;
    if (!from_terminal)
        kill(target->launch.pid, SIGINT);
    return true;
}

uint64_t target_note_launch_clock(struct target *target)
{
    uint64_t clock = process_read_clock_ns((uint32_t)target->launch.pid);
    target->launch_clock += clock;
    return clock;
}

/* ---- processes that run already ---- */

int target_attach(struct target *target, struct error *err)
{
    target->running_command = attach_read_command(target->options->pids[0]);
    return target->running_command ? 0 : error_no_memory(err);
}

int target_read_clocks(struct target *target, struct error *err)
{
    for (size_t i = 0; i < target->options->pid_count; i++)
        if (!array_push(&target->clocks, process_read_clock_ns((uint32_t)target->options->pids[i])))
            return error_no_memory(err);
    return 0;
}

uint64_t target_get_clock(const struct target *target, size_t i)
{
    return target->clocks.data[i];
}

int target_watch(struct target *target, pid_t pid, struct error *err)
{
    int fd = attach_watch(pid, err);
    if (fd < 0 || array_push(&target->pid_fds, fd))
        return fd;
    close(fd);
    return error_no_memory(err);
}

/* Runs at normal priority: see scheduling.h. */
bool target_handle_end(struct target *target, int fd)
{
    for (size_t i = 0; i < target->pid_fds.length; i++) {
        if (target->pid_fds.data[i] != fd)
            continue;
        close(fd);
        target->pid_fds.data[i] = target->pid_fds.data[--target->pid_fds.length];
        return !target->pid_fds.length;
    }
    return false;
}

/* ---- state ---- */

pid_t target_get_pid(const struct target *target)
{
    return target->launch.pid;
}

bool target_is_reaped(const struct target *target)
{
    return target->is_reaped;
}

bool target_is_to_run_again(const struct target *target)
{
    return target->runs_again;
}

uint32_t target_count_runs(const struct target *target)
{
    return target->runs;
}

char *const *target_command(const struct target *target)
{
    return target->options->argv ? target->options->argv : target->running_command;
}

uint64_t target_get_launch_clock(const struct target *target)
{
    return target->launch_clock;
}

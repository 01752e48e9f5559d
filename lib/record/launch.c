#include "record/launch.h"

#include "base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0, or a positive errno value that says why this file cannot be run. */
static int check_file(const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

/* Searches as execvp() does: a file that is not executable does not end the search, but its EACCES is the result if no
 * other file is found. */
static int check_search_path(const char *program)
{
    const char *search = getenv("PATH");
    int code = ENOENT;
    if (!search)
        search = "/bin:/usr/bin";
    for (const char *at = search;; at++) {
        size_t length = strcspn(at, ":");
        char path[4096];
        int used = snprintf(path, sizeof(path), "%.*s%s%s", (int)length, at, length ? "/" : "", program);
        if (used > 0 && (size_t)used < sizeof(path)) {
            int found = check_file(path);
            if (!found)
                return 0;
            if (found == EACCES)
                code = EACCES;
        }
        at += length;
        if (!*at)
            return code;
    }
}

int launch_check(const char *program, struct error *err)
{
    bool is_path = strchr(program, '/');
    int code = is_path ? check_file(program) : check_search_path(program);
    if (code == 0)
        return 0;
    if (code == ENOENT && !is_path && check_file(program) == 0)
        return error_set(err, ENOENT, "%s: command not found; for the file of this folder write ./%s", program,
                         program);
    if (code == ENOENT || code == ENOTDIR)
        return error_set(err, ENOENT, "%s: %s", program, is_path ? "no such file" : "command not found");
    if (code == EISDIR)
        return error_set(err, EACCES, "%s is a folder, not a program", program);
    if (code == EACCES)
        return error_set(err, EACCES, "%s is not executable for you", program);
    return error_set(err, code, "cannot run %s: %s", program, strerror(code));
}

/* Our environment, in which the variable of `setting` ("NAME=value") has this value; NULL if memory ran out. The
 * strings stay where they are. */
static char **make_environment(char *setting)
{
    size_t count = 0, name_length = strcspn(setting, "=") + 1, used = 0;
    while (environ && environ[count])
        count++;
    char **environment = malloc((count + 2) * sizeof(*environment));
    for (size_t i = 0; environment && i < count; i++)
        if (strncmp(environ[i], setting, name_length) != 0)
            environment[used++] = environ[i];
    if (environment) {
        environment[used++] = setting;
        environment[used] = NULL;
    }
    return environment;
}

/* Only calls that are safe between fork and exec: another thread may have held the lock of malloc or of the environment
 * at the fork. */
static void run_child(const struct launch_options *options, char **environment, int go_fd, int error_fd)
{
    char go;
    if (file_read(go_fd, &go, 1) != 1)
        _exit(127);
    sigprocmask(SIG_SETMASK, options->mask, NULL);
    setrlimit(RLIMIT_NOFILE, &options->files_limit);
    environ = environment; /* execvp() searches PATH in it */
    execvp(options->argv[0], options->argv);
    int code = errno;
    file_write(error_fd, &code, sizeof(code));
    _exit(127);
}

int launch_fork(struct launch *launch, const struct launch_options *options, struct error *err)
{
    int go[2] = {-1, -1}, error[2] = {-1, -1};
    pid_t pid = -1;
    char setting[PATH_MAX + 16], **made = NULL;
    if (options->marks_folder) {
        snprintf(setting, sizeof(setting), "PROF_MARKS=%s", options->marks_folder);
        made = make_environment(setting);
        if (!made)
            return error_no_memory(err);
    }
    if (pipe2(go, O_CLOEXEC) == 0 && pipe2(error, O_CLOEXEC) == 0)
        pid = fork();
    int code = errno;
    if (pid == 0) {
        close(go[1]);
        close(error[0]);
        if (options->output_to_error)
            dup2(STDERR_FILENO, STDOUT_FILENO);
        run_child(options, made ? made : environ, go[0], error[1]);
    }
    free(made);
    if (go[0] >= 0)
        close(go[0]);
    if (error[1] >= 0)
        close(error[1]);
    *launch = (struct launch){.pid = pid, .go_fd = go[1], .error_fd = error[0]};
    if (pid > 0)
        return 0;
    if (go[1] >= 0)
        close(go[1]);
    if (error[0] >= 0)
        close(error[0]);
    return error_set(err, code, "cannot start a process: %s", strerror(code));
}

int launch_exec(struct launch *launch, const char *program, struct error *err)
{
    int code = 0;
    file_write(launch->go_fd, "g", 1);
    close(launch->go_fd);
    bool has_code = file_read(launch->error_fd, &code, sizeof(code)) == sizeof(code); /* exec closes the pipe */
    close(launch->error_fd);
    if (!has_code)
        return 0;
    waitpid(launch->pid, NULL, 0);
    if (code == EACCES)
        return error_set(err, code, "cannot run %s: permission denied (the file or its interpreter is not executable)",
                         program);
    return error_set(err, code, "cannot run %s: %s", program, strerror(code));
}

void launch_cancel(struct launch *launch)
{
    close(launch->go_fd);
    close(launch->error_fd);
    waitpid(launch->pid, NULL, 0);
}

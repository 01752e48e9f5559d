#include "process/launch.h"

#include "os/file_io.h"
#include "process/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns advice on a command that needs a shell, or NULL if it needs none. */
static const char *advise_shell(const char *program)
{
    size_t name = strspn(program, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (name && program[name] == '=')
        return "to set a variable for the command, put 'env' before it: prof record env NAME=value command";
    if (strpbrk(program, " |&;<>$*\t\n"))
        return "to run a shell command line: prof record sh -c 'command line'";
    return NULL;
}

int launch_check_program(const char *program, struct error *err)
{
    char path[PATH_MAX];
    struct stat info;
    bool is_path = strchr(program, '/');
    int code = program_file_find(program, path);
    if (code == 0)
        return 0;
    if (code == ENOENT && !is_path && stat(program, &info) == 0 && S_ISREG(info.st_mode) && access(program, X_OK) == 0)
        return error_set(err, ENOENT, "%s: command not found; to run the file in the current directory: ./%s", program,
                         program);
    if (code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG) {
        const char *advice = advise_shell(program);
        return error_set(err, ENOENT, "%.300s: %s%s%s", program, is_path ? "no such file" : "command not found",
                         advice ? "; " : "", advice ? advice : "");
    }
    if (code == EISDIR)
        return error_set(err, EACCES, "%s is a directory, not a program", program);
    if (code == EACCES)
        return error_set(err, EACCES, "this user may not execute %s", program);
    return error_set(err, code, "cannot run %s: %s", program, strerror(code));
}

/* Adds "NAME=value" to an environment, or replaces its value. The environment has room. */
static void set_variable(char **environment, char *setting)
{
    size_t name_length = strcspn(setting, "=") + 1, i = 0;
    while (environment[i] && strncmp(environment[i], setting, name_length) != 0)
        i++;
    if (!environment[i])
        environment[i + 1] = NULL;
    environment[i] = setting;
}

/* Returns prof's environment with these settings, or NULL if memory ran out. The result points to the given strings. */
static char **make_environment(char *const *settings, size_t setting_count)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **environment = calloc(count + setting_count + 1, sizeof(*environment));
    for (size_t i = 0; environment && i < count; i++)
        environment[i] = environ[i];
    for (size_t i = 0; environment && i < setting_count; i++)
        set_variable(environment, settings[i]);
    return environment;
}

/* Runs in the forked child until exec. Makes only calls that are safe there: another thread may have held the lock of
 * malloc or of the environment at the fork. */
static void run_child(const struct launch_options *options, char **environment, int go_fd, int error_fd)
{
    char go;
    if (file_read(go_fd, &go, 1) != 1)
        _exit(127);
    sigprocmask(SIG_SETMASK, options->mask, NULL);
    setrlimit(RLIMIT_NOFILE, &options->files_limit);
    environ = environment; /* execvp() searches the PATH of this environment */
    execvp(options->argv[0], options->argv);
    int code = errno;
    file_write(error_fd, &code, sizeof(code));
    _exit(127);
}

int launch_fork(struct launch *launch, const struct launch_options *options, struct error *err)
{
    int go[2] = {-1, -1}, error[2] = {-1, -1};
    pid_t pid = -1;
    char marks[PATH_MAX + 16], leaks[PATH_MAX], *settings[2], **made = NULL;
    size_t setting_count = 0;
    if (options->marks_directory) {
        snprintf(marks, sizeof(marks), "PROF_MARKS=%s", options->marks_directory);
        settings[setting_count++] = marks;
    }
    if (options->is_traced) {
        const char *before = getenv("LSAN_OPTIONS");
        int length =
            snprintf(leaks, sizeof(leaks), "LSAN_OPTIONS=%s%sdetect_leaks=0", before ? before : "", before ? ":" : "");
        if (length < (int)sizeof(leaks))
            settings[setting_count++] = leaks;
    }
    if (setting_count) {
        made = make_environment(settings, setting_count);
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

/* The program exists: launch_check_program() found it. */
static int explain_failure(const char *program, int code, struct error *err)
{
    char path[PATH_MAX], interpreter[PATH_MAX];
    struct stat info;
    bool has_interpreter =
        !program_file_find(program, path) && program_file_find_interpreter(path, interpreter, sizeof(interpreter));
    size_t length = has_interpreter ? strlen(interpreter) : 0;
    if (code == ENOENT && length && interpreter[length - 1] == '\r') {
        interpreter[length - 1] = '\0';
        return error_set(
            err, code,
            "cannot run %.300s: its first line ends with a carriage return, so the kernel searches for '%.200s\\r'; save it with the line ends of Unix",
            program, interpreter);
    }
    if (code == ENOENT && has_interpreter && stat(interpreter, &info))
        return error_set(err, code, "cannot run %.300s: its interpreter %.300s does not exist", program, interpreter);
    if (code == EACCES && has_interpreter && access(interpreter, X_OK))
        return error_set(err, code, "cannot run %.300s: its interpreter %.300s is not executable", program,
                         interpreter);
    return error_set(err, code, "cannot run %s: %s", program, strerror(code));
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
    return explain_failure(program, code, err);
}

void launch_cancel(struct launch *launch)
{
    close(launch->go_fd);
    close(launch->error_fd);
    waitpid(launch->pid, NULL, 0);
}

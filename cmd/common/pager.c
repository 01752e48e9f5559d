#include "cmd/common/pager.h"

#include "cmd/common/ui.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Process ID of the pager, for signal handlers, or 0 if no pager runs. */
static volatile pid_t pager;

static void wait_for_pager(void)
{
    waitpid(pager, NULL, 0); /* signal() makes the kernel restart waitpid() after a signal */
}

/* Ctrl+C reaches prof and the pager, and the pager continues. prof waits for the pager: otherwise the shell would take
 * the terminal back. */
static void wait_and_die(int signal_number)
{
    close(STDOUT_FILENO);
    wait_for_pager();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Handles SIGPIPE: the user has quit the pager. */
static void wait_and_exit(int signal_number)
{
    (void)signal_number;
    wait_for_pager();
    _exit(EXIT_SUCCESS);
}

/* Splits the value at blanks. Returns the number of words in `words`. */
static size_t split_words(char *value, char **words, size_t most)
{
    size_t count = 0;
    char *rest = value;
    for (char *word; count + 1 < most && (word = strtok_r(rest, " \t", &rest));)
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static const char *choose_pager(void)
{
    const char *value = getenv("PROF_PAGER");
    if (!value)
        value = getenv("PAGER");
    return value ? value : "less";
}

static const int deadly_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { DEADLY_SIGNALS = sizeof(deadly_signals) / sizeof(*deadly_signals) };

/* Starts the pager with the read end of a pipe as its input, and with the signal mask `mask`. Returns 0 or an errno
 * value. */
static int start_pager(char *const *words, int input, const sigset_t *mask, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!code)
        code = posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Starts the pager, redirects standard output to its input, installs the signal handlers, and closes both ends of the
 * pipe. Blocks the signals meanwhile: while prof holds the write end open, the pager's input has no end, and a handler
 * would wait for the pager forever. */
static int start_pager_and_redirect(char *const *words, const int *ends)
{
    sigset_t deadly, mask;
    pid_t pid;
    sigemptyset(&deadly);
    for (size_t i = 0; i < DEADLY_SIGNALS; i++)
        sigaddset(&deadly, deadly_signals[i]);
    sigprocmask(SIG_BLOCK, &deadly, &mask);
    int code = start_pager(words, ends[0], &mask, &pid);
    if (!code) {
        fflush(stdout);
        dup2(ends[1], STDOUT_FILENO);
        pager = pid;
        signal(SIGPIPE, wait_and_exit);
        for (size_t i = 0; i < DEADLY_SIGNALS; i++)
            signal(deadly_signals[i], wait_and_die);
    }
    close(ends[0]);
    close(ends[1]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return code;
}

void pager_start(void)
{
    enum { MOST_WORDS = 32 };
    char *words[MOST_WORDS], *value = isatty(STDOUT_FILENO) ? strdup(choose_pager()) : NULL;
    int ends[2];
    if (!value || split_words(value, words, MOST_WORDS) == 0 || strcmp(words[0], "cat") == 0 ||
        pipe2(ends, O_CLOEXEC)) {
        free(value);
        return;
    }
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    int code = start_pager_and_redirect(words, ends);
    if (code && (code != ENOENT || strcmp(words[0], "less") != 0)) /* less may not be installed */
        ui_print_message("cannot start the pager %s: %s", words[0], strerror(code));
    free(value);
}

void pager_wait(void)
{
    if (!pager)
        return;
    fclose(stdout);
    wait_for_pager();
    pager = 0;
}

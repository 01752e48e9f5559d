#include "cmd/common/companion.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPANION_NICE = 10 }; /* at 19, busy programs would delay a profile by minutes */

/* Runs at low priority, after the recorder and the target. Ctrl+C also sends SIGINT to this process, but the recorder
 * decides when to end it. */
static _Noreturn void run_companion(int (*run)(void *context, int socket), void *context, int socket)
{
    const struct sched_param normal = {0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sched_setscheduler(0, SCHED_OTHER, &normal);
    setpriority(PRIO_PROCESS, 0, COMPANION_NICE);
    _exit(run(context, socket));
}

int companion_start(struct companion **out, int (*run)(void *context, int socket), void *context, const char *purpose,
                    struct error *err)
{
    int ends[2];
    struct companion *companion = calloc(1, sizeof(*companion));
    *out = NULL;
    if (!companion)
        return error_no_memory(err);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        free(companion);
        return error_set(err, errno, "cannot %s: %s", purpose, strerror(errno));
    }
    fflush(NULL);
    pid_t pid = fork();
    int reason = errno;
    if (pid == 0) {
        close(ends[0]);
        run_companion(run, context, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        free(companion);
        return error_set(err, reason, "cannot start a process to %s: %s", purpose, strerror(reason));
    }
    *companion = (struct companion){pid, ends[0]};
    *out = companion;
    return 0;
}

void companion_end(struct companion *companion)
{
    if (!companion)
        return;
    close(companion->socket);
    while (waitpid(companion->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(companion);
}

/*
 * A process that runs beside the recorder: the live page (cmd/live.h), or the pusher (cmd/push/push_windows.h). The
 * process shares only the spool file and one socket with the recorder.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct companion {
    pid_t pid;
    int socket; /* the recorder's end, of type SOCK_SEQPACKET */
};

/* Starts a process of low priority, with all signals blocked, that exits with the result of run(context, socket).
 * `purpose` ends the sentence of an error: "push profiles". The caller frees *out, which is NULL after a failure. */
int companion_start(struct companion **out, int (*run)(void *context, int socket), void *context, const char *purpose,
                    struct error *err);

/* Closes the socket, waits for the end of the process, and frees the companion. NULL is allowed. */
void companion_end(struct companion *companion);

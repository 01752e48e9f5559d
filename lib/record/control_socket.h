/*
 * The socket over which `prof ctl` reaches a recording: PID.sock in a folder that only its user may enter. A request is
 * a line, "pause", "resume", "mark TEXT", "snapshot", "stop", "status"; the answer is one line, "ok TEXT" or "error
 * TEXT". Nobody else than the user of the recorder and root gets an answer.
 *
 * Threads: the recorder thread; the functions of paths may be called from any.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct recording;
struct control_socket;

enum { CONTROL_LINE = 1024, CONTROL_ANSWER_SIZE = 512 }; /* bytes of the longest request and answer */

enum { CONTROL_FOLDERS = 2, CONTROL_PATH_SIZE = 108 };

/* The folders where sockets may be, the preferred one first: $XDG_RUNTIME_DIR/prof, $TMPDIR/prof-UID or
 * /tmp/prof-UID. Empty where there is
 * none. They may not exist. */
void control_socket_folders(char folders[CONTROL_FOLDERS][CONTROL_PATH_SIZE]);

/* Whether it is a folder of this user, and nobody else may enter it. */
bool control_socket_is_private(const char *folder);

/* Whether one of these exists and is not used; `text`: which, why, and what to do. */
bool control_socket_find_problem(char *text, size_t size);

/* *out NULL if the socket cannot be made: the recording does without. */
int control_socket_open(struct control_socket **out, struct recording *recording, struct error *err);

int control_socket_fd(const struct control_socket *socket); /* becomes readable (poll) when there is something to do */
int control_socket_serve(struct control_socket *socket, struct recording *recording, struct error *err);

/* Removes the socket. NULL is allowed. */
void control_socket_close(struct control_socket *socket);

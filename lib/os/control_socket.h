/*
 * `prof ctl` controls a recording through the socket PID.sock in a directory that only this user may enter. A request
 * is one line: "pause", "resume", "mark TEXT", "snapshot", "stop" or "status". The answer is one line: "ok TEXT" or
 * "error TEXT". Only the recorder's user and root get an answer.
 *
 * Threads: the recorder thread. Any thread may call the functions that only handle paths.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct control_socket;

enum { CONTROL_LINE = 1024, CONTROL_ANSWER_SIZE = 512 }; /* bytes of the longest request and answer */

struct control_request {
    char *verb, *text; /* text: "" without one */
    int client;        /* descriptor of the connection */
    char answer[CONTROL_ANSWER_SIZE];
    bool failed, answers_later; /* answers_later: the handler sends the answer */
};

struct control_handler {
    /* Carries out a request and fills in the answer. Fails only if the recording must end. */
    int (*take)(void *context, struct control_request *request, struct error *err);
    void *context;
};

enum { CONTROL_DIRECTORIES = 2, CONTROL_PATH_SIZE = 108 };

/* Writes the possible directories of sockets, the preferred directory first: $XDG_RUNTIME_DIR/prof ("" without
 * $XDG_RUNTIME_DIR), then $TMPDIR/prof-UID or /tmp/prof-UID. They may not exist. */
void control_socket_list_directories(char directories[CONTROL_DIRECTORIES][CONTROL_PATH_SIZE]);

/* Whether the directory belongs to this user, and only this user may enter it. */
bool control_socket_is_private(const char *directory);

/* Whether a directory of sockets exists but is not private. `text` receives the directory, the reason, and the
 * remedy. */
bool control_socket_find_problem(char *text, size_t size);

/* **out is NULL if the socket cannot be created: the recording continues without a socket. */
int control_socket_open(struct control_socket **out, struct error *err);

/* Returns a descriptor for poll(), which is readable when a request has arrived. */
int control_socket_get_fd(const struct control_socket *socket);
/* Accepts clients, and passes each request to the handler. */
int control_socket_serve(struct control_socket *socket, const struct control_handler *handler, struct error *err);

/* Removes the socket. Accepts NULL. */
void control_socket_close(struct control_socket *socket);

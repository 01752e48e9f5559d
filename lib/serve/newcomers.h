/*
 * Connections that have not shown the token yet. Every user of the machine can open connections, and the server accepts
 * a limited number. So newcomers have a limit of their own: one above it closes the oldest. A browser sends its request
 * at once, and is a newcomer for less than a millisecond. Idle connections of strangers are closed, and never displace
 * a connection that has shown the token.
 *
 * All functions are called by the thread of libmicrohttpd that serves the connections.
 */
#pragma once

#include "serve/http_library.h"

#include <stddef.h>

enum {
    NEWCOMERS_MAX = 32,
    NEWCOMER_SECONDS = 5, /* until a silent newcomer is closed */
};

struct newcomer {
    int socket;
    struct newcomer *older, *newer;
};

/* Starts zeroed. It is empty again when all connections have been closed. */
struct newcomers {
    struct newcomer *oldest, *newest;
    size_t count;
};

/* For MHD_OPTION_NOTIFY_CONNECTION with a struct newcomers: takes in a new connection, and forgets a closed one. */
void newcomers_notify(void *newcomers, struct MHD_Connection *connection, void **kept,
                      enum MHD_ConnectionNotificationCode what);

/* The connection has shown the token: it is no newcomer any more, and may be idle for `seconds`. */
void newcomers_promote(struct newcomers *newcomers, struct MHD_Connection *connection, unsigned seconds);

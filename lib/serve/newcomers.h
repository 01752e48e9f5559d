/*
 * Newcomers: connections that have not sent the token yet. Every user of the machine can open connections, and the
 * server accepts a limited number. So newcomers have their own limit: a new connection above the limit closes the
 * oldest newcomer. A browser sends its request at once, and is a newcomer for less than a millisecond. The server
 * closes idle newcomers, and newcomers never displace a connection that has sent the token.
 *
 * Threads: libmicrohttpd's thread calls all functions.
 */
#pragma once

#include "serve/http_library.h"

enum {
    NEWCOMERS_MAX = 32,
    NEWCOMER_SECONDS = 5, /* seconds until the server closes a silent newcomer */
};

struct newcomer {
    int socket;
    struct newcomer *older, *newer;
};

/* Starts zeroed. The list is empty again after all connections have closed. */
struct newcomers {
    struct newcomer *oldest, *newest;
    size_t count;
};

/* Callback for MHD_OPTION_NOTIFY_CONNECTION, with a struct newcomers as context: adds new connections to the list, and
 * removes closed ones. */
void newcomers_handle_connection(void *newcomers, struct MHD_Connection *connection, void **kept,
                                 enum MHD_ConnectionNotificationCode what);

/* Removes a connection that has sent the token from the newcomers, and sets its idle timeout to `seconds`. */
void newcomers_mark_served(struct newcomers *newcomers, struct MHD_Connection *connection, unsigned seconds);

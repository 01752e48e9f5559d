#include "serve/newcomers.h"

#include <sys/socket.h>

/* Removes a connection from the list, and sets its socket to -1. Other connections already have -1. */
static void remove_connection(struct newcomers *newcomers, struct newcomer *newcomer)
{
    if (newcomer->socket < 0)
        return;
    *(newcomer->older ? &newcomer->older->newer : &newcomers->oldest) = newcomer->newer;
    *(newcomer->newer ? &newcomer->newer->older : &newcomers->newest) = newcomer->older;
    newcomer->socket = -1;
    newcomers->count--;
}

static struct newcomer *add_connection(struct newcomers *newcomers, int socket)
{
    struct newcomer *newcomer = calloc(1, sizeof(*newcomer));
    if (!newcomer)
        return NULL;
    newcomer->socket = socket;
    newcomer->older = newcomers->newest;
    *(newcomers->newest ? &newcomers->newest->newer : &newcomers->oldest) = newcomer;
    newcomers->newest = newcomer;
    newcomers->count++;
    return newcomer;
}

/* Closes the oldest newcomer. libmicrohttpd closes a connection after shutdown(), as if the client had ended it. */
static void close_oldest(struct newcomers *newcomers)
{
    shutdown(newcomers->oldest->socket, SHUT_RDWR);
    remove_connection(newcomers, newcomers->oldest);
}

void newcomers_handle_connection(void *newcomers, struct MHD_Connection *connection, void **kept,
                                 enum MHD_ConnectionNotificationCode what)
{
    struct newcomers *all = newcomers;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int socket = microhttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *kept = add_connection(all, socket);
        if (!*kept)
            shutdown(socket, SHUT_RDWR);
        if (all->count > NEWCOMERS_MAX)
            close_oldest(all);
    } else if (*kept) {
        remove_connection(all, *kept);
        free(*kept);
        *kept = NULL;
    }
}

void newcomers_mark_served(struct newcomers *newcomers, struct MHD_Connection *connection, unsigned seconds)
{
    struct newcomer *newcomer =
        microhttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (!newcomer || newcomer->socket < 0)
        return;
    remove_connection(newcomers, newcomer);
    microhttpd.MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

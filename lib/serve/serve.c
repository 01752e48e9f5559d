/*
 * Starts and stops the server, on libmicrohttpd. requests.c answers requests.
 *
 * One thread serves all connections: it sends from memory or from the page cache, and decompresses a profile in chunks.
 * The symbol API, which reads debug info, has a worker thread (post.h).
 */
#include "serve/serve.h"

#include "serve/requests.h"
#include "serve/serve_directory.h"
#include "serve/served_profile.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS = 64 + NEWCOMERS_MAX, /* concurrent connections; a browser opens about six */
    CONNECTION_MEMORY = 262144,       /* bytes for the request's line and headers, and for a chunk of the answer */
    LISTEN_BACKLOG = 64,
};

/* Opens a listening socket on this port of 127.0.0.1. Returns the descriptor of the socket, or a negative errno
 * value. */
static int listen_on(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1; /* old connections of a stopped server do not block the port */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    int code = -errno;
    close(fd);
    return code;
}

static int listen_on_first_free(struct server *server, struct error *err)
{
    uint32_t first = server->options.port, last = server->options.search_port ? UINT16_MAX : first;
    int fd = server->options.first_choice ? listen_on(server->options.first_choice) : -EADDRINUSE;
    if (fd < 0)
        fd = -EADDRINUSE;
    for (uint32_t port = first; port <= last && (fd == -EADDRINUSE || fd == -EACCES); port++)
        fd = listen_on((uint16_t)port);
    if (fd == -EADDRINUSE)
        return error_set(err, EADDRINUSE, "cannot serve: port %u is taken; -P %u+ uses the next free port", first,
                         first);
    if (fd == -EACCES)
        return error_set(err, EACCES, "cannot serve: only root may use port %u; use a port above 1023", first);
    if (fd < 0)
        return error_set(err, -fd, "cannot serve on 127.0.0.1: %s", strerror(-fd));
    return fd;
}

/* Returns the port of a listening socket, or a negative errno value. */
static int get_port(int fd, struct error *err)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return error_set(err, errno, "cannot serve on 127.0.0.1: %s", strerror(errno));
    return ntohs(address.sin_port);
}

/* Starts to serve on a socket. On success, the server owns the socket. */
static int start_on_socket(struct server *server, int fd, struct error *err)
{
    int port = get_port(fd, err);
    int code = port < 0 ? port : own_address_init(&server->own, (uint16_t)port, server->options.token, err);
    if (code)
        return code;
    server->daemon = microhttpd.MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, requests_handle, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, requests_free, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        newcomers_handle_connection, &server->newcomers, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)NEWCOMER_SECONDS, MHD_OPTION_END);
    return server->daemon ? 0 : error_set(err, errno ? errno : EIO, "cannot start the web server: %s", strerror(errno));
}

static int start_daemon(struct server *server, struct error *err)
{
    int fd = listen_on_first_free(server, err);
    int code = fd < 0 ? fd : start_on_socket(server, fd, err);
    if (fd >= 0 && code)
        close(fd);
    return code;
}

static int open_directory(struct server *server, struct error *err)
{
    if (!server->options.directory)
        return 0;
    server->directory = served_directory_open(server->options.directory, err);
    return server->directory < 0 ? server->directory : 0;
}

int serve_start(struct server **out, const struct serve_options *options, int profile_fd, struct error *err)
{
    struct server *server = calloc(1, sizeof(*server));
    *out = NULL;
    if (!server) {
        close(profile_fd);
        return error_no_memory(err);
    }
    server->options = *options;
    server->directory = -1;
    live_init(&server->live);
    pthread_mutex_init(&server->profile_lock, NULL);
    server->profile.is_live = options->is_live;
    served_profile_set_added(&server->profile, options->added);
    int code = served_profile_open(&server->profile, profile_fd, err);
    if (!code)
        code = http_library_load(err);
    if (!code)
        code = open_directory(server, err);
    if (!code)
        code = post_worker_start(&server->worker, server->profile.fd, options, err);
    if (!code)
        code = start_daemon(server, err);
    if (code)
        serve_stop(server);
    else
        *out = server;
    return code;
}

void serve_live_publish(struct server *server, int profile_fd, const struct serve_added *added, const char *state,
                        bool goes_on)
{
    struct served_profile profile = {.is_live = goes_on, .added_fd = -1};
    struct error ignored;
    if (profile_fd >= 0)
        served_profile_set_added(&profile, added);
    if (profile_fd >= 0 && served_profile_open(&profile, profile_fd, &ignored)) {
        close(profile_fd);
        if (profile.added_fd >= 0)
            close(profile.added_fd);
    } else if (profile_fd >= 0) {
        served_profile_replace(server, &profile);
    }
    live_publish(&server->live, state);
}

void serve_send_heartbeat(struct server *server)
{
    live_send_heartbeat(&server->live);
}

unsigned serve_count_pages(struct server *server)
{
    return live_count_pages(&server->live);
}

const char *serve_get_url(const struct server *server)
{
    return server->own.url;
}

uint16_t serve_get_port(const struct server *server)
{
    return server->own.port;
}

void serve_stop(struct server *server)
{
    if (!server)
        return;
    if (server->worker)
        post_worker_end(server->worker);
    live_end(&server->live);
    if (server->daemon)
        microhttpd.MHD_stop_daemon(server->daemon);
    post_worker_free(server->worker);
    close(server->profile.fd);
    if (server->profile.added_fd >= 0)
        close(server->profile.added_fd);
    if (server->has_changed)
        close(server->first_fd);
    live_destroy(&server->live);
    pthread_mutex_destroy(&server->profile_lock);
    if (server->directory >= 0)
        close(server->directory);
    free(server);
}

/*
 * The server, on libmicrohttpd. A profile tells a lot about a machine (paths, programs, arguments), and a web server on
 * localhost can be reached by every user of the machine and by every web page that the user has open. So a request is
 * answered only if all of this holds:
 *
 *   - it came to 127.0.0.1, which is all that is listened on;
 *   - its Host is the address that was printed: a name of an attacker's that resolves to 127.0.0.1 (DNS rebinding)
 *     is not;
 *   - it has no Origin, or the own one: no other web page sends it;
 *   - its path begins with the token, 120 random bits that only the printed address has; compared in constant time, and
 *     every other path gets the same answer, so that nothing can be guessed step by step.
 *
 * Headers are limited to a few KiB, connections in number and idle time. Nothing is written, and no path of a request
 * ever becomes the name of a file: it is looked up in the table of assets and in the table of routes.
 *
 * One thread serves all connections: what it sends lies in memory or in the page cache.
 */
#include "serve/serve.h"

#include "serve/answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TOKEN_LENGTH = 24,         /* of 5 bits each */
    CONNECTIONS = 64,          /* at a time; a browser opens about six */
    CONNECTION_MEMORY = 16384, /* bytes for the request's line and headers */
    IDLE_SECONDS = 60,         /* until a silent connection is closed */
    LISTEN_BACKLOG = 64,
};

struct server {
    struct MHD_Daemon *daemon;
    struct serve_options options;
    struct served_profile profile;
    char token[TOKEN_LENGTH + 1];
    char hosts[2][32]; /* the values of Host that are answered */
    char url[96];
};

/* ---- requests ---- */

static enum MHD_Result serve_profile(struct server *server, struct MHD_Connection *connection)
{
    return answer_profile(connection, &server->profile);
}

/* What lies at a path below the token, besides the assets. A HEAD request is a GET of which libmicrohttpd sends no
 * body. */
static const struct route {
    const char *path, *method;
    enum MHD_Result (*answer)(struct server *server, struct MHD_Connection *connection);
} routes[] = {
    {"profile.json", MHD_HTTP_METHOD_GET, serve_profile},
};

static const struct route *route_find(const char *path)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
        if (!strcmp(routes[i].path, path))
            return &routes[i];
    }
    return NULL;
}

static const struct serve_asset *asset_find(const struct server *server, const char *path)
{
    for (size_t i = 0; i < server->options.asset_count; i++) {
        if (!strcmp(server->options.assets[i].path, path))
            return &server->options.assets[i];
    }
    return NULL;
}

static bool is_own_host(const struct server *server, const char *host)
{
    return host && (!strcasecmp(host, server->hosts[0]) || !strcasecmp(host, server->hosts[1]));
}

static bool is_own_origin(const struct server *server, const char *origin)
{
    static const char scheme[] = "http://";
    return !strncmp(origin, scheme, strlen(scheme)) && is_own_host(server, origin + strlen(scheme));
}

/* What follows the token in `url` ("" or "/..."), or NULL if it is not there. Takes the same time for every wrong one.
 */
static const char *path_after_token(const struct server *server, const char *url)
{
    if (strlen(url) < 1 + TOKEN_LENGTH)
        return NULL;
    unsigned difference = (unsigned char)url[0] ^ '/';
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)url[1 + i] ^ (unsigned char)server->token[i];
    const char *rest = url + 1 + TOKEN_LENGTH;
    return difference == 0 && (*rest == '\0' || *rest == '/') ? rest : NULL;
}

static bool method_fits(const char *method, const char *wanted)
{
    return !strcmp(method, wanted) || (!strcmp(method, MHD_HTTP_METHOD_HEAD) && !strcmp(wanted, MHD_HTTP_METHOD_GET));
}

static enum MHD_Result answer_path(struct server *server, struct MHD_Connection *connection, const char *path,
                                   const char *method)
{
    const struct route *route = route_find(path);
    const struct serve_asset *asset = route ? NULL : asset_find(server, path);
    if (!route && !asset)
        return answer_status(connection, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
    const char *wanted = route ? route->method : MHD_HTTP_METHOD_GET;
    if (!method_fits(method, wanted))
        return answer_wrong_method(connection, strcmp(wanted, MHD_HTTP_METHOD_GET) ? wanted : "GET, HEAD");
    return route ? route->answer(server, connection) : answer_asset(connection, asset);
}

/* libmicrohttpd's handler of requests: called when the headers are there and again when the body is. A request that may
 * not have a body waits for the second call, because an answer to the first one makes libmicrohttpd close the
 * connection; that suits the others, because no route takes a body yet. */
static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *body, size_t *body_size,
                                      void **request)
{
    (void)version, (void)body;
    *body_size = 0;
    struct server *server = context;
    if (!*request && method_fits(method, MHD_HTTP_METHOD_GET)) {
        *request = server;
        return MHD_YES;
    }
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    if (!is_own_host(server, host))
        return answer_status(connection, MHD_HTTP_FORBIDDEN,
                             "This server answers only to the address that prof printed.\n");
    if (origin && !is_own_origin(server, origin))
        return answer_status(connection, MHD_HTTP_FORBIDDEN, "Other web pages are not answered.\n");
    const char *rest = path_after_token(server, url);
    if (!rest)
        return answer_status(connection, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
    if (*rest == '\0') {
        char with_slash[TOKEN_LENGTH + 3];
        snprintf(with_slash, sizeof(with_slash), "/%s/", server->token);
        return answer_redirect(connection, with_slash);
    }
    return answer_path(server, connection, rest + 1, method);
}

/* ---- starting and stopping ---- */

static int make_token(char token[TOKEN_LENGTH + 1], struct error *err)
{
    static const char digits[33] = "0123456789abcdefghjkmnpqrstvwxyz"; /* none that look alike */
    unsigned char bytes[TOKEN_LENGTH];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_set(err, EIO, "cannot get random numbers for the address: %s", strerror(errno));
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        token[i] = digits[bytes[i] % 32];
    token[TOKEN_LENGTH] = '\0';
    return 0;
}

/* Takes ownership of the descriptor and finds out what it holds. */
static int profile_open(struct served_profile *profile, int fd, struct error *err)
{
    enum { GZIP_SMALLEST = 18, GZIP_SIZE_FIELD = 4 }; /* RFC 1952 */
    profile->fd = fd;
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_set(err, errno, "cannot read the profile: %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(err, EINVAL, "cannot serve the profile: it is not a file");
    profile->size = profile->json_size = (uint64_t)info.st_size;
    unsigned char magic[2], end[GZIP_SIZE_FIELD];
    profile->is_gzip = profile->size >= GZIP_SMALLEST && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
                       magic[0] == 0x1f && magic[1] == 0x8b;
    if (profile->is_gzip && pread(fd, end, sizeof(end), info.st_size - GZIP_SIZE_FIELD) == sizeof(end))
        profile->json_size = (uint64_t)end[0] | (uint64_t)end[1] << 8 | (uint64_t)end[2] << 16 | (uint64_t)end[3] << 24;
    return 0;
}

/* A listening socket on this port of 127.0.0.1, or a negative errno value. */
static int listen_on(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1; /* connections of an ended server that linger do not keep the port */
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
    int fd = -EADDRINUSE;
    for (uint32_t port = first; port <= last && (fd == -EADDRINUSE || fd == -EACCES); port++)
        fd = listen_on((uint16_t)port);
    if (fd == -EADDRINUSE)
        return error_set(err, EADDRINUSE,
                         "cannot serve: port %" PRIu32 " is taken; -P %" PRIu32 "+ uses the next free one", first,
                         first);
    if (fd == -EACCES)
        return error_set(err, EACCES, "cannot serve: port %" PRIu32 " is for root; use one above 1023", first);
    if (fd < 0)
        return error_set(err, -fd, "cannot serve on 127.0.0.1: %s", strerror(-fd));
    return fd;
}

static int learn_address(struct server *server, int fd, struct error *err)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return error_set(err, errno, "cannot serve on 127.0.0.1: %s", strerror(errno));
    unsigned port = ntohs(address.sin_port);
    snprintf(server->hosts[0], sizeof(server->hosts[0]), "127.0.0.1:%u", port);
    snprintf(server->hosts[1], sizeof(server->hosts[1]), "localhost:%u", port);
    snprintf(server->url, sizeof(server->url), "http://%s/%s/", server->hosts[0], server->token);
    return 0;
}

static int start(struct server *server, struct error *err)
{
    int result = make_token(server->token, err);
    if (result)
        return result;
    int fd = listen_on_first_free(server, err);
    if (fd < 0)
        return fd;
    result = learn_address(server, fd, err);
    if (result == 0) {
        server->daemon = MHD_start_daemon(
            MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, handle_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
            (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
        if (server->daemon)
            return 0; /* which owns the socket now */
        result = error_set(err, errno ? errno : EIO, "cannot start the web server: %s", strerror(errno));
    }
    close(fd);
    return result;
}

struct server *serve_start(const struct serve_options *options, int profile_fd, struct error *err)
{
    struct server *server = calloc(1, sizeof(*server));
    if (!server) {
        close(profile_fd);
        error_no_memory(err);
        return NULL;
    }
    server->options = *options;
    if (profile_open(&server->profile, profile_fd, err) != 0 || start(server, err) != 0) {
        serve_stop(server);
        return NULL;
    }
    return server;
}

const char *serve_url(const struct server *server)
{
    return server->url;
}

void serve_stop(struct server *server)
{
    if (!server)
        return;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    close(server->profile.fd);
    free(server);
}

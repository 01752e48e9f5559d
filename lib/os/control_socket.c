#include "os/control_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_CLIENTS = 8 };

struct client {
    int fd; /* -1: free */
    size_t length;
    char line[CONTROL_LINE];
};

struct control_socket {
    int epoll_fd, listen_fd;
    char path[CONTROL_PATH_SIZE];
    struct client clients[MOST_CLIENTS];
};

/* ---- directories ---- */

void control_socket_list_directories(char directories[CONTROL_DIRECTORIES][CONTROL_PATH_SIZE])
{
    enum { NAME_MAX_LENGTH = 24 }; /* "/4194304.sock" and some */
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    directories[0][0] = '\0';
    if (runtime && runtime[0] == '/' && strlen(runtime) + NAME_MAX_LENGTH < CONTROL_PATH_SIZE)
        snprintf(directories[0], CONTROL_PATH_SIZE, "%s/prof", runtime);
    const char *temporary = getenv("TMPDIR");
    bool usable = temporary && temporary[0] == '/' && strlen(temporary) + 2 * NAME_MAX_LENGTH < CONTROL_PATH_SIZE;
    snprintf(directories[1], CONTROL_PATH_SIZE, "%s/prof-%u", usable ? temporary : "/tmp", (unsigned)geteuid());
}

bool control_socket_is_private(const char *directory)
{
    struct stat info;
    return lstat(directory, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           (info.st_mode & 077) == 0;
}

bool control_socket_find_problem(char *text, size_t size)
{
    char directories[CONTROL_DIRECTORIES][CONTROL_PATH_SIZE];
    struct stat info;
    control_socket_list_directories(directories);
    for (size_t i = 0; i < CONTROL_DIRECTORIES; i++) {
        if (!directories[i][0] || lstat(directories[i], &info) || control_socket_is_private(directories[i]))
            continue;
        snprintf(text, size,
                 "%s %s; set XDG_RUNTIME_DIR to a directory that you own, for both prof record and prof ctl",
                 directories[i],
                 !S_ISDIR(info.st_mode)     ? "is no directory"
                 : info.st_uid != geteuid() ? "belongs to another user"
                                            : "is open to other users");
        return true;
    }
    return false;
}

static bool choose_socket_directory(char *directory)
{
    char directories[CONTROL_DIRECTORIES][CONTROL_PATH_SIZE];
    control_socket_list_directories(directories);
    for (size_t i = 0; i < CONTROL_DIRECTORIES; i++) {
        if (!directories[i][0] || (mkdir(directories[i], 0700) && errno != EEXIST) ||
            !control_socket_is_private(directories[i]))
            continue;
        memcpy(directory, directories[i], CONTROL_PATH_SIZE);
        return true;
    }
    return false;
}

/* ---- opening ---- */

static bool listen_at_path(struct control_socket *socket_, const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(socket_->path, sizeof(socket_->path), "%s/%d.sock", directory, (int)getpid());
    if (length < 0 || (size_t)length >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, socket_->path, (size_t)length + 1);
    unlink(socket_->path); /* left by a killed recorder with the same pid */
    socket_->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return socket_->listen_fd >= 0 && bind(socket_->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           listen(socket_->listen_fd, MOST_CLIENTS) == 0;
}

static bool watch_descriptor(const struct control_socket *socket, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(socket->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

int control_socket_open(struct control_socket **out, struct error *err)
{
    char directory[CONTROL_PATH_SIZE];
    *out = NULL;
    if (!choose_socket_directory(directory))
        return 0;
    struct control_socket *socket = calloc(1, sizeof(*socket));
    if (!socket)
        return error_no_memory(err);
    socket->listen_fd = -1;
    for (size_t i = 0; i < MOST_CLIENTS; i++)
        socket->clients[i].fd = -1;
    socket->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (socket->epoll_fd < 0 || !listen_at_path(socket, directory) || !watch_descriptor(socket, socket->listen_fd)) {
        control_socket_close(socket);
        return 0;
    }
    *out = socket;
    return 0;
}

void control_socket_close(struct control_socket *socket)
{
    if (!socket)
        return;
    for (size_t i = 0; i < MOST_CLIENTS; i++)
        if (socket->clients[i].fd >= 0)
            close(socket->clients[i].fd);
    if (socket->listen_fd >= 0) {
        close(socket->listen_fd);
        unlink(socket->path);
    }
    if (socket->epoll_fd >= 0)
        close(socket->epoll_fd);
    free(socket);
}

int control_socket_get_fd(const struct control_socket *socket)
{
    return socket->epoll_fd;
}

/* ---- requests ---- */

static int answer_with_line(const struct control_handler *handler, struct client *client, struct error *err)
{
    struct control_request request = {.verb = client->line, .text = strchr(client->line, ' '), .client = client->fd};
    char line[CONTROL_ANSWER_SIZE + 16];
    if (request.text)
        *request.text++ = '\0';
    else
        request.text = client->line + strlen(client->line);
    int code = handler->take(handler->context, &request, err);
    if (!request.answers_later) {
        int length = snprintf(line, sizeof(line), "%s %s\n", request.failed ? "error" : "ok", request.answer);
        (void)!send(client->fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return code;
}

static void drop_client(struct client *client)
{
    close(client->fd);
    client->fd = -1;
}

/* Reads and answers the one request of a connection. */
static int serve_client(const struct control_handler *handler, struct client *client, struct error *err)
{
    ssize_t got = recv(client->fd, client->line + client->length, sizeof(client->line) - 1 - client->length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    client->length += got > 0 ? (size_t)got : 0;
    client->line[client->length] = '\0';
    char *end = memchr(client->line, '\n', client->length);
    int code = 0;
    if (end) {
        *end = '\0';
        code = answer_with_line(handler, client, err);
    }
    if (end || got <= 0 || client->length == sizeof(client->line) - 1)
        drop_client(client);
    return code;
}

static bool is_user_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

static void accept_client(struct control_socket *socket)
{
    int fd = accept4(socket->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (size_t i = 0; i < MOST_CLIENTS && is_user_allowed(fd); i++) {
        if (socket->clients[i].fd >= 0 || !watch_descriptor(socket, fd))
            continue;
        socket->clients[i].fd = fd;
        socket->clients[i].length = 0;
        return;
    }
    close(fd);
}

int control_socket_serve(struct control_socket *socket, const struct control_handler *handler, struct error *err)
{
    struct epoll_event ready[MOST_CLIENTS + 1];
    int count = epoll_wait(socket->epoll_fd, ready, MOST_CLIENTS + 1, 0), code = 0;
    for (int i = 0; i < count && !code; i++) {
        if (ready[i].data.fd == socket->listen_fd)
            accept_client(socket);
        for (size_t k = 0; k < MOST_CLIENTS && !code; k++)
            if (socket->clients[k].fd >= 0 && socket->clients[k].fd == ready[i].data.fd)
                code = serve_client(handler, &socket->clients[k], err);
    }
    return code;
}

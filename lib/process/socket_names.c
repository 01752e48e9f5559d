/*
 * Finds a socket in the lists of sockets in /proc, which have a line per socket (proc(5)). Addresses are hexadecimal,
 * in groups of four bytes in the order of the machine:
 *
 *       sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *        0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3356180 1 ...
 *
 *     Num       RefCount Protocol Flags    Type St Inode Path
 *     8d697c01: 00000002 00000000 00010000 0001 01 38668 /run/x.sock
 *
 * The list of unix sockets does not show connections. A connecting socket usually has no path, so its name is the path
 * of its peer. sock_diag(7) reports the peer, for sockets in prof's own network namespace.
 */
#include "process/socket_names.h"

#include "base/cursor.h"
#include "os/file_proc.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LIST_MAX = 1024 * 1024, /* limit of bytes read from a list */
    FIELDS = 10,            /* fields of a line up to the inode, in a list of internet sockets */
    LISTENS = 0x0A,         /* TCP_LISTEN of the kernel */
    ACCEPTS = 0x10000,      /* __SO_ACCEPTCON of the kernel, in the flags of a unix socket */
};

/* ---- lines ---- */

/* Formats "0100007F:0BB8" as "127.0.0.1:3000". */
static bool format_address(const char *field, char *text, size_t size)
{
    unsigned char bytes[16];
    char address[INET6_ADDRSTRLEN];
    const char *colon = strchr(field, ':');
    size_t digits = colon ? (size_t)(colon - field) : 0;
    if (digits != 8 && digits != 32)
        return false;
    for (size_t i = 0; i < digits / 8; i++) {
        char group[9];
        memcpy(group, field + 8 * i, 8);
        group[8] = '\0';
        uint32_t value = (uint32_t)strtoul(group, NULL, 16);
        memcpy(bytes + 4 * i, &value, 4);
    }
    if (!inet_ntop(digits == 8 ? AF_INET : AF_INET6, bytes, address, sizeof(address)))
        return false;
    unsigned long port = strtoul(colon + 1, NULL, 16);
    snprintf(text, size, digits == 8 ? "%s:%lu" : "[%s]:%lu", address, port);
    return true;
}

static bool parse_internet(const char *protocol, char *const *fields, size_t count, uint64_t inode, char *text,
                           size_t size)
{
    char local[64], peer[64];
    if (count < FIELDS || strtoull(fields[9], NULL, 10) != inode || !format_address(fields[1], local, sizeof(local)) ||
        !format_address(fields[2], peer, sizeof(peer)))
        return false;
    const char *port = strrchr(peer, ':');
    if (strtoul(fields[3], NULL, 16) == LISTENS && strcmp(protocol, "tcp") == 0)
        snprintf(text, size, "%s %s, listening", protocol, local);
    else if (strcmp(port, ":0") == 0)
        snprintf(text, size, "%s %s", protocol, local);
    else
        snprintf(text, size, "%s %s -> %s", protocol, local, peer);
    return true;
}

bool socket_line_parse(const char *protocol, const char *line, uint64_t inode, char *text, size_t size)
{
    enum { UNIX_FLAGS = 3, UNIX_INODE = 6 };
    char copy[512], *fields[FIELDS], *at = copy;
    size_t count = 0;
    bool is_unix = strcmp(protocol, "unix") == 0;
    snprintf(copy, sizeof(copy), "%s", line);
    copy[strcspn(copy, "\n")] = '\0';
    size_t wanted = is_unix ? UNIX_INODE + 1 : FIELDS;
    while (count < wanted) {
        at += strspn(at, " ");
        if (!*at)
            break;
        fields[count++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    if (!is_unix)
        return parse_internet(protocol, fields, count, inode, text, size);
    if (count < wanted || strtoull(fields[UNIX_INODE], NULL, 10) != inode)
        return false;
    bool listens = strtoul(fields[UNIX_FLAGS], NULL, 16) & ACCEPTS;
    snprintf(text, size, "unix%s%.108s%s", *at ? " " : "", at, listens ? ", listening" : "");
    return true;
}

static bool find_in_list(uint32_t pid, const char *list, const char *protocol, uint64_t inode, char *text, size_t size)
{
    char path[64], line[512];
    size_t used = 0;
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/net/%s", pid, list);
    FILE *file = fopen(path, "re");
    while (file && !found && used < LIST_MAX && fgets(line, sizeof(line), file)) {
        used += strlen(line);
        found = socket_line_parse(protocol, line, inode, text, size);
    }
    if (file)
        fclose(file);
    return found;
}

/* ---- the peers of unix sockets ---- */

struct unix_answer {
    uint32_t peer; /* inode of the socket's peer, or 0 for none */
    char name[109];
};

static void parse_attributes(struct cursor c, struct unix_answer *answer)
{
    while (cursor_left(&c) >= sizeof(struct nlattr)) {
        size_t length = cursor_u16(&c), type = cursor_u16(&c);
        if (length < sizeof(struct nlattr))
            return;
        length -= sizeof(struct nlattr);
        const unsigned char *value = cursor_bytes(&c, length);
        if (!value)
            return;
        if (type == UNIX_DIAG_PEER && length >= sizeof(answer->peer))
            memcpy(&answer->peer, value, sizeof(answer->peer));
        if (type == UNIX_DIAG_NAME && length < sizeof(answer->name)) {
            memcpy(answer->name, value, length);
            answer->name[length] = '\0';
            if (length && !value[0]) /* of the abstract namespace */
                answer->name[0] = '@';
        }
        size_t padding = (4 - length % 4) % 4, left = cursor_left(&c);
        cursor_bytes(&c, padding < left ? padding : left);
    }
}

static bool query_unix(int netlink, uint32_t inode, struct unix_answer *answer)
{
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } request = {
        .header = {.nlmsg_len = sizeof(request), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = AF_UNIX,
                    .udiag_states = UINT32_MAX,
                    .udiag_ino = inode,
                    .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
                    .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
    };
    unsigned char bytes[1024];
    *answer = (struct unix_answer){0};
    if (send(netlink, &request, sizeof(request), 0) != sizeof(request))
        return false;
    ssize_t got = recv(netlink, bytes, sizeof(bytes), 0);
    struct cursor c = cursor_of(bytes, got > 0 ? (size_t)got : 0);
    cursor_u32(&c); /* the length of the message */
    if (cursor_u16(&c) != SOCK_DIAG_BY_FAMILY || c.failed)
        return false;
    cursor_bytes(&c, sizeof(struct nlmsghdr) - 6 + sizeof(struct unix_diag_msg));
    if (c.failed)
        return false;
    parse_attributes(c, answer);
    return true;
}

/* Writes the peer of the socket: "unix -> /run/dbus/socket". */
static void write_peer(uint32_t pid, uint64_t inode, char *text, size_t size)
{
    static const struct timeval timeout = {.tv_usec = 10000};
    struct unix_answer own, peer;
    int netlink =
        proc_shares_namespace(pid, "net") ? socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG) : -1;
    if (netlink < 0)
        return;
    setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    if (query_unix(netlink, (uint32_t)inode, &own) && own.peer && query_unix(netlink, own.peer, &peer) && peer.name[0])
        snprintf(text, size, "unix -> %s", peer.name);
    close(netlink);
}

bool socket_find_name(uint32_t pid, uint64_t inode, char *text, size_t size)
{
    pid = proc_find_living_thread(pid);
    static const struct {
        const char *list, *protocol;
    } lists[] = {{"tcp", "tcp"}, {"tcp6", "tcp"}, {"unix", "unix"}, {"udp", "udp"}, {"udp6", "udp"}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        if (!find_in_list(pid, lists[i].list, lists[i].protocol, inode, text, size))
            continue;
        if (strcmp(text, "unix") == 0)
            write_peer(pid, inode, text, size);
        return true;
    }
    return false;
}

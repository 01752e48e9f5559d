/*
 * A message is a struct nlmsghdr (16 bytes), a struct cn_msg (20), and a struct proc_event: kind (4), cpu (4),
 * timestamp (8); for an exit also the pid of the thread and of its process, the exit code and the exit signal (4 each).
 */
#include "process/process_exits.h"

#include "base/cursor.h"
#include "os/file_io.h"
#include "os/file_proc.h"

#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    EVENT_AT = sizeof(struct nlmsghdr) + sizeof(struct cn_msg),
    TID_AT = EVENT_AT + 16,
    PID_AT = TID_AT + 4,
    BUFFER = 4 << 20 /* bytes of the socket buffer: some 5,000 messages */
};

static const uint32_t exit_event = UINT32_C(0x80000000); /* PROC_EVENT_EXIT, in another file of newer headers */

/* ---- the connector ---- */

/* A socket filter that passes exits with equal thread and process ids. */
static int attach_filter(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, EVENT_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(exit_event), 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, TID_AT),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PID_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int subscribe(int fd)
{
    uint32_t operation = PROC_CN_MCAST_LISTEN;
    struct cn_msg message = {.id = {.idx = CN_IDX_PROC, .val = CN_VAL_PROC}, .len = sizeof(operation)};
    const size_t size = sizeof(struct nlmsghdr) + sizeof(message) + sizeof(operation);
    struct nlmsghdr header = {.nlmsg_len = (uint32_t)size, .nlmsg_type = NLMSG_DONE};
    const struct iovec parts[] = {
        {&header, sizeof(header)}, {&message, sizeof(message)}, {&operation, sizeof(operation)}};
    return writev(fd, parts, 3) == (ssize_t)size ? 0 : -1;
}

void process_exits_open(struct process_exits *exits)
{
    const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    int size = BUFFER;
    *exits = PROCESS_EXITS_NONE;
    if (proc_is_in_pid_namespace())
        return;
    int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    if (attach_filter(fd) || bind(fd, (const struct sockaddr *)&address, sizeof(address)) || subscribe(fd))
        close(fd);
    else
        exits->fd = fd;
}

void process_exits_close(struct process_exits *exits)
{
    if (exits->fd >= 0)
        close(exits->fd);
    array_free(&exits->ended);
    array_free(&exits->messages);
    *exits = PROCESS_EXITS_NONE;
}

bool process_exits_parse(const void *bytes, size_t size, struct process_exit_message *message)
{
    struct cursor c = cursor_of(bytes, size);
    cursor_bytes(&c, EVENT_AT);
    uint32_t what = cursor_u32(&c);
    cursor_u32(&c); /* cpu */
    *message = (struct process_exit_message){.time = cursor_u64(&c)};
    uint32_t tid = cursor_u32(&c);
    message->pid = cursor_u32(&c);
    message->status = (int)cursor_u32(&c);
    return !c.failed && what == exit_event && message->pid && tid == message->pid;
}

void process_exits_read(struct process_exits *exits)
{
    char bytes[512];
    ssize_t size;
    struct process_exit_message message;
    if (exits->fd < 0)
        return;
    while ((size = recv(exits->fd, bytes, sizeof(bytes), 0)) > 0 || (size < 0 && errno == ENOBUFS))
        if (size > 0 && process_exits_parse(bytes, (size_t)size, &message) &&
            exits->messages.length < PROCESS_EXITS_MAX && !array_push(&exits->messages, message))
            return;
}

/* ---- /proc ---- */

/* Reads the last field of /proc/PID/stat of a zombie. The field is 0 for users who may not inspect the process, and who
 * cannot read /proc/PID/io either. */
static bool read_status(uint32_t pid, int *status)
{
    char path[32], text[1024];
    struct proc_stat stat;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/io", pid);
    if (!file_read_text(path, text, sizeof(text)))
        return false;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
    const char *last = file_read_text(path, text, sizeof(text)) ? strrchr(text, ' ') : NULL;
    if (!last || !proc_stat_parse(text, &stat) || stat.state != 'Z')
        return false;
    *status = (int)strtol(last + 1, NULL, 10);
    return true;
}

/* ---- ends ---- */

bool process_exits_add_end(struct process_exits *exits, uint32_t pid, int *status)
{
    if (exits->fd < 0)
        return exits->reads++ < PROCESS_EXITS_READS && read_status(pid, status);
    if (exits->ended.length < PROCESS_EXITS_MAX)
        (void)array_push(&exits->ended, pid); /* if memory runs out, its status stays unknown */
    return false;
}

/* Keeps the unmatched exits and messages of this call, [old, length), for one more call. */
void process_exits_match(struct process_exits *exits,
                         void (*take)(void *context, const struct process_exit_message *message), void *context)
{
    struct process_exit_message *messages = exits->messages.data;
    struct hash by_pid = {0};
    size_t kept_ends = 0, kept_messages = 0;
    bool ok = true;
    for (size_t i = 0; i < exits->messages.length && ok; i++)
        ok = hash_set(&by_pid, messages[i].pid, (uint32_t)i);
    for (size_t i = 0; i < exits->ended.length && ok; i++) {
        uint32_t pid = exits->ended.data[i], at = hash_get(&by_pid, pid);
        if (at != HASH_MISSING) {
            take(context, &messages[at]);
            hash_remove(&by_pid, pid);
        } else if (i >= exits->old_ended) {
            exits->ended.data[kept_ends++] = pid;
        }
    }
    for (size_t i = exits->old_messages; i < exits->messages.length && ok; i++)
        if (hash_get(&by_pid, messages[i].pid) == i)
            messages[kept_messages++] = messages[i];
    exits->ended.length = exits->old_ended = kept_ends;
    exits->messages.length = exits->old_messages = kept_messages;
    hash_destroy(&by_pid);
}

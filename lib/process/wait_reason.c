/*
 * The system call, or its file, gives the reason: read() waits for a disk, a peer or a pipe, and /proc/PID/fd/N shows
 * which. A thread that sleeps outside of a system call waits for memory.
 */
#include "process/wait_reason.h"

#include "arch/dwarf_registers.h"
#include "base/starts_with.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "os/target_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The argument of a system call that identifies the object of the wait. */
enum wait_object {
    OBJECT_NONE,    /* none: only `name` counts */
    OBJECT_ADDRESS, /* its first argument is the address of a lock */
    OBJECT_FILE,    /* its first argument is a file descriptor, which also gives the reason */
    OBJECT_LOCKED,  /* its first argument is a file descriptor; the reason is fixed */
    OBJECT_QUEUE,   /* its first argument is a POSIX message queue, a file descriptor */
    OBJECT_POLL,    /* struct pollfd[second argument] */
    OBJECT_SELECT,  /* its first argument is the number of descriptors, and three sets of descriptors follow */
};

struct call_kind {
    int number;
    enum wait_reason reason;
    enum wait_object object;
    const char *name;
};

static const struct call_kind calls[] = {
    {SYS_futex, REASON_LOCK, OBJECT_ADDRESS, "lock"},
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, REASON_LOCK, OBJECT_NONE, "lock"},
#endif
    {SYS_clock_nanosleep, REASON_SLEEP, OBJECT_NONE, "sleep"},
    {SYS_nanosleep, REASON_SLEEP, OBJECT_NONE, "sleep"},
    {SYS_epoll_pwait, REASON_NETWORK, OBJECT_NONE, "epoll"},
    {SYS_epoll_pwait2, REASON_NETWORK, OBJECT_NONE, "epoll"},
    {SYS_ppoll, REASON_NETWORK, OBJECT_POLL, "poll"},
    {SYS_pselect6, REASON_NETWORK, OBJECT_SELECT, "poll"},
    {SYS_read, REASON_DISK, OBJECT_FILE, "read"},
    {SYS_readv, REASON_DISK, OBJECT_FILE, "read"},
    {SYS_pread64, REASON_DISK, OBJECT_FILE, "read"},
    {SYS_preadv, REASON_DISK, OBJECT_FILE, "read"},
    {SYS_preadv2, REASON_DISK, OBJECT_FILE, "read"},
    {SYS_write, REASON_DISK, OBJECT_FILE, "write"},
    {SYS_writev, REASON_DISK, OBJECT_FILE, "write"},
    {SYS_pwrite64, REASON_DISK, OBJECT_FILE, "write"},
    {SYS_pwritev, REASON_DISK, OBJECT_FILE, "write"},
    {SYS_pwritev2, REASON_DISK, OBJECT_FILE, "write"},
    {SYS_sendfile, REASON_DISK, OBJECT_FILE, "write"},
    {SYS_splice, REASON_DISK, OBJECT_FILE, "splice"},
    {SYS_tee, REASON_PIPE, OBJECT_FILE, "splice"},
    {SYS_vmsplice, REASON_PIPE, OBJECT_FILE, "splice"},
    {SYS_ioctl, REASON_DISK, OBJECT_FILE, "ioctl"},
    {SYS_fsync, REASON_DISK, OBJECT_FILE, "fsync"},
    {SYS_fdatasync, REASON_DISK, OBJECT_FILE, "fsync"},
    {SYS_sync_file_range, REASON_DISK, OBJECT_FILE, "fsync"},
    {SYS_ftruncate, REASON_DISK, OBJECT_FILE, "truncate"},
    {SYS_fallocate, REASON_DISK, OBJECT_FILE, "allocate"},
    {SYS_fstat, REASON_DISK, OBJECT_FILE, "stat"},
    {SYS_getdents64, REASON_DISK, OBJECT_FILE, "read"},
    {SYS_close, REASON_DISK, OBJECT_NONE, "disk: close"},
    {SYS_sync, REASON_DISK, OBJECT_NONE, "disk: sync"},
    {SYS_msync, REASON_DISK, OBJECT_NONE, "disk: sync"},
    {SYS_openat, REASON_DISK, OBJECT_NONE, "disk: open"},
    {SYS_newfstatat, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_statx, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_unlinkat, REASON_DISK, OBJECT_NONE, "disk: unlink"},
    {SYS_faccessat, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_readlinkat, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_renameat2, REASON_DISK, OBJECT_NONE, "disk: rename"},
    {SYS_mkdirat, REASON_DISK, OBJECT_NONE, "disk: mkdir"},
    {SYS_execve, REASON_DISK, OBJECT_NONE, "disk: exec"},
    {SYS_io_getevents, REASON_DISK, OBJECT_NONE, "disk: asynchronous I/O"},
    {SYS_io_uring_enter, REASON_IO_URING, OBJECT_NONE, "io_uring"},
    {SYS_accept, REASON_NETWORK, OBJECT_FILE, "accept"},
    {SYS_accept4, REASON_NETWORK, OBJECT_FILE, "accept"},
    {SYS_connect, REASON_NETWORK, OBJECT_FILE, "connect"},
    {SYS_recvfrom, REASON_NETWORK, OBJECT_FILE, "receive"},
    {SYS_recvmsg, REASON_NETWORK, OBJECT_FILE, "receive"},
    {SYS_recvmmsg, REASON_NETWORK, OBJECT_FILE, "receive"},
    {SYS_sendto, REASON_NETWORK, OBJECT_FILE, "send"},
    {SYS_sendmsg, REASON_NETWORK, OBJECT_FILE, "send"},
    {SYS_sendmmsg, REASON_NETWORK, OBJECT_FILE, "send"},
    {SYS_wait4, REASON_CHILD, OBJECT_NONE, "child"},
    {SYS_waitid, REASON_CHILD, OBJECT_NONE, "child"},
    {SYS_clone, REASON_CHILD, OBJECT_NONE, "vfork child"}, /* with CLONE_VFORK */
    {SYS_clone3, REASON_CHILD, OBJECT_NONE, "vfork child"},
    {SYS_flock, REASON_LOCK, OBJECT_LOCKED, "lock"},
    {SYS_fcntl, REASON_LOCK, OBJECT_LOCKED, "lock"},
    /* the lock of the kernel that page faults of all threads take, too */
    {SYS_mmap, REASON_LOCK, OBJECT_NONE, "memory map"},
    {SYS_munmap, REASON_LOCK, OBJECT_NONE, "memory map"},
    {SYS_mremap, REASON_LOCK, OBJECT_NONE, "memory map"},
    {SYS_mprotect, REASON_LOCK, OBJECT_NONE, "memory map"},
    {SYS_madvise, REASON_LOCK, OBJECT_NONE, "memory map"},
    {SYS_brk, REASON_LOCK, OBJECT_NONE, "memory map"},
    {SYS_semop, REASON_LOCK, OBJECT_NONE, "semaphore"},
    {SYS_semtimedop, REASON_LOCK, OBJECT_NONE, "semaphore"},
    {SYS_msgrcv, REASON_PIPE, OBJECT_NONE, "message queue"},
    {SYS_msgsnd, REASON_PIPE, OBJECT_NONE, "message queue"},
    {SYS_mq_timedreceive, REASON_PIPE, OBJECT_QUEUE, "message queue"},
    {SYS_mq_timedsend, REASON_PIPE, OBJECT_QUEUE, "message queue"},
    {SYS_rt_sigsuspend, REASON_SLEEP, OBJECT_NONE, "signal"},
    {SYS_rt_sigtimedwait, REASON_SLEEP, OBJECT_NONE, "signal"},
#ifdef __x86_64__ /* Linux has no such calls on newer processors. */
    {SYS_epoll_wait, REASON_NETWORK, OBJECT_NONE, "epoll"},
    {SYS_poll, REASON_NETWORK, OBJECT_POLL, "poll"},
    {SYS_select, REASON_NETWORK, OBJECT_SELECT, "poll"},
    {SYS_open, REASON_DISK, OBJECT_NONE, "disk: open"},
    {SYS_stat, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_lstat, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_access, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_readlink, REASON_DISK, OBJECT_NONE, "disk: stat"},
    {SYS_rename, REASON_DISK, OBJECT_NONE, "disk: rename"},
    {SYS_unlink, REASON_DISK, OBJECT_NONE, "disk: unlink"},
    {SYS_mkdir, REASON_DISK, OBJECT_NONE, "disk: mkdir"},
    {SYS_vfork, REASON_CHILD, OBJECT_NONE, "vfork child"}, /* until the child starts a program */
    {SYS_pause, REASON_SLEEP, OBJECT_NONE, "signal"},
#endif
};

static const struct call_kind *find_call_kind(int64_t number)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

bool wait_state_parse(const char *line, int64_t *number, uint64_t arguments[WAIT_ARGUMENTS], uint64_t *sp, uint64_t *pc)
{
    char *end;
    memset(arguments, 0, WAIT_ARGUMENTS * sizeof(*arguments));
    *number = strtoll(line, &end, 10);
    if (end == line)
        return false; /* "running" */
    for (int i = 0; *number >= 0 && i < WAIT_ARGUMENTS; i++)
        arguments[i] = strtoull(end, &end, 16);
    const char *at = end;
    *sp = strtoull(at, &end, 16);
    if (end == at)
        return false;
    at = end;
    *pc = strtoull(at, &end, 16);
    return end != at;
}

/* ---- files ---- */

/* Whether the file is a named pipe or a device such as a terminal. Disks, and files of /dev/shm, are neither. Does not
 * call stat(), which a network file system may never answer. */
static bool is_pipe_or_terminal(const char *path)
{
    struct statx info;
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &info) == 0 &&
           (S_ISFIFO(info.stx_mode) || S_ISCHR(info.stx_mode));
}

/* The reason of waits for a file that is no regular file, directory or socket. */
static enum wait_reason find_special_file_reason(const char *target)
{
    if (starts_with(target, "anon_inode:[timerfd]"))
        return REASON_SLEEP;
    if (starts_with(target, "anon_inode:[pidfd]") || starts_with(target, "pidfd:"))
        return REASON_CHILD;
    return REASON_PIPE;
}

enum { FILE_PATH_SIZE = 64, FILE_TARGET_SIZE = WAIT_OBJECT_SIZE - 32 };

/* Finds the link to the file of descriptor `fd`, and the link's target. False if the thread has ended. */
static bool find_file(uint32_t tid, uint64_t fd, char path[FILE_PATH_SIZE], char target[FILE_TARGET_SIZE])
{
    snprintf(path, FILE_PATH_SIZE, "/proc/%" PRIu32 "/fd/%" PRIu32, tid, (uint32_t)fd);
    ssize_t length = readlink(path, target, FILE_TARGET_SIZE - 1);
    target[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static void describe_queue(uint32_t tid, uint64_t fd, const char *call, struct wait_state *state)
{
    char path[FILE_PATH_SIZE], name[FILE_TARGET_SIZE];
    bool is_found = find_file(tid, fd, path, name);
    snprintf(state->object, sizeof(state->object), "%s%s%s", call, is_found ? " " : "", name);
}

/* Describes the file of descriptor `fd`, and sets the reason for waits on such a file. */
static void describe_file(uint32_t tid, uint64_t fd, const char *call, struct wait_state *state)
{
    char path[FILE_PATH_SIZE], target[FILE_TARGET_SIZE];
    if (!find_file(tid, fd, path, target)) {
        snprintf(state->object, sizeof(state->object), "%s", call);
        return;
    }
    if (starts_with(target, "socket:")) {
        state->reason = REASON_NETWORK;
        snprintf(state->object, sizeof(state->object), "%s %s", call, target);
    } else if (is_pipe_or_terminal(path) || starts_with(target, "pipe:") || starts_with(target, "anon_inode:") ||
               starts_with(target, "pidfd:")) {
        state->reason = find_special_file_reason(target);
        snprintf(state->object, sizeof(state->object), "%s %s", call, target);
    } else {
        snprintf(state->object, sizeof(state->object), "disk: %s %s", call, target);
    }
}

enum { MOST_POLLED = 16 }; /* descriptors of one call, whose files prof reads */

struct polled_files {
    int fds[MOST_POLLED];
    size_t count; /* may be larger */
};

static void add_polled(struct polled_files *files, int fd)
{
    if (files->count < MOST_POLLED)
        files->fds[files->count] = fd;
    files->count++;
}

/* Without descriptors, poll() and select() wait for a timeout. Descriptors of one kind, such as pipes, have the reason
 * of this kind, and other descriptors are an event loop, whose reason is the network. */
static void describe_polled(struct target_thread thread, const struct polled_files *files, struct wait_state *state)
{
    enum wait_reason first = REASON_NETWORK;
    bool is_mixed = files->count > MOST_POLLED;
    for (size_t i = 0; !is_mixed && i < files->count; i++) {
        state->reason = REASON_NETWORK;
        describe_file(thread.tid, (uint64_t)(uint32_t)files->fds[i], "poll", state);
        first = i == 0 ? state->reason : first;
        is_mixed = state->reason != first;
    }
    state->reason = files->count == 0 ? REASON_SLEEP : is_mixed ? REASON_NETWORK : first;
    if (files->count != 1)
        snprintf(state->object, sizeof(state->object), "%s", files->count ? "poll" : "sleep");
}

/* `arguments` of poll(): the address and the number of its `struct pollfd`. poll() ignores negative descriptors. */
static void describe_poll(struct target_thread thread, const uint64_t *arguments, struct wait_state *state)
{
    struct pollfd polled[MOST_POLLED + 1];
    struct polled_files files = {.count = 0};
    size_t size = (size_t)(arguments[1] < MOST_POLLED + 1 ? arguments[1] : MOST_POLLED + 1) * sizeof(*polled);
    snprintf(state->object, sizeof(state->object), "poll");
    if (size && target_memory_read(thread, arguments[0], polled, size) != size)
        return;
    for (size_t i = 0; i < size / sizeof(*polled); i++)
        if (polled[i].fd >= 0)
            add_polled(&files, polled[i].fd);
    describe_polled(thread, &files, state);
}

/* `arguments` of select(): the number of descriptors, and the addresses of three sets of bits. */
static void describe_select(struct target_thread thread, const uint64_t *arguments, struct wait_state *state)
{
    enum { SETS = 3 };
    fd_set sets[SETS];
    struct polled_files files = {.count = 0};
    int limit = arguments[0] < FD_SETSIZE ? (int)arguments[0] : FD_SETSIZE;
    size_t size = ((size_t)limit + 63) / 64 * 8; /* the kernel reads whole words */
    memset(sets, 0, sizeof(sets));
    snprintf(state->object, sizeof(state->object), "poll");
    for (size_t i = 0; size && i < SETS; i++)
        if (arguments[1 + i] && target_memory_read(thread, arguments[1 + i], &sets[i], size) != size)
            return;
    for (int fd = 0; fd < limit; fd++)
        if (FD_ISSET(fd, &sets[0]) || FD_ISSET(fd, &sets[1]) || FD_ISSET(fd, &sets[2]))
            add_polled(&files, fd);
    describe_polled(thread, &files, state);
}

/* pthread_join() of glibc waits for the id of a thread to change, which the kernel clears when the thread ends. For
 * this wait, glibc calls futex as for memory that processes share. Returns the id, or 0 for another wait. */
static uint32_t find_joined_thread(const uint64_t *arguments)
{
    uint64_t command = arguments[1] & FUTEX_CMD_MASK;
    bool is_wait = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    return is_wait && !(arguments[1] & FUTEX_PRIVATE_FLAG) ? (uint32_t)arguments[2] : 0;
}

static void name_lock(const char *call, uint64_t address, struct wait_state *state)
{
    snprintf(state->object, sizeof(state->object), "%s 0x%" PRIx64, call, arch_strip_tag(address));
}

static void describe_lock(struct target_thread thread, const char *call, const uint64_t *arguments,
                          struct wait_state *state)
{
    enum { NAME_SIZE = 32 };
    char path[80], name[NAME_SIZE];
    uint32_t joined = find_joined_thread(arguments);
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", thread.pid, joined);
    if (joined && joined != thread.tid && file_read_text(path, name, sizeof(name)))
        snprintf(state->object, sizeof(state->object), "thread %.*s (%" PRIu32 ")", (int)strcspn(name, "\n"), name,
                 joined);
    else
        name_lock(call, arguments[0], state);
}

static void describe_call(struct target_thread thread, const struct call_kind *call, const uint64_t *arguments,
                          struct wait_state *state)
{
    state->reason = call->reason;
    switch (call->object) {
    case OBJECT_NONE:
        snprintf(state->object, sizeof(state->object), "%s", call->name);
        break;
    case OBJECT_ADDRESS:
        describe_lock(thread, call->name, arguments, state);
        break;
    case OBJECT_FILE:
        describe_file(thread.tid, arguments[0], call->name, state);
        break;
    case OBJECT_LOCKED:
        describe_file(thread.tid, arguments[0], call->name, state);
        state->reason = call->reason;
        break;
    case OBJECT_QUEUE:
        describe_queue(thread.tid, arguments[0], call->name, state);
        break;
    case OBJECT_POLL:
        describe_poll(thread, arguments, state);
        break;
    case OBJECT_SELECT:
        describe_select(thread, arguments, state);
        break;
    }
}

void wait_state_describe_call(int64_t number, const uint64_t arguments[WAIT_ARGUMENTS], struct wait_state *state)
{
    const struct call_kind *call = find_call_kind(number);
    bool is_known = call && (call->object == OBJECT_NONE || call->object == OBJECT_ADDRESS);
    state->reason = is_known ? call->reason : REASON_UNKNOWN;
    if (!call)
        snprintf(state->object, sizeof(state->object), "system call %" PRId64, number);
    else if (call->object == OBJECT_ADDRESS)
        name_lock(call->name, arguments[0], state);
    else
        snprintf(state->object, sizeof(state->object), "%s", call->name);
}

/* Reads the CPU of a thread. Returns whether a signal or a tracer has stopped the thread, in any system call or outside
 * of one. */
static bool read_stop(uint32_t pid, uint32_t tid, struct wait_state *state)
{
    char path[80], line[1024];
    struct proc_stat stat;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
    if (!file_read_text(path, line, sizeof(line)) || !proc_stat_parse(line, &stat))
        return false;
    state->cpu = stat.cpu;
    return stat.state == 'T' || stat.state == 't';
}

int wait_state_read(uint32_t pid, uint32_t tid, struct waiting_call *last, struct wait_state *state)
{
    char path[80], line[256];
    state->is_awake = false;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/syscall", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    state->asked = monotonic_ns();
    ssize_t length = fd < 0 ? -errno : read(fd, line, sizeof(line) - 1);
    state->known = monotonic_ns();
    if (fd >= 0 && length < 0)
        length = -errno;
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return length == -EACCES || length == -EPERM ? -EACCES : 0;
    line[length] = '\0';

    if (!wait_state_parse(line, &state->number, state->arguments, &state->sp, &state->pc)) {
        state->is_awake = starts_with(line, "running");
        return 0;
    }
    if (state->number == SYS_restart_syscall && last->sp == state->sp)
        state->number = last->number;
    *last = (struct waiting_call){.sp = state->sp, .number = state->number};
    return 1;
}

void wait_state_describe(uint32_t pid, uint32_t tid, struct wait_state *state)
{
    const struct call_kind *call = state->number < 0 ? NULL : find_call_kind(state->number);
    state->cpu = UINT32_MAX;
    state->reason = REASON_UNKNOWN;
    if (!state->sp) { /* a kernel thread is in no system call */
        snprintf(state->object, sizeof(state->object), "wait");
    } else if (read_stop(pid, tid, state)) {
        state->reason = REASON_STOPPED;
        snprintf(state->object, sizeof(state->object), "stopped");
    } else if (call) {
        describe_call((struct target_thread){pid, tid}, call, state->arguments, state);
    } else if (state->number < 0) {
        state->reason = REASON_PAGE_FAULT;
        snprintf(state->object, sizeof(state->object), "page fault");
    } else {
        snprintf(state->object, sizeof(state->object), "system call %" PRId64, state->number);
    }
}

#include "os/target_memory.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CAPACITY = 4 << 20, USERS = 1024, CHECK_NS = 1000000000, PATIENCE = 50 };

/* Memory shared with one helper. A new helper gets new memory, because a killed helper may still write. */
struct exchange {
    _Atomic uint32_t asked, answered; /* numbers of the last request and of the last answer */
    uint32_t tid;
    size_t parts, size;
    struct iovec remote[TARGET_MEMORY_PARTS];
    char path[64]; /* empty: `remote` */
    ssize_t got;
    unsigned char bytes[CAPACITY];
};

enum access { DIRECT, BY_HELPER, REFUSED };

struct process_user {
    uint32_t pid, uid;
    enum access access;
    uint64_t checked; /* ns, or 0 if unused */
    ino_t inode;      /* of /proc/PID */
    uid_t owner;
};

struct silent_process {
    uint32_t pid, uid;
    uint64_t until; /* ns: no reads before this time, or 0 (the entry is unused) */
    bool is_taken;  /* target_memory_take_silent() has returned the process */
};

static struct {
    pthread_mutex_t mutex;
    enum { UNKNOWN, PRIVILEGED, UNPRIVILEGED } privilege;
    struct exchange *exchange; /* NULL without a helper */
    pid_t helper;
    int pidfd, helper_cpu;
    uint64_t cpu_time;                /* ns, of earlier helpers */
    struct process_user users[USERS]; /* by pid */
    struct silent_process silent[TARGET_MEMORY_SILENT];
    atomic_bool has_new; /* target_memory_take_silent() has not returned every silent process yet */
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* ---- the helper ---- */

static ssize_t read_path(const char *path, void *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : file_read(fd, out, size);
    if (fd >= 0)
        close(fd);
    return length;
}

/* The main loop of the helper. The helper is a copy of one thread of prof, so it makes only system calls. */
static _Noreturn void serve_requests(struct exchange *exchange, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    if (syscall(SYS_close_range, 0, ~0U, 0))
        for (int fd = 0; fd < 4096; fd++)
            close(fd);
    for (uint32_t number = 0;; futex(&exchange->answered, FUTEX_WAKE, 1, NULL)) {
        while (exchange->asked == number)
            futex(&exchange->asked, FUTEX_WAIT, number, NULL);
        number = exchange->asked;
        struct iovec local = {.iov_base = exchange->bytes, .iov_len = exchange->size};
        exchange->got = exchange->path[0]
                            ? read_path(exchange->path, exchange->bytes, exchange->size)
                            : process_vm_readv((pid_t)exchange->tid, &local, 1, exchange->remote, exchange->parts, 0);
        exchange->answered = number;
    }
}

/* Gives the helper the caller's real-time priority, because the recorder waits for the helper. */
static void inherit_scheduling(int policy)
{
    struct sched_param param;
    policy &= ~SCHED_RESET_ON_FORK;
    if ((policy == SCHED_FIFO || policy == SCHED_RR) && !sched_getparam(0, &param))
        sched_setscheduler(state.helper, policy, &param);
}

/* Starts the helper, whose end sends no signal, because prof would take SIGCHLD for the end of a recorded command. */
static bool start_helper(void)
{
    struct exchange *exchange =
        mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    sigset_t all, before;
    pid_t parent = getpid();
    if (exchange == MAP_FAILED)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    state.pidfd = -1; /* stays so before Linux 5.2 */
    state.helper = (pid_t)syscall(SYS_clone, CLONE_PIDFD, NULL, &state.pidfd, NULL, NULL);
    if (state.helper == 0)
        serve_requests(exchange, parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (state.helper < 0) {
        munmap(exchange, sizeof(*exchange));
        return false;
    }
    inherit_scheduling(sched_getscheduler(0));
    state.exchange = exchange;
    state.helper_cpu = -1;
    return true;
}

/* Moves the helper to the caller's CPU. On another CPU, which is often idle, a read costs 34 us instead of 13. */
static void follow_caller(void)
{
    int cpu = sched_getcpu();
    cpu_set_t set;
    if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == state.helper_cpu)
        return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(state.helper, sizeof(set), &set);
    state.helper_cpu = cpu;
}

static uint64_t read_helper_cpu_time(void)
{
    clockid_t clock;
    return state.exchange && !clock_getcpuclockid(state.helper, &clock) ? clock_ns(clock) : 0;
}

/* Kills the helper. An uninterruptible helper (blocked by a network file system) survives until prof has ended. */
static void kill_helper(void)
{
    if (!state.exchange)
        return;
    state.cpu_time += read_helper_cpu_time();
    if (state.pidfd < 0)
        kill(state.helper, SIGKILL);
    else
        syscall(SYS_pidfd_send_signal, state.pidfd, SIGKILL, NULL, 0);
    for (int i = 0; i < 20 && waitpid(state.helper, NULL, __WALL | WNOHANG) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    if (state.pidfd >= 0)
        close(state.pidfd);
    munmap(state.exchange, sizeof(*state.exchange));
    state.exchange = NULL;
}

static bool wait_for_answer(uint32_t number)
{
    struct exchange *exchange = state.exchange;
    const struct timespec timeout = {.tv_nsec = TARGET_MEMORY_TIMEOUT_NS};
    const uint64_t longest = monotonic_ns() + (uint64_t)PATIENCE * TARGET_MEMORY_TIMEOUT_NS;
    uint32_t answered;
    while ((answered = exchange->answered) != number)
        if (futex(&exchange->answered, FUTEX_WAIT, answered, &timeout) && errno == ETIMEDOUT &&
            exchange->answered != number &&
            (monotonic_ns() > longest || proc_read_state((uint32_t)state.helper) != 'R'))
            break;
    return exchange->answered == number;
}

/* ---- users ---- */

static bool is_trusted(const char *status)
{
    const char *line = strstr(status, "\nUid:");
    unsigned ids[4] = {1, 1, 1, 1};
    if (!line || sscanf(line, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
        return false;
    for (size_t i = 0; i < 4; i++)
        if (ids[i] && ids[i] != geteuid())
            return false;
    return true;
}

static enum access find_access(const struct process_user *user, const char *status)
{
    size_t of_user = 0, silent = 0;
    for (size_t i = 0; i < TARGET_MEMORY_SILENT; i++) {
        const struct silent_process *process = &state.silent[i];
        if (user->checked >= process->until)
            continue;
        if (process->pid == user->pid)
            return REFUSED;
        of_user += process->uid == user->uid;
        silent++;
    }
    if (is_trusted(status))
        return DIRECT;
    return of_user < TARGET_MEMORY_SILENT_OF_USER && silent < TARGET_MEMORY_SILENT ? BY_HELPER : REFUSED;
}

static void read_user(struct process_user *user, uint32_t pid, uint64_t now, const struct stat *directory)
{
    char path[64], status[4096];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
    file_read_text(path, status, sizeof(status));
    const char *uid = strstr(status, "\nUid:");
    *user = (struct process_user){.pid = pid,
                                  .uid = uid ? (uint32_t)strtoul(uid + 5, NULL, 10) : UINT32_MAX,
                                  .inode = directory->st_ino,
                                  .owner = directory->st_uid,
                                  .checked = now};
    user->access = find_access(user, status);
}

/* Finds the user of a process. The owner of /proc/PID is the effective user, and its inode differs for the next process
 * with this pid. If both are unchanged, prof still trusts the process: stat() takes 1.4 us, reading the status 10
 * us. */
static struct process_user *find_user(uint32_t pid)
{
    struct process_user *user = &state.users[pid % USERS];
    uint64_t now = monotonic_ns();
    struct stat directory = {0};
    char path[32];
    if (user->pid == pid && user->checked && now < user->checked + CHECK_NS)
        return user;
    snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
    if (stat(path, &directory) == 0 && user->pid == pid && user->access == DIRECT && user->checked &&
        user->inode == directory.st_ino && user->owner == directory.st_uid)
        user->checked = now;
    else
        read_user(user, pid, now, &directory);
    return user;
}

/* Without CAP_SYS_PTRACE, the kernel permits only reads of processes of prof's own user. */
static bool may_read_other_users(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    return syscall(SYS_capget, &header, sets) == 0 && sets[0].effective & UINT32_C(1) << CAP_SYS_PTRACE;
}

static struct process_user *get_user(uint32_t pid)
{
    static struct process_user own = {.access = DIRECT};
    if (state.privilege == UNKNOWN)
        state.privilege = may_read_other_users() ? PRIVILEGED : UNPRIVILEGED;
    return state.privilege == PRIVILEGED ? find_user(pid) : &own;
}

/* Adds a silent process to the entry whose pause ends first, which is free: without a free entry, prof does not send
 * requests to the helper. */
static void add_silent_process(const struct process_user *user)
{
    struct silent_process *first = state.silent;
    for (size_t i = 1; i < TARGET_MEMORY_SILENT; i++)
        if (state.silent[i].until < first->until)
            first = &state.silent[i];
    *first =
        (struct silent_process){.pid = user->pid, .uid = user->uid, .until = monotonic_ns() + TARGET_MEMORY_PAUSE_NS};
    state.has_new = true;
    memset(state.users, 0, sizeof(state.users)); /* forget the other threads of the process, and its user */
}

/* ---- requests ---- */

/* Sends the stored request to the helper. Returns whether the read has succeeded. */
static bool send_request(const struct process_user *user)
{
    struct exchange *exchange = state.exchange;
    uint32_t number = exchange->asked + 1;
    follow_caller();
    exchange->asked = number;
    futex(&exchange->asked, FUTEX_WAKE, 1, NULL);
    if (wait_for_answer(number))
        return exchange->got >= 0;
    char was = proc_read_state((uint32_t)state.helper);
    kill_helper();
    if (was && was != 'Z' && was != 'X') /* no other process has killed the helper */
        add_silent_process(user);
    return false;
}

static ssize_t read_by_helper(const struct process_user *user, uint32_t tid, const struct iovec *local,
                              size_t local_count, const struct iovec *remote, size_t remote_count)
{
    size_t size = 0, at = 0;
    for (size_t i = 0; i < local_count; i++)
        size += local[i].iov_len;
    if (remote_count > TARGET_MEMORY_PARTS || size > CAPACITY || (!state.exchange && !start_helper()))
        return -1;
    struct exchange *exchange = state.exchange;
    exchange->path[0] = '\0';
    exchange->tid = tid;
    exchange->parts = remote_count;
    exchange->size = size;
    memcpy(exchange->remote, remote, remote_count * sizeof(*remote));
    if (!send_request(user))
        return -1;
    for (size_t i = 0, length; i < local_count && at < (size_t)exchange->got; i++, at += length) {
        length = (size_t)exchange->got - at < local[i].iov_len ? (size_t)exchange->got - at : local[i].iov_len;
        memcpy(local[i].iov_base, exchange->bytes + at, length);
    }
    return (ssize_t)at;
}

ssize_t target_memory_readv(struct target_thread thread, const struct iovec *local, size_t local_count,
                            const struct iovec *remote, size_t remote_count)
{
    ssize_t got = -1;
    pthread_mutex_lock(&state.mutex);
    const struct process_user *user = get_user(thread.pid);
    enum access access = user->access;
    if (access == BY_HELPER)
        got = read_by_helper(user, thread.tid, local, local_count, remote, remote_count);
    pthread_mutex_unlock(&state.mutex);
    return access == DIRECT ? process_vm_readv((pid_t)thread.tid, local, local_count, remote, remote_count, 0) : got;
}

size_t target_memory_read(struct target_thread thread, uint64_t address, void *out, size_t size)
{
    struct iovec local = {.iov_base = out, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
    ssize_t got = target_memory_readv(thread, &local, 1, &remote, 1);
    return got > 0 ? (size_t)got : 0;
}

size_t target_memory_read_file(struct target_thread thread, const char *name, void *out, size_t size)
{
    char path[sizeof(((struct exchange *)NULL)->path)];
    ssize_t got = -1;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", thread.tid, name);
    pthread_mutex_lock(&state.mutex);
    const struct process_user *user = get_user(thread.pid);
    enum access access = user->access;
    if (access == BY_HELPER && (state.exchange || start_helper())) {
        memcpy(state.exchange->path, path, sizeof(path));
        state.exchange->size = size < CAPACITY ? size : CAPACITY;
        if (send_request(user)) {
            got = state.exchange->got;
            memcpy(out, state.exchange->bytes, (size_t)got);
        }
    }
    pthread_mutex_unlock(&state.mutex);
    if (access == DIRECT)
        got = read_path(path, out, size);
    return got > 0 ? (size_t)got : 0;
}

bool target_memory_take_silent(uint32_t *pid)
{
    bool is_new = false;
    if (!atomic_load_explicit(
            &state.has_new,
            memory_order_relaxed)) /* a cheap check, because prof calls this function after each sample */
        return false;
    pthread_mutex_lock(&state.mutex);
    for (size_t i = 0; i < TARGET_MEMORY_SILENT && !is_new; i++) {
        struct silent_process *process = &state.silent[i];
        is_new = process->until && !process->is_taken;
        process->is_taken |= is_new;
        *pid = process->pid;
    }
    state.has_new = is_new; /* the list may contain another new process */
    pthread_mutex_unlock(&state.mutex);
    return is_new;
}

uint64_t target_memory_get_cpu_time(void)
{
    pthread_mutex_lock(&state.mutex);
    uint64_t time = state.cpu_time + read_helper_cpu_time();
    pthread_mutex_unlock(&state.mutex);
    return time;
}

void target_memory_stop(void)
{
    pthread_mutex_lock(&state.mutex);
    kill_helper();
    pthread_mutex_unlock(&state.mutex);
}

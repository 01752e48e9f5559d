#include "process/attach.h"

#include "os/file_io.h"
#include "os/file_proc.h"
#include "os/parallel.h"
#include "os/target_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int report_no_process(pid_t pid, struct error *err)
{
    return error_set(err, ESRCH, "process %d does not exist", (int)pid);
}

/* Appends the numeric names in a directory of /proc. Returns -errno without a sentence. */
static int list_numbers(const char *path, struct tid_array *numbers)
{
    DIR *directory = opendir(path);
    if (!directory)
        return -errno;
    int code = 0;
    for (const struct dirent *entry; !code && (entry = readdir(directory));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            !array_push(numbers, (pid_t)strtol(entry->d_name, NULL, 10)))
            code = -ENOMEM;
    closedir(directory);
    return code;
}

int attach_list_threads(pid_t pid, struct tid_array *tids, struct error *err)
{
    char path[64];
    size_t before = tids->length;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    int code = list_numbers(path, tids);
    if (code == -ENOMEM)
        return error_no_memory(err);
    return code || tids->length == before ? report_no_process(pid, err) : 0;
}

int attach_list_processes(struct tid_array *pids, struct error *err)
{
    int code = list_numbers("/proc", pids);
    if (code == -ENOMEM)
        return error_no_memory(err);
    return code ? error_set(err, -code, "cannot list the processes in /proc: %s", strerror(-code)) : 0;
}

/* 0 if it has ended. */
static pid_t read_parent(pid_t pid)
{
    struct proc_stat stat;
    return proc_stat_read((uint32_t)pid, &stat) && !proc_stat_has_ended(&stat) ? (pid_t)stat.parent : 0;
}

static bool has_pid(const pid_t *pids, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

int attach_list_children(const pid_t *pids, size_t count, struct tid_array *children, struct error *err)
{
    struct tid_array all = {0}, parents = {0};
    int code = attach_list_processes(&all, err);
    for (size_t i = 0; !code && i < all.length; i++)
        code = array_push(&parents, read_parent(all.data[i])) ? 0 : error_no_memory(err);
    for (size_t before = SIZE_MAX; !code && before != children->length;) {
        before = children->length;
        for (size_t i = 0; !code && i < all.length; i++) {
            bool is_child =
                has_pid(pids, count, parents.data[i]) || has_pid(children->data, children->length, parents.data[i]);
            bool is_known = has_pid(pids, count, all.data[i]) || has_pid(children->data, children->length, all.data[i]);
            if (is_child && !is_known && !array_push(children, all.data[i]))
                code = error_no_memory(err);
        }
    }
    array_free(&all);
    array_free(&parents);
    return code;
}

void attach_read_thread_name(pid_t pid, pid_t tid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    file_read_text(path, name, size);
}

uint64_t attach_identify_program(pid_t pid)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", proc_find_living_thread((uint32_t)pid));
    if (stat(path, &info) != 0)
        return 0;
    return (uint64_t)info.st_dev * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)info.st_ino;
}

static struct target_thread find_thread(pid_t pid)
{
    return (struct target_thread){(uint32_t)pid, proc_find_living_thread((uint32_t)pid)};
}

char **attach_read_command(pid_t pid)
{
    enum { LONGEST = 64 * 1024 }; /* limit of bytes of a command line; longer ones are truncated */
    char *text = malloc(LONGEST + 1), name[32];
    if (!text)
        return NULL;
    size_t length = target_memory_read_file(find_thread(pid), "cmdline", text, LONGEST - 1);
    while (length && !text[length - 1]) /* a program's own title is padded with NULs */
        length--;
    if (!length) {
        attach_read_thread_name(pid, pid, name, sizeof(name));
        length = (size_t)snprintf(text, LONGEST, "%s", name);
    }
    text[length++] = '\0';
    size_t words = 0;
    for (size_t i = 0; i < length; i++)
        words += !text[i];
    char **command = malloc((words + 1) * sizeof(*command) + length), *copy = (char *)(command + words + 1);
    if (command) {
        memcpy(copy, text, length);
        for (size_t i = 0; i < words; i++, copy += strlen(copy) + 1)
            command[i] = copy;
        command[words] = NULL;
    }
    free(text);
    return command;
}

bool attach_has_command(pid_t pid)
{
    char start;
    return target_memory_read_file(find_thread(pid), "cmdline", &start, 1) > 0;
}

struct watch {
    pid_t pid;
    int fd;
};

/* Until the process ends or the other end of the socket is closed. */
static void *await_end(void *argument)
{
    struct watch *watch = argument;
    struct pollfd other = {.fd = watch->fd};
    while (proc_is_running((uint32_t)watch->pid) && !poll(&other, 1, 50))
        ;
    send(watch->fd, "", 1, MSG_NOSIGNAL);
    close(watch->fd);
    free(watch);
    return NULL;
}

/* For Linux before 5.3, which lacks pidfd_open(). */
static int watch_by_thread(pid_t pid)
{
    int ends[2];
    if (!proc_is_running((uint32_t)pid)) {
        errno = ESRCH;
        return -1;
    }
    struct watch *watch = malloc(sizeof(*watch));
    if (!watch || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        free(watch);
        return -1;
    }
    *watch = (struct watch){.pid = pid, .fd = ends[1]};
    if (thread_start_detached(await_end, watch))
        return ends[0];
    close(ends[0]);
    close(ends[1]);
    free(watch);
    errno = EAGAIN;
    return -1;
}

int attach_watch(pid_t pid, struct error *err)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno == ENOSYS)
        fd = watch_by_thread(pid);
    if (fd >= 0)
        return fd;
    return errno == ESRCH || errno == EINVAL
               ? report_no_process(pid, err)
               : error_set(err, errno, "cannot wait for process %d to end: %s", (int)pid, strerror(errno));
}

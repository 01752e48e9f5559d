#include "os/file_timeout.h"

#include "os/clock.h"
#include "os/file_proc.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Work with two owners, the caller and its thread; the last owner to finish frees the work. */
struct timed_work {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct file_work *work;
    pid_t tid; /* 0: the thread of the work does not run yet */
    bool is_done, was_left;
};

static void destroy_job(struct timed_work *timed)
{
    pthread_cond_destroy(&timed->changed);
    pthread_mutex_destroy(&timed->mutex);
    free(timed);
}

static void *run_job(void *argument)
{
    struct timed_work *timed = argument;
    pthread_mutex_lock(&timed->mutex);
    timed->tid = (pid_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&timed->mutex);
    timed->work->run(timed->work);
    pthread_mutex_lock(&timed->mutex);
    bool was_left = timed->was_left;
    timed->is_done = true;
    pthread_cond_signal(&timed->changed);
    pthread_mutex_unlock(&timed->mutex);
    if (was_left) {
        timed->work->drop(timed->work);
        destroy_job(timed);
    }
    return NULL;
}

static bool wait_for(struct timed_work *timed, uint64_t timeout_ns)
{
    const uint64_t longest = monotonic_ns() + 50 * timeout_ns; /* time limit while the thread gets no CPU time */
    while (!timed->is_done) {
        uint64_t until = monotonic_ns() + timeout_ns;
        const struct timespec time = timespec_from_ns(until);
        if (pthread_cond_timedwait(&timed->changed, &timed->mutex, &time) == ETIMEDOUT && !timed->is_done &&
            (until > longest || (timed->tid && proc_read_state((uint32_t)timed->tid) != 'R')))
            break;
    }
    return timed->is_done;
}

/* Gives the thread the caller's real-time priority, so that the caller does not wait for it. */
static void inherit_scheduling(pthread_attr_t *attributes)
{
    struct sched_param param;
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    if ((policy != SCHED_FIFO && policy != SCHED_RR) || sched_getparam(0, &param))
        return;
    pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(attributes, policy);
    pthread_attr_setschedparam(attributes, &param);
}

static int start_thread(struct timed_work *timed)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes))
        return -EAGAIN;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    inherit_scheduling(&attributes);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* block all signals: other threads handle them */
    int code = pthread_create(&thread, &attributes, run_job, timed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code ? -EAGAIN : 0;
}

int file_run_with_timeout(struct file_work *work, uint64_t timeout_ns)
{
    struct timed_work *timed = calloc(1, sizeof(*timed));
    pthread_condattr_t attributes;
    if (!timed || pthread_condattr_init(&attributes)) {
        free(timed);
        work->drop(work);
        return -EAGAIN;
    }
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&timed->mutex, NULL);
    pthread_cond_init(&timed->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    timed->work = work;
    if (start_thread(timed)) {
        destroy_job(timed);
        work->drop(work);
        return -EAGAIN;
    }
    pthread_mutex_lock(&timed->mutex);
    bool is_done = wait_for(timed, timeout_ns);
    timed->was_left = !is_done;
    pthread_mutex_unlock(&timed->mutex);
    if (!is_done)
        return -ETIMEDOUT;
    destroy_job(timed);
    return 0;
}

/* ---- opening ---- */

struct opening {
    struct file_work work;
    int directory, flags, fd; /* directory: a duplicate; fd: the result of openat(), or a negative errno value */
    char name[];
};

static void run_open(struct file_work *work)
{
    struct opening *opening = (struct opening *)work;
    opening->fd = openat(opening->directory, opening->name, opening->flags);
    if (opening->fd < 0)
        opening->fd = -errno;
}

static void drop_opening(struct file_work *work)
{
    struct opening *opening = (struct opening *)work;
    if (opening->fd >= 0)
        close(opening->fd);
    if (opening->directory >= 0)
        close(opening->directory);
    free(opening);
}

int file_open_with_timeout(int directory, const char *name, int flags, uint64_t timeout_ns)
{
    size_t size = strlen(name) + 1;
    struct opening *opening = calloc(1, sizeof(*opening) + size);
    if (!opening)
        return -ENOMEM;
    *opening = (struct opening){.work = {run_open, drop_opening}, .directory = directory, .flags = flags, .fd = -1};
    memcpy(opening->name, name, size);
    if (directory >= 0)
        opening->directory = fcntl(directory, F_DUPFD_CLOEXEC, 3);
    int code = file_run_with_timeout(&opening->work, timeout_ns);
    if (code)
        return code;
    int fd = opening->fd;
    opening->fd = -1;
    drop_opening(&opening->work);
    return fd;
}

/* ---- file systems ---- */

bool file_system_responds(int fd)
{
    static const unsigned long answering[] = {
        BTRFS_SUPER_MAGIC,
        EXT4_SUPER_MAGIC,
        F2FS_SUPER_MAGIC,
        HUGETLBFS_MAGIC,
        MSDOS_SUPER_MAGIC,
        OVERLAYFS_SUPER_MAGIC,
        PROC_SUPER_MAGIC,
        RAMFS_MAGIC,
        SQUASHFS_MAGIC,
        TMPFS_MAGIC,
        0x58465342 /* xfs */,
        0x2fc12fc1 /* zfs */,
        0xca451a4e /* bcachefs */,
        0xe0f5e1e2 /* erofs */,
        0x01021997 /* 9p: of a virtual machine */,
    };
    struct statfs info;
    if (fstatfs(fd, &info))
        return false;
    for (size_t i = 0; i < sizeof(answering) / sizeof(*answering); i++)
        if ((unsigned long)info.f_type == answering[i])
            return true;
    return false;
}

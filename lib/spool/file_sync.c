#include "spool/file_sync.h"

#include "os/clock.h"
#include "os/file_output.h"

#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/statfs.h>
#include <unistd.h>

/* A new file that replaces another one. */
struct replacement {
    char *temporary; /* name of the new file before it replaces the other, or NULL for no replacement */
    char *path;
    int replaced_fd;
};

struct file_sync {
    pthread_t thread;
    pthread_mutex_t mutex; /* protects all members below */
    pthread_cond_t changed;
    int fd, directory_fd; /* directory_fd: -1 after the sync of the directory */
    struct replacement replacement;
    bool started, cannot_start, requested, ending;
    int code; /* negative: a request failed */
    uint64_t cpu_time;
};

static bool is_in_memory(int fd)
{
    struct statfs info;
    return fstatfs(fd, &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

struct file_sync *file_sync_begin(int fd, const char *path)
{
    struct file_sync *sync = is_in_memory(fd) ? NULL : calloc(1, sizeof(*sync));
    if (!sync)
        return NULL;
    pthread_mutex_init(&sync->mutex, NULL);
    pthread_cond_init(&sync->changed, NULL);
    sync->fd = fd;
    sync->directory_fd = file_open_directory_of(path);
    return sync;
}

/* Allows all CPUs for this thread, which inherits the recorder's CPU and its real-time priority. */
static void use_all_cpus(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof(all));
    sched_setaffinity(0, sizeof(all), &all); /* the kernel ignores CPUs that are not permitted */
}

/* Replaces the file. Fails if the path is NULL, because memory ran out earlier. */
static int replace_file(const struct replacement *replacement)
{
    int code = replacement->path && rename(replacement->temporary, replacement->path) == 0 ? 0 : -errno;
    close(replacement->replaced_fd);
    free(replacement->temporary);
    free(replacement->path);
    return code;
}

static int sync_to_disk(struct file_sync *sync, int directory_fd, const struct replacement *replacement)
{
    int code = file_sync(sync->fd);
    int replaced = replacement->temporary ? replace_file(replacement) : 0;
    code = code ? code : replaced;
    if (directory_fd >= 0) {
        file_sync(directory_fd);
        close(directory_fd);
    }
    return code;
}

static void *serve_requests(void *context)
{
    struct file_sync *sync = context;
    use_all_cpus();
    pthread_mutex_lock(&sync->mutex);
    while (!sync->ending) {
        if (!sync->requested) {
            pthread_cond_wait(&sync->changed, &sync->mutex);
            continue;
        }
        sync->requested = false;
        int directory_fd = sync->directory_fd;
        sync->directory_fd = -1;
        struct replacement replacement = sync->replacement;
        pthread_mutex_unlock(&sync->mutex);
        int code = sync_to_disk(sync, directory_fd, &replacement);
        pthread_mutex_lock(&sync->mutex);
        sync->replacement.temporary = NULL;
        if (code)
            sync->code = code;
        sync->cpu_time = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    }
    pthread_mutex_unlock(&sync->mutex);
    return NULL;
}

static bool start_thread(struct file_sync *sync)
{
    enum { STACK = 128 * 1024 };
    static const struct sched_param normal = {0};
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &normal);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&sync->thread, &attributes, serve_requests, sync) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

int file_sync_request(struct file_sync *sync)
{
    if (!sync || sync->cannot_start)
        return 0;
    if (!sync->started) {
        sync->started = start_thread(sync);
        sync->cannot_start = !sync->started;
    }
    pthread_mutex_lock(&sync->mutex);
    int code = sync->code;
    sync->code = 0;
    sync->requested = true;
    pthread_cond_signal(&sync->changed);
    pthread_mutex_unlock(&sync->mutex);
    return code;
}

void file_sync_replace(struct file_sync *sync, char *temporary, int replaced_fd, const char *path)
{
    struct replacement replacement = {.temporary = temporary, .path = strdup(path), .replaced_fd = replaced_fd};
    if (!sync) {
        replace_file(&replacement);
        return;
    }
    pthread_mutex_lock(&sync->mutex);
    sync->replacement = replacement;
    pthread_mutex_unlock(&sync->mutex);
    file_sync_request(sync);
}

uint64_t file_sync_get_cpu_time(struct file_sync *sync)
{
    if (!sync)
        return 0;
    pthread_mutex_lock(&sync->mutex);
    uint64_t time = sync->cpu_time;
    pthread_mutex_unlock(&sync->mutex);
    return time;
}

void file_sync_end(struct file_sync *sync)
{
    if (!sync)
        return;
    pthread_mutex_lock(&sync->mutex);
    sync->ending = true;
    pthread_cond_signal(&sync->changed);
    pthread_mutex_unlock(&sync->mutex);
    if (sync->started)
        pthread_join(sync->thread, NULL);
    if (sync->replacement.temporary) /* the thread did not start */
        sync_to_disk(sync, -1, &sync->replacement);
    if (sync->directory_fd >= 0)
        close(sync->directory_fd);
    pthread_cond_destroy(&sync->changed);
    pthread_mutex_destroy(&sync->mutex);
    free(sync);
}

/*
 * Formatting JSON and packing it take about the same time, so they run at once: the producer fills one block while a
 * thread packs and writes the other. Where no thread can be had the producer packs its own blocks.
 *
 * The rename makes the file whole or absent for everyone on this machine. There is no fsync(): it would cost more than
 * all the writing, to survive a power cut in the second after a recording.
 */
#include "profile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK_SIZE = 256 * 1024, GZIP_LEVEL = 6, GZIP_HEADER = 16, WINDOW_BITS = 15, MEMORY_LEVEL = 9 };

struct block {
    size_t used;
    unsigned char bytes[BLOCK_SIZE];
};

struct profile_file {
    int fd;
    char *path;      /* what it will be called */
    char *temporary; /* what it is called until then; NULL: written directly */
    bool gzip, failed;
    struct error failure; /* why, if `failed` */
    z_stream stream;
    unsigned char packed[64 * 1024];

    struct block *filling, *packing; /* the packing thread owns `packing` while `busy` */
    bool has_thread, busy, ending;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void write_fully(struct profile_file *file, const unsigned char *bytes, size_t size)
{
    while (size && !file->failed) {
        ssize_t written = write(file->fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            file->failed = true;
            error_set(&file->failure, errno, "cannot write %s: %s", file->path, strerror(errno));
            return;
        }
        bytes += written;
        size -= (size_t)written;
    }
}

static void pack(struct profile_file *file, struct block *block, int flush)
{
    if (!file->gzip) {
        write_fully(file, block->bytes, block->used);
        block->used = 0;
        return;
    }
    file->stream.next_in = block->bytes;
    file->stream.avail_in = (uInt)block->used;
    do {
        file->stream.next_out = file->packed;
        file->stream.avail_out = sizeof(file->packed);
        deflate(&file->stream, flush);
        write_fully(file, file->packed, sizeof(file->packed) - file->stream.avail_out);
    } while (file->stream.avail_out == 0 && !file->failed);
    block->used = 0;
}

static void *packing_thread(void *context)
{
    struct profile_file *file = context;
    pthread_mutex_lock(&file->lock);
    for (;;) {
        while (!file->busy && !file->ending)
            pthread_cond_wait(&file->changed, &file->lock);
        if (!file->busy)
            break;
        pthread_mutex_unlock(&file->lock);
        pack(file, file->packing, Z_NO_FLUSH);
        pthread_mutex_lock(&file->lock);
        file->busy = false;
        pthread_cond_broadcast(&file->changed);
    }
    pthread_mutex_unlock(&file->lock);
    return NULL;
}

/* Signals are for the thread that started the program. */
static bool start_thread(struct profile_file *file)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    bool started = pthread_create(&file->thread, NULL, packing_thread, file) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static void wait_until_packed(struct profile_file *file)
{
    if (!file->has_thread)
        return;
    pthread_mutex_lock(&file->lock);
    while (file->busy)
        pthread_cond_wait(&file->changed, &file->lock);
    pthread_mutex_unlock(&file->lock);
}

static void hand_over_block(struct profile_file *file)
{
    if (!file->has_thread) {
        pack(file, file->filling, Z_NO_FLUSH);
        return;
    }
    wait_until_packed(file);
    struct block *full = file->filling;
    file->filling = file->packing;
    pthread_mutex_lock(&file->lock);
    file->packing = full;
    file->busy = true;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->lock);
}

static int sink_write(void *context, const void *bytes, size_t size, struct error *err)
{
    struct profile_file *file = context;
    const unsigned char *at = bytes;
    while (size) {
        struct block *block = file->filling;
        size_t part = size < BLOCK_SIZE - block->used ? size : BLOCK_SIZE - block->used;
        memcpy(block->bytes + block->used, at, part);
        block->used += part;
        at += part;
        size -= part;
        if (block->used == BLOCK_SIZE)
            hand_over_block(file);
    }
    (void)err;
    return 0;
}

struct byte_sink profile_file_sink(struct profile_file *file)
{
    return (struct byte_sink){.write = sink_write, .context = file};
}

static bool ends_in_gz(const char *path)
{
    size_t length = strlen(path);
    return length >= 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* The file behind symbolic links, so that the rename replaces it and not the link. */
static char *final_path(const char *path)
{
    char *resolved = realpath(path, NULL);
    return resolved ? resolved : strdup(path);
}

static int open_temporary(struct profile_file *file, struct error *err)
{
    if (asprintf(&file->temporary, "%s.%ld.tmp", file->path, (long)getpid()) < 0) {
        file->temporary = NULL;
        return error_no_memory(err);
    }
    unlink(file->temporary); /* of a process that had the same number and was killed */
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return error_set(err, errno, "cannot create %s: %s", file->path, strerror(errno));
    return 0;
}

static int open_directly(struct profile_file *file, struct error *err)
{
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? error_set(err, errno, "cannot open %s: %s", file->path, strerror(errno)) : 0;
}

static int open_output(struct profile_file *file, const char *path, struct error *err)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return error_set(err, EISDIR, "cannot write %s: it is a folder; give a file name in it", path);
    bool special = exists && !S_ISREG(status.st_mode);
    file->path = special ? strdup(path) : final_path(path);
    if (!file->path)
        return error_no_memory(err);
    return special ? open_directly(file, err) : open_temporary(file, err);
}

static void file_free(struct profile_file *file)
{
    if (file->gzip)
        deflateEnd(&file->stream);
    if (file->fd >= 0)
        close(file->fd);
    pthread_cond_destroy(&file->changed);
    pthread_mutex_destroy(&file->lock);
    free(file->filling);
    free(file->packing);
    free(file->temporary);
    free(file->path);
    free(file);
}

int profile_file_create(struct profile_file **out, const char *path, struct error *err)
{
    *out = NULL;
    struct profile_file *file = calloc(1, sizeof(*file));
    if (!file)
        return error_no_memory(err);
    file->fd = -1;
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->changed, NULL);
    file->filling = calloc(1, sizeof(*file->filling));
    file->packing = calloc(1, sizeof(*file->packing));
    int rc = file->filling && file->packing ? 0 : error_no_memory(err);
    if (!rc && ends_in_gz(path)) {
        file->gzip = deflateInit2(&file->stream, GZIP_LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_HEADER, MEMORY_LEVEL,
                                  Z_DEFAULT_STRATEGY) == Z_OK;
        rc = file->gzip ? 0 : error_no_memory(err);
    }
    if (!rc)
        rc = open_output(file, path, err);
    if (rc) {
        file_free(file);
        return rc;
    }
    file->has_thread = start_thread(file);
    *out = file;
    return 0;
}

static void end_thread(struct profile_file *file)
{
    if (!file->has_thread)
        return;
    wait_until_packed(file);
    pthread_mutex_lock(&file->lock);
    file->ending = true;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->lock);
    pthread_join(file->thread, NULL);
    file->has_thread = false;
}

static void close_output(struct profile_file *file)
{
    int status = close(file->fd);
    file->fd = -1;
    if (status < 0 && !file->failed) {
        file->failed = true;
        error_set(&file->failure, errno, "cannot write %s: %s", file->path, strerror(errno));
    }
}

static void remove_temporary(struct profile_file *file)
{
    if (file->temporary)
        unlink(file->temporary);
}

int profile_file_commit(struct profile_file *file, struct error *err)
{
    end_thread(file);
    pack(file, file->filling, Z_FINISH);
    close_output(file);
    int rc = 0;
    if (file->failed) {
        if (err)
            *err = file->failure;
        rc = -EIO;
    } else if (file->temporary && rename(file->temporary, file->path) < 0) {
        rc = error_set(err, errno, "cannot rename %s to %s: %s", file->temporary, file->path, strerror(errno));
    }
    if (rc)
        remove_temporary(file);
    file_free(file);
    return rc;
}

void profile_file_abandon(struct profile_file *file)
{
    end_thread(file);
    remove_temporary(file);
    file_free(file);
}

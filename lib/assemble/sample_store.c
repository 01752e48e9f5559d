/*
 * Each thread fills its own block. Full blocks are appended to the file, and the thread keeps their offsets. A thread's
 * first block is small, because a program may have ten thousand threads with a sample or two each.
 */
#include "assemble/sample_store.h"

#include "os/file_io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_SAMPLES = 512 };

_Static_assert(sizeof(struct stored_sample) == 16, "a recording has millions of samples");

struct thread_blocks {
    ARRAY(uint64_t) offsets;            /* offsets of the full blocks in the file */
    ARRAY(struct stored_sample) newest; /* the block being filled */
};

struct sample_store {
    int fd; /* descriptor of the file, or -1 until the first block is full */
    bool in_memory;
    uint64_t size;
    char *directory;
    ARRAY(struct thread_blocks) threads;
};

static char *get_directory(const char *beside)
{
    const char *slash = strrchr(beside, '/');
    return slash ? strndup(beside, (size_t)(slash - beside) + 1) : strdup("./");
}

struct sample_store *sample_store_new(const char *beside)
{
    struct sample_store *store = calloc(1, sizeof(*store));
    if (store) {
        store->fd = -1;
        store->directory = get_directory(beside);
    }
    if (!store || !store->directory) {
        sample_store_free(store);
        return NULL;
    }
    return store;
}

void sample_store_free(struct sample_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->threads.length; i++) {
        array_free(&store->threads.data[i].offsets);
        array_free(&store->threads.data[i].newest);
    }
    array_free(&store->threads);
    if (store->fd >= 0)
        close(store->fd);
    free(store->directory);
    free(store);
}

/* Returns -1 if no file can be created in the directory: no permission, or a read-only or full disk. */
static int open_in_directory(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    /* O_TMPFILE is not supported on every file system */
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s.prof-samples-XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof(path))
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int open_in_memory(struct error *err)
{
    int fd = memfd_create("prof-samples", MFD_CLOEXEC);
    return fd < 0 ? error_set(err, errno, "cannot store the samples in memory: %s", strerror(errno)) : fd;
}

int sample_store_open_file(const char *beside, struct error *err)
{
    char *directory = get_directory(beside);
    int fd = directory ? open_in_directory(directory) : -1;
    free(directory);
    return fd < 0 ? open_in_memory(err) : fd;
}

static int open_file(struct sample_store *store, struct error *err)
{
    store->fd = open_in_directory(store->directory);
    if (store->fd >= 0)
        return 0;
    store->in_memory = true;
    store->fd = open_in_memory(err);
    return store->fd < 0 ? store->fd : 0;
}

/* Copies the file to memory, and continues in memory. */
static int move_to_memory(struct sample_store *store, struct error *err)
{
    struct stored_sample block[BLOCK_SAMPLES];
    int fd = open_in_memory(err);
    int code = fd < 0 ? fd : 0;
    for (uint64_t at = 0; at < store->size && !code; at += sizeof(block)) {
        ssize_t got = file_read_at(store->fd, block, sizeof(block), at);
        code = got == (ssize_t)sizeof(block) ? file_write(fd, block, sizeof(block)) : got < 0 ? (int)got : -EIO;
        if (code)
            error_set(err, -code, "cannot move a temporary file to memory: %s", strerror(-code));
    }
    if (code) {
        if (fd >= 0)
            close(fd);
        return code;
    }
    close(store->fd);
    store->fd = fd;
    store->in_memory = true;
    return 0;
}

static int append_block(struct sample_store *store, struct thread_blocks *thread, struct error *err)
{
    if (store->fd < 0) {
        int code = open_file(store, err);
        if (code)
            return code;
    }
    if (!array_push(&thread->offsets, store->size))
        return error_no_memory(err);
    size_t size = BLOCK_SAMPLES * sizeof(struct stored_sample);
    int code = file_write(store->fd, thread->newest.data, size);
    if ((code == -ENOSPC || code == -EDQUOT || code == -EFBIG) && !store->in_memory) {
        int moved = move_to_memory(store, err);
        if (moved)
            return moved;
        code = file_write(store->fd, thread->newest.data, size);
    }
    if (code)
        return error_set(err, -code, "cannot write a temporary file in %s: %s", store->directory, strerror(-code));
    store->size += size;
    thread->newest.length = 0;
    return 0;
}

int sample_store_add(struct sample_store *store, uint32_t thread, const struct stored_sample *sample, struct error *err)
{
    while (store->threads.length <= thread)
        if (!array_push_zero(&store->threads))
            return error_no_memory(err);
    struct thread_blocks *blocks = &store->threads.data[thread];
    if (blocks->newest.length == BLOCK_SAMPLES) {
        int code = append_block(store, blocks, err);
        if (code)
            return code;
    }
    return array_push(&blocks->newest, *sample) ? 0 : error_no_memory(err);
}

struct stored_sample *sample_store_get_newest(struct sample_store *store, uint32_t thread)
{
    if (thread >= store->threads.length || !store->threads.data[thread].newest.length)
        return NULL;
    struct thread_blocks *blocks = &store->threads.data[thread];
    return &blocks->newest.data[blocks->newest.length - 1];
}

struct stored_sample *sample_store_get_newest_wait(struct sample_store *store, uint32_t thread)
{
    struct stored_sample *newest = sample_store_get_newest(store, thread);
    bool has_begin = newest && store->threads.data[thread].newest.length > 1; /* in memory */
    return has_begin && stored_sample_ends_wait(newest) ? newest - 1 : NULL;
}

uint64_t sample_store_count(const struct sample_store *store, uint32_t thread)
{
    if (thread >= store->threads.length)
        return 0;
    const struct thread_blocks *blocks = &store->threads.data[thread];
    return (uint64_t)blocks->offsets.length * BLOCK_SAMPLES + blocks->newest.length;
}

int sample_cursor_start(struct sample_cursor *cursor, const struct sample_store *store, uint32_t thread,
                        struct error *err)
{
    if (!cursor->block)
        cursor->block = malloc(BLOCK_SAMPLES * sizeof(*cursor->block));
    if (!cursor->block)
        return error_no_memory(err);
    cursor->store = store;
    cursor->thread = thread;
    cursor->position = 0;
    cursor->loaded_block = SIZE_MAX;
    return 0;
}

static int load_block(struct sample_cursor *cursor, const struct thread_blocks *blocks, size_t block, struct error *err)
{
    size_t size = BLOCK_SAMPLES * sizeof(struct stored_sample);
    ssize_t got = file_read_at(cursor->store->fd, cursor->block, size, blocks->offsets.data[block]);
    if (got != (ssize_t)size) {
        int code = got < 0 ? (int)-got : EIO;
        return error_set(err, code, "cannot read back a temporary file: %s", strerror(code));
    }
    cursor->loaded_block = block;
    return 0;
}

int sample_cursor_next(struct sample_cursor *cursor, struct stored_sample *sample, struct error *err)
{
    if (cursor->position >= sample_store_count(cursor->store, cursor->thread))
        return 0;
    const struct thread_blocks *blocks = &cursor->store->threads.data[cursor->thread];
    size_t block = (size_t)(cursor->position / BLOCK_SAMPLES);
    size_t place = (size_t)(cursor->position % BLOCK_SAMPLES);
    cursor->position++;
    if (block == blocks->offsets.length) {
        *sample = blocks->newest.data[place];
        return 1;
    }
    if (block != cursor->loaded_block) {
        int code = load_block(cursor, blocks, block, err);
        if (code)
            return code;
    }
    *sample = cursor->block[place];
    return 1;
}

void sample_cursor_destroy(struct sample_cursor *cursor)
{
    free(cursor->block);
    *cursor = (struct sample_cursor){0};
}

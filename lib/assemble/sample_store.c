/*
 * Each thread fills its own block. Full blocks are appended to the file, and the thread keeps their offsets. If the
 * file takes no more blocks, all blocks move to memory. A file in memory would have the limit on the size of files
 * (RLIMIT_FSIZE), too. A thread's first block is small, because a program may have ten thousand threads with a
 * sample or two each.
 */
#include "assemble/sample_store.h"

#include "os/file_io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_SAMPLES = 512 };

_Static_assert(sizeof(struct stored_sample) == 16, "a recording has millions of samples");

struct full_block {
    struct stored_sample *samples; /* in memory; NULL: in the file at `offset` */
    uint64_t offset;
};

struct thread_blocks {
    ARRAY(struct full_block) full;
    ARRAY(struct stored_sample) newest; /* the block being filled */
};

struct sample_store {
    int fd;       /* descriptor of the file, or -1 until the first block is full */
    bool is_full; /* the file takes no more blocks */
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
        struct thread_blocks *thread = &store->threads.data[i];
        for (size_t j = 0; j < thread->full.length; j++)
            free(thread->full.data[j].samples);
        array_free(&thread->full);
        array_free(&thread->newest);
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

int sample_store_open_file(const char *beside, struct error *err)
{
    char *directory = get_directory(beside);
    int fd = directory ? open_in_directory(directory) : -1;
    free(directory);
    if (fd < 0)
        fd = memfd_create("prof-samples", MFD_CLOEXEC);
    return fd < 0 ? error_set(err, errno, "cannot store the samples in memory: %s", strerror(errno)) : fd;
}

static int read_block(const struct sample_store *store, const struct full_block *block, struct stored_sample *samples,
                      struct error *err)
{
    size_t size = BLOCK_SAMPLES * sizeof(*samples);
    ssize_t got = file_read_at(store->fd, samples, size, block->offset);
    int code = got == (ssize_t)size ? 0 : got < 0 ? (int)-got : EIO;
    return code ? error_set(err, code, "cannot read back a temporary file: %s", strerror(code)) : 0;
}

/* Reads the blocks into memory and closes the file, because the profile needs the room on the disk. */
static int move_to_memory(struct sample_store *store, struct error *err)
{
    store->is_full = true;
    for (size_t i = 0; i < store->threads.length; i++)
        for (size_t j = 0; j < store->threads.data[i].full.length; j++) {
            struct full_block *block = &store->threads.data[i].full.data[j];
            block->samples = malloc(BLOCK_SAMPLES * sizeof(*block->samples));
            int code = block->samples ? read_block(store, block, block->samples, err) : error_no_memory(err);
            if (code)
                return code;
        }
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
    return 0;
}

static int append_block(struct sample_store *store, struct thread_blocks *thread, struct error *err)
{
    size_t size = BLOCK_SAMPLES * sizeof(struct stored_sample);
    if (store->fd < 0 && !store->is_full)
        store->fd = open_in_directory(store->directory);
    int code = store->is_full || store->fd < 0 ? -ENOSPC : file_write(store->fd, thread->newest.data, size);
    bool has_room = code != -ENOSPC && code != -EDQUOT && code != -EFBIG;
    if (code && has_room)
        return error_set(err, -code, "cannot write a temporary file in %s: %s", store->directory, strerror(-code));
    code = has_room || store->is_full ? 0 : move_to_memory(store, err);
    if (code)
        return code;
    struct full_block *block = array_push_zero(&thread->full);
    if (!block)
        return error_no_memory(err);
    block->offset = store->size;
    if (has_room) {
        store->size += size;
        thread->newest.length = 0;
    } else {
        block->samples = thread->newest.data;
        memset(&thread->newest, 0, sizeof(thread->newest));
    }
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
    return (uint64_t)blocks->full.length * BLOCK_SAMPLES + blocks->newest.length;
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

static int load_block(struct sample_cursor *cursor, const struct full_block *block, struct error *err)
{
    if (!block->samples)
        return read_block(cursor->store, block, cursor->block, err);
    memcpy(cursor->block, block->samples, BLOCK_SAMPLES * sizeof(*cursor->block));
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
    if (block == blocks->full.length) {
        *sample = blocks->newest.data[place];
        return 1;
    }
    if (block != cursor->loaded_block) {
        int code = load_block(cursor, &blocks->full.data[block], err);
        if (code)
            return code;
        cursor->loaded_block = block;
    }
    *sample = cursor->block[place];
    return 1;
}

void sample_cursor_destroy(struct sample_cursor *cursor)
{
    free(cursor->block);
    *cursor = (struct sample_cursor){0};
}

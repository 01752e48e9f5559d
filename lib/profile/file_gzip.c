/*
 * Packing takes ten times as long as formatting the JSON, and whoever ended a recording waits for it. So the stream is
 * cut into blocks that are packed independently, as pigz does: each is deflated with the last 32 KiB before it as its
 * dictionary, ends at a byte (Z_SYNC_FLUSH), and its checksum is combined with those before. One after the other they
 * are one deflate stream. It is some 1 % bigger than a stream packed in one go.
 *
 * The producer fills blocks in a ring; threads take them in order; the producer writes them out in order, and packs one
 * itself rather than wait. The threads start with the first full block: a small file never has any.
 */
#include "profile/file_gzip.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    WINDOW = 32 * 1024,
    BLOCK_SIZE = 128 * 1024,
    PACKED_ROOM = BLOCK_SIZE + BLOCK_SIZE / 8 + 4096, /* more than deflateBound() asks for */
    LEVEL =
        6, /* measured: 5 is 2 % bigger and takes two thirds of the time, 9 is 3 % smaller and takes three times it */
    MEMORY_LEVEL = 9,
    MOST_THREADS = 8,
    RING = 2 * MOST_THREADS + 1,
};

struct block {
    size_t used, packed_size, dictionary_size;
    bool last, packed;
    uLong checksum;
    unsigned char dictionary[WINDOW], bytes[BLOCK_SIZE], out[PACKED_ROOM];
};

struct gzip_packer {
    struct byte_sink out;
    struct block *ring[RING]; /* allocated when they are first needed */
    size_t filled, written;   /* blocks handed over, and written out; block n is ring[n % RING] */
    uLong checksum;
    uint32_t size;
    bool begun;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t taken; /* blocks that someone packs or has packed */
    bool ending;
    pthread_t threads[MOST_THREADS];
    size_t thread_count;
    bool threads_started;
};

struct gzip_packer *gzip_packer_new(struct byte_sink out)
{
    struct gzip_packer *packer = calloc(1, sizeof(*packer));
    if (!packer)
        return NULL;
    packer->ring[0] = calloc(1, sizeof(*packer->ring[0]));
    if (!packer->ring[0]) {
        free(packer);
        return NULL;
    }
    packer->out = out;
    packer->checksum = crc32(0, NULL, 0);
    pthread_mutex_init(&packer->lock, NULL);
    pthread_cond_init(&packer->changed, NULL);
    return packer;
}

static struct block *block_at(struct gzip_packer *packer, size_t number)
{
    return packer->ring[number % RING];
}

/* Leaves packed_size 0, which no packed block has, if memory ran out. */
static void pack_block(struct block *block)
{
    z_stream stream = {0};
    block->packed_size = 0;
    block->checksum = crc32(crc32(0, NULL, 0), block->bytes, (uInt)block->used);
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    if (block->dictionary_size)
        deflateSetDictionary(&stream, block->dictionary, (uInt)block->dictionary_size);
    stream.next_in = block->bytes;
    stream.avail_in = (uInt)block->used;
    stream.next_out = block->out;
    stream.avail_out = PACKED_ROOM;
    deflate(&stream, block->last ? Z_FINISH : Z_SYNC_FLUSH);
    block->packed_size = PACKED_ROOM - stream.avail_out;
    deflateEnd(&stream);
}

/* Takes the next block that waits, packs it and says so; false if there is none. The lock is held on entry and exit. */
static bool pack_next(struct gzip_packer *packer)
{
    if (packer->taken == packer->filled)
        return false;
    struct block *block = block_at(packer, packer->taken++);
    pthread_mutex_unlock(&packer->lock);
    pack_block(block);
    pthread_mutex_lock(&packer->lock);
    block->packed = true;
    pthread_cond_broadcast(&packer->changed);
    return true;
}

static void *packing_thread(void *context)
{
    struct gzip_packer *packer = context;
    pthread_mutex_lock(&packer->lock);
    while (!packer->ending)
        if (!pack_next(packer))
            pthread_cond_wait(&packer->changed, &packer->lock);
    pthread_mutex_unlock(&packer->lock);
    return NULL;
}

/* One thread less than there are processors, for the producer packs too. Signals are for the thread that began the
 * program. */
static void start_threads(struct gzip_packer *packer)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > MOST_THREADS ? MOST_THREADS : processors > 1 ? (size_t)processors - 1 : 0;
    sigset_t all, old;
    packer->threads_started = true;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    while (packer->thread_count < wanted &&
           pthread_create(&packer->threads[packer->thread_count], NULL, packing_thread, packer) == 0)
        packer->thread_count++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int write_header(struct gzip_packer *packer, struct error *err)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}; /* deflate, no name, no time, Unix */
    packer->begun = true;
    return packer->out.write(packer->out.context, header, sizeof(header), err);
}

static int write_block(struct gzip_packer *packer, const struct block *block, struct error *err)
{
    if (block->packed_size == 0)
        return error_no_memory(err);
    int rc = packer->begun ? 0 : write_header(packer, err);
    packer->checksum = crc32_combine(packer->checksum, block->checksum, (z_off_t)block->used);
    packer->size += (uint32_t)block->used;
    return rc ? rc : packer->out.write(packer->out.context, block->out, block->packed_size, err);
}

/* Writes the oldest block that is not written yet. While it is being packed the producer packs others. */
static int write_oldest(struct gzip_packer *packer, struct error *err)
{
    struct block *block = block_at(packer, packer->written);
    pthread_mutex_lock(&packer->lock);
    while (!block->packed)
        if (!pack_next(packer))
            pthread_cond_wait(&packer->changed, &packer->lock);
    pthread_mutex_unlock(&packer->lock);
    packer->written++;
    return write_block(packer, block, err);
}

static void hand_over(struct gzip_packer *packer, bool last)
{
    block_at(packer, packer->filled)->last = last;
    pthread_mutex_lock(&packer->lock);
    packer->filled++;
    pthread_cond_broadcast(&packer->changed);
    pthread_mutex_unlock(&packer->lock);
}

/* Makes the next block of the ring ready to be filled. */
static int begin_block(struct gzip_packer *packer, struct error *err)
{
    struct block *previous = block_at(packer, packer->filled - 1);
    if (packer->filled - packer->written == RING) {
        int rc = write_oldest(packer, err);
        if (rc)
            return rc;
    }
    struct block **place = &packer->ring[packer->filled % RING];
    if (!*place)
        *place = malloc(sizeof(**place));
    if (!*place)
        return error_no_memory(err);
    struct block *block = *place;
    block->used = 0;
    block->packed = false;
    block->dictionary_size = WINDOW;
    memcpy(block->dictionary, previous->bytes + BLOCK_SIZE - WINDOW, WINDOW);
    return 0;
}

int gzip_packer_add(struct gzip_packer *packer, const void *bytes, size_t size, struct error *err)
{
    const unsigned char *at = bytes;
    while (size) {
        struct block *block = block_at(packer, packer->filled);
        size_t room = BLOCK_SIZE - block->used, part = size < room ? size : room;
        memcpy(block->bytes + block->used, at, part);
        block->used += part;
        at += part;
        size -= part;
        if (block->used < BLOCK_SIZE)
            continue;
        if (!packer->threads_started)
            start_threads(packer);
        hand_over(packer, false);
        int rc = begin_block(packer, err);
        if (rc)
            return rc;
    }
    return 0;
}

int gzip_packer_finish(struct gzip_packer *packer, struct error *err)
{
    hand_over(packer, true);
    while (packer->written < packer->filled) {
        int rc = write_oldest(packer, err);
        if (rc)
            return rc;
    }
    unsigned char trailer[8];
    for (int i = 0; i < 4; i++) {
        trailer[i] = (unsigned char)(packer->checksum >> 8 * i);
        trailer[4 + i] = (unsigned char)(packer->size >> 8 * i);
    }
    return packer->out.write(packer->out.context, trailer, sizeof(trailer), err);
}

void gzip_packer_free(struct gzip_packer *packer)
{
    if (!packer)
        return;
    pthread_mutex_lock(&packer->lock);
    packer->ending = true;
    pthread_cond_broadcast(&packer->changed);
    pthread_mutex_unlock(&packer->lock);
    for (size_t i = 0; i < packer->thread_count; i++)
        pthread_join(packer->threads[i], NULL);
    pthread_cond_destroy(&packer->changed);
    pthread_mutex_destroy(&packer->lock);
    for (size_t i = 0; i < RING; i++)
        free(packer->ring[i]);
    free(packer);
}

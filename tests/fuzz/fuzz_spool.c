/* Any bytes as the spool file of a recording, replayed and dumped. The checksums are made right first, so that the
 * search gets past them to the events. */
#include "assemble/replay.h"
#include "spool/block_append.h"
#include "spool/spool_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Of a slot only the part that its chunk fills. */
static size_t checked_part(const unsigned char *block, size_t length)
{
    uint32_t chunk = 0;
    if (block[0] != BLOCK_SLOT || length < SLOT_HEADER)
        return length;
    memcpy(&chunk, block + BLOCK_HEADER + SLOT_HEADER - 4, 4);
    return SLOT_HEADER + (size_t)chunk <= length ? SLOT_HEADER + (size_t)chunk : length;
}

static void mend_checksums(unsigned char *bytes, size_t size)
{
    if (size >= 8)
        memcpy(bytes, BLOCK_FILE_MAGIC, BLOCK_FILE_MAGIC_SIZE);
    for (size_t at = 8; at + 9 <= size;) {
        uint32_t length;
        memcpy(&length, bytes + at + 1, 4);
        if (length > size - at - 9)
            break;
        uint32_t checksum = compute_block_checksum(bytes[at], bytes + at + 9, checked_part(bytes + at, length));
        memcpy(bytes + at + 5, &checksum, 4);
        at += 9 + length;
    }
}

static int drop(void *unused, const void *bytes, size_t size, struct error *err)
{
    (void)unused, (void)bytes, (void)size, (void)err;
    return 0;
}

static void dump(const char *path)
{
    static const struct byte_sink nowhere = {.write = drop};
    static struct json_writer json;
    struct spool_reader *reader;
    struct spool_record record;
    if (spool_reader_open(&reader, path, NULL))
        return;
    json_writer_init(&json, &nowhere, NULL);
    for (int item; (item = spool_reader_read(reader, &record, NULL)) > 0;) {
        spool_dump_record(&json, &record);
    }
    json_writer_finish(&json);
    spool_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    int fd = memfd_create("spool", 0);
    unsigned char *copy = malloc(size + 1);
    if (fd < 0 || !copy)
        abort();
    memcpy(copy, bytes, size);
    mend_checksums(copy, size);
    if (write(fd, copy, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct replay replay = {0};
    struct error err;
    replay_spool(&replay, path, &err);
    replay_destroy(&replay);
    dump(path);
    free(copy);
    close(fd);
    return 0;
}

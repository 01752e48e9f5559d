/* The spool file returns events and samples in order, complete up to a truncation or a full disk. */
#include "spool/block_append.h"
#include "spool/spool.h"
#include "support/directory.h"
#include "support/flat_records.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static char path[64];

/* In place of libc's: what the disk was asked to hold, and when it fails. */
static atomic_int syncs, sync_error;
static atomic_bool sync_held;
static atomic_llong synced; /* size of the file at the start of the last sync that is done */

int fdatasync(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    while (sync_held)
        poll(NULL, 0, 1);
    int code = (int)syscall(SYS_fdatasync, fd);
    if (sync_error) {
        errno = sync_error;
        code = -1;
    }
    synced = status.st_size;
    syncs++;
    return code;
}

static bool comes_true(bool (*is_true)(off_t), off_t size)
{
    for (int i = 0; i < 6000 && !is_true(size); i++)
        poll(NULL, 0, 10);
    return is_true(size);
}

static bool is_synced(off_t size)
{
    return synced == size;
}

static bool was_synced(off_t unused)
{
    (void)unused;
    return syncs > 0;
}

static int make_directory(void **unused)
{
    if (make_empty_directory(unused) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/spool", directory);
    return 0;
}

static off_t size_of_file(void)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

static const unsigned char build_id[] = {0x12, 0x34, 0x56, 0x00, 0x9a};

enum { START_EVENTS = 9 };

static void write_start(struct spool_writer *writer)
{
    const struct spool_lib sleep_lib = {
        .kind = SPOOL_LIB_FILE,
        .path = "/bin/sleep",
        .build_id = build_id,
        .build_id_size = sizeof(build_id),
        .device = 1,
        .inode = 2,
        .size = 3,
        .mtime_ns = 4,
    };
    const struct spool_event events[START_EVENTS] = {
        {.kind = SPOOL_INFO, .name = "command", .value = "sleep 1"},
        {.kind = SPOOL_PROCESS, .number = 0, .parent = SPOOL_NO_NUMBER, .pid = 4711, .time = 10, .name = "sleep"},
        {.kind = SPOOL_THREAD, .number = 0, .process = 0, .tid = 4711, .time = 10, .name = "sleep"},
        {.kind = SPOOL_LIB, .number = 0, .lib = sleep_lib},
        {.kind = SPOOL_MAP, .number = 0, .time = 11, .start = 0x1000, .end = 0x2000, .rva = 0x400, .lib_number = 0},
        {.kind = SPOOL_LOST, .time = 12, .cpu = 3, .count = 17},
        {.kind = SPOOL_PROCESS, .number = 1, .parent = 0, .exec = true, .pid = 4711, .time = 13, .name = "other"},
        {.kind = SPOOL_NAME, .number = 0, .time = 14, .name = ""},
        {.kind = SPOOL_THREAD_END, .number = 0, .time = 15},
    };
    for (size_t i = 0; i < START_EVENTS; i++)
        assert_int_equal(spool_writer_event(writer, &events[i], NULL), 0);
}

/* Samples number `first` to `first + count - 1`, recognizable by time and middle frame. */
static int write_samples(struct spool_writer *writer, uint64_t first, uint64_t count, struct error *err)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t frames[3] = {0x1100 + i % 64, 0x1200 + i, 0x1300};
        struct sample sample = {.thread = 0, .time = 100 + i, .frame_count = 3, .frames = frames};
        int code = spool_writer_sample(writer, &sample, err);
        if (code)
            return code;
    }
    return 0;
}

/* Reads to the end; checks that samples 0, 1, 2 ... come in order. Returns how many there were. */
static int read_samples(struct spool_reader *reader, int *events)
{
    struct spool_event event;
    struct sample sample;
    int samples = 0, item;
    *events = 0;
    while ((item = spool_reader_next(reader, &event, &sample, NULL)) > 0) {
        if (item == SPOOL_ITEM_EVENT) {
            ++*events;
            continue;
        }
        assert_true(sample.time == 100 + (uint64_t)samples);
        assert_int_equal(sample.frame_count, 3);
        assert_true(sample.frames[1] == 0x1200 + (uint64_t)samples);
        samples++;
    }
    assert_int_equal(item, SPOOL_END);
    return samples;
}

static void test_events_come_back_with_all_fields(void **unused)
{
    (void)unused;
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    assert_int_equal(write_samples(writer, 0, 1, NULL), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);

    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    struct spool_event event;
    struct sample sample;
#define NEXT(expected) assert_int_equal(spool_reader_next(reader, &event, &sample, NULL), expected)
    NEXT(SPOOL_ITEM_EVENT);
    assert_string_equal(event.name, "command");
    assert_string_equal(event.value, "sleep 1");
    NEXT(SPOOL_ITEM_EVENT);
    assert_int_equal(event.kind, SPOOL_PROCESS);
    assert_int_equal(event.parent, SPOOL_NO_NUMBER);
    assert_int_equal(event.pid, 4711);
    assert_false(event.exec);
    NEXT(SPOOL_ITEM_EVENT);
    assert_int_equal(event.kind, SPOOL_THREAD);
    assert_int_equal(event.tid, 4711);
    NEXT(SPOOL_ITEM_EVENT);
    assert_int_equal(event.kind, SPOOL_LIB);
    assert_string_equal(event.lib.path, "/bin/sleep");
    assert_int_equal(event.lib.build_id_size, sizeof(build_id));
    assert_memory_equal(event.lib.build_id, build_id, sizeof(build_id));
    assert_int_equal(event.lib.mtime_ns, 4);
    NEXT(SPOOL_ITEM_EVENT);
    assert_int_equal(event.kind, SPOOL_MAP);
    assert_int_equal(event.start, 0x1000);
    assert_int_equal(event.rva, 0x400);
    NEXT(SPOOL_ITEM_EVENT);
    assert_int_equal(event.kind, SPOOL_LOST);
    assert_int_equal(event.cpu, 3);
    assert_int_equal(event.count, 17);
    NEXT(SPOOL_ITEM_EVENT);
    assert_true(event.exec);
    NEXT(SPOOL_ITEM_EVENT);
    assert_string_equal(event.name, "");
    NEXT(SPOOL_ITEM_EVENT);
    assert_int_equal(event.kind, SPOOL_THREAD_END);
    NEXT(SPOOL_ITEM_SAMPLE);
    assert_int_equal(sample.time, 100);
    NEXT(SPOOL_END);
#undef NEXT
    spool_reader_close(reader);
    unlink(path);
}

static void test_a_file_cut_anywhere_reads_up_to_its_last_whole_block(void **unused)
{
    (void)unused;
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    for (uint64_t i = 0; i < 4; i++) { /* four blocks of samples */
        assert_int_equal(write_samples(writer, i * 25, 25, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    off_t size = size_of_file();
    int previous = 100;
    for (off_t cut = size - 1; cut >= 8; cut--) {
        assert_int_equal(truncate(path, cut), 0);
        struct spool_reader *reader;
        assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
        int events, samples = read_samples(reader, &events);
        assert_int_equal(samples % 25, 0);
        assert_true(samples <= previous);
        previous = samples;
        spool_reader_close(reader);
    }
    assert_int_equal(previous, 0);
    assert_int_equal(truncate(path, 5), 0);
    struct error err;
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, &err), -EINVAL);
    assert_null(reader);
    assert_non_null(strstr(err.text, "is not a recording of prof"));
    unlink(path);
}

static void test_a_file_that_grows_byte_by_byte_is_read_on(void **unused)
{
    (void)unused;
    static unsigned char bytes[1 << 16];
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    for (uint64_t block = 0; block < 3; block++) {
        assert_int_equal(write_samples(writer, block * 10, 10, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    int file = open(path, O_RDWR);
    ssize_t size = read(file, bytes, sizeof(bytes));
    assert_true(size > 0 && (size_t)size < sizeof(bytes));
    enum { MAGIC = 8 };
    assert_int_equal(ftruncate(file, MAGIC), 0);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    struct spool_event event;
    struct sample sample;
    int events = 0, samples = 0;
    for (ssize_t at = MAGIC; at < size; at++) {
        assert_int_equal(pwrite(file, bytes + at, 1, at), 1);
        for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) != SPOOL_END;) {
            assert_true(item == SPOOL_ITEM_EVENT || sample.time == 100 + (uint64_t)samples);
            events += item == SPOOL_ITEM_EVENT;
            samples += item == SPOOL_ITEM_SAMPLE;
        }
    }
    assert_int_equal(events, START_EVENTS);
    assert_int_equal(samples, 30);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 0);
    spool_reader_close(reader);
    close(file);
    unlink(path);
}

static void test_a_damaged_block_is_skipped_and_counted(void **unused)
{
    (void)unused;
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    off_t where = size_of_file() + 12; /* inside the payload of the next block */
    assert_int_equal(write_samples(writer, 1000, 3, NULL), 0);
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    assert_int_equal(write_samples(writer, 0, 10, NULL), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    int fd = open(path, O_RDWR);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, where), 1);
    byte ^= 0xff;
    assert_int_equal(pwrite(fd, &byte, 1, where), 1);
    close(fd);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    int events;
    assert_int_equal(read_samples(reader, &events), 10);
    assert_int_equal(events, START_EVENTS);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 1);
    spool_reader_close(reader);
    unlink(path);
}

static void change_byte(off_t where, unsigned char value)
{
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, &value, 1, where), 1);
    close(fd);
}

/* Reads all; returns the number of samples, each of which comes after those before it. */
static int read_what_is_left(uint64_t *damaged, uint64_t *damaged_bytes, uint64_t *rest)
{
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    uint64_t previous = 0;
    int samples = 0, item;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    while ((item = spool_reader_next(reader, &event, &sample, NULL)) > 0) {
        if (item != SPOOL_ITEM_SAMPLE)
            continue;
        assert_true(sample.time > previous);
        assert_true(sample.frames[1] == 0x1200 + sample.time - 100);
        previous = sample.time;
        samples++;
    }
    assert_int_equal(item, SPOOL_END);
    *damaged = spool_reader_count_damaged_parts(reader);
    *damaged_bytes = spool_reader_count_damaged_bytes(reader);
    *rest = spool_reader_count_bytes_left(reader);
    spool_reader_close(reader);
    return samples;
}

/* Three blocks of 25 samples each; the second is from *start to *end. */
static void write_three_blocks(off_t *start, off_t *end)
{
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    for (uint64_t i = 0; i < 3; i++) {
        if (i == 1)
            *start = size_of_file();
        assert_int_equal(write_samples(writer, i * 25, 25, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
        if (i == 1)
            *end = size_of_file();
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
}

static void test_damage_to_any_byte_of_a_header_loses_only_its_block(void **unused)
{
    (void)unused;
    for (int byte = 0; byte < BLOCK_HEADER; byte++) {
        static const unsigned char values[] = {0, 1, 0x7f, 0xff, 'x', 'R', 'F', 'K', 'E', 'S'};
        for (size_t i = 0; i < sizeof(values); i++) {
            off_t start = 0, end = 0;
            write_three_blocks(&start, &end);
            unsigned char before;
            int fd = open(path, O_RDONLY);
            assert_int_equal(pread(fd, &before, 1, start + byte), 1);
            close(fd);
            change_byte(start + byte, values[i]);
            uint64_t damaged, bytes, rest;
            int samples = read_what_is_left(&damaged, &bytes, &rest);
            bool is_changed = values[i] != before;
            assert_int_equal(samples, is_changed ? 50 : 75);
            assert_int_equal(damaged, is_changed);
            assert_int_equal(bytes, is_changed ? end - start : 0);
            assert_int_equal(rest, 0);
            unlink(path);
        }
    }
}

/* The kinds of blocks that have the same payload as any other: their kind alone may be wrong. */
static void test_a_block_of_another_kind_is_damaged(void **unused)
{
    (void)unused;
    static const enum block_kind kinds[] = {BLOCK_EVENTS, BLOCK_SAMPLES, BLOCK_FLIGHT_RECORDER, BLOCK_SLOT};
    static const unsigned char payload[] = "payload";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(compute_block_checksum(kinds[i], payload, sizeof(payload)),
                                 compute_block_checksum(kinds[k], payload, sizeof(payload)));

    /* events that would be taken for samples: the first block of the file */
    off_t start = 0, end = 0;
    write_three_blocks(&start, &end);
    change_byte(BLOCK_FILE_MAGIC_SIZE, BLOCK_SAMPLES);
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    int items = 0;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) > 0; items++)
        assert_int_equal(item, SPOOL_ITEM_SAMPLE);
    assert_int_equal(items, 75);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 1);
    spool_reader_close(reader);
    unlink(path);
}

static void test_a_spool_of_another_version_is_refused_with_a_sentence(void **unused)
{
    (void)unused;
    static const unsigned char versions[] = {'1', '2', '3', 0xff};
    for (size_t i = 0; i < sizeof(versions); i++) {
        off_t start = 0, end = 0;
        struct spool_reader *reader;
        struct error err;
        write_three_blocks(&start, &end);
        change_byte(BLOCK_FILE_MAGIC_NAME, versions[i]);
        assert_true(spool_is_spool(path));
        assert_int_equal(spool_reader_open(&reader, path, &err), -EINVAL);
        assert_non_null(strstr(err.text, "is a recording of another version of prof"));
        assert_non_null(
            strstr(err.text, "this prof reads " BLOCK_FILE_MAGIC "; the prof that recorded it can load it"));
        unlink(path);
    }
}

static void test_a_spool_of_another_version_names_the_prof_that_recorded_it(void **unused)
{
    (void)unused;
    static const struct {
        const char *recorder, *wanted;
    } cases[] = {
        {"prof 9.8.7", "; prof 9.8.7 can load it"},
        {"prof 9\033[2J", "; prof 9 can load it"},
        {"prof 0123456789012345678901234567890123456789012345678901234567890123456789",
         "; the prof that recorded it can load it"},
        {"prof ", "; the prof that recorded it can load it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct spool_event event = {.kind = SPOOL_INFO, .name = "recorder", .value = cases[i].recorder};
        struct spool_writer *writer;
        struct spool_reader *reader;
        struct error err;
        assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
        assert_int_equal(spool_writer_event(writer, &event, NULL), 0);
        assert_int_equal(spool_writer_close(writer, NULL), 0);
        change_byte(BLOCK_FILE_MAGIC_NAME, '7');
        assert_int_equal(spool_reader_open(&reader, path, &err), -EINVAL);
        assert_non_null(strstr(err.text, cases[i].wanted));
        unlink(path);
    }
}

static void test_damage_to_the_last_header_loses_only_the_last_block(void **unused)
{
    (void)unused;
    for (int byte = 0; byte < BLOCK_HEADER; byte++) {
        off_t start = 0, end = 0;
        write_three_blocks(&start, &end);
        change_byte(end + byte, 0xee);
        uint64_t damaged, bytes, rest;
        assert_int_equal(read_what_is_left(&damaged, &bytes, &rest), 50);
        assert_int_equal(bytes + rest, size_of_file() - end);
        unlink(path);
    }
}

static void test_any_number_of_bytes_may_be_lost_or_overwritten(void **unused)
{
    (void)unused;
    static unsigned char bytes[1 << 16];
    off_t start = 0, end = 0;
    write_three_blocks(&start, &end);
    int fd = open(path, O_RDWR);
    ssize_t size = read(fd, bytes, sizeof(bytes));
    assert_true(size > 0 && (size_t)size < sizeof(bytes));
    for (off_t lost = 1; lost < end - start; lost++) { /* of the beginning of the second block */
        assert_int_equal(ftruncate(fd, start), 0);
        assert_int_equal(pwrite(fd, bytes + start + lost, (size_t)(size - start - lost), start), size - start - lost);
        uint64_t damaged, damaged_bytes, rest;
        assert_int_equal(read_what_is_left(&damaged, &damaged_bytes, &rest), 50);
        assert_int_equal(damaged, 1);
        assert_int_equal(damaged_bytes, end - start - lost);
    }
    assert_int_equal(pwrite(fd, bytes, (size_t)size, 0), size);
    for (off_t at = start; at < end; at++) { /* of its end, and all of it at last */
        static const unsigned char zeros[1 << 16];
        off_t from = end - 1 - (at - start);
        assert_int_equal(pwrite(fd, zeros, (size_t)(end - from), from), end - from);
        uint64_t damaged, damaged_bytes, rest;
        int samples = read_what_is_left(&damaged, &damaged_bytes, &rest);
        assert_true(samples == 50 || samples == 75); /* its last bytes may be zeros */
        assert_int_equal(damaged_bytes, samples == 50 ? end - start : 0);
    }
    close(fd);
    unlink(path);
}

/* Each byte looks like the beginning of a large block: to verify each would take hours. */
static void test_headers_everywhere_are_searched_in_time(void **unused)
{
    (void)unused;
    enum { COUNT = 1 << 20, BIG = 1 << 22 };
    static unsigned char headers[COUNT][BLOCK_HEADER];
    for (size_t i = 0; i < COUNT; i++) {
        const uint32_t size = BIG;
        headers[i][0] = BLOCK_EVENTS;
        memcpy(headers[i] + 1, &size, sizeof(size));
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fwrite(BLOCK_FILE_MAGIC, 1, BLOCK_FILE_MAGIC_SIZE, out);
    fwrite(headers, 1, sizeof(headers), out);
    fclose(out);
    uint64_t damaged, bytes, rest;
    assert_int_equal(read_what_is_left(&damaged, &bytes, &rest), 0);
    assert_int_equal(bytes + rest, sizeof(headers));
    unlink(path);
}

/* The writer of a flight recorder, which has the events of write_start(). */
static struct spool_writer *begin_bounded(struct spool_bounds bounds)
{
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new_bounded(&writer, path, &bounds, NULL), 0);
    write_start(writer);
    return writer;
}

/* A whole one, of 1 MiB. */
static void write_flight_recorder(int samples)
{
    struct spool_writer *writer = begin_bounded((struct spool_bounds){.bytes = 1 << 20});
    assert_int_equal(write_samples(writer, 0, (uint64_t)samples, NULL), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
}

static void test_a_flight_recorder_survives_damaged_headers(void **unused)
{
    (void)unused;
    write_flight_recorder(30000);
    uint64_t damaged, bytes, rest;
    int all = read_what_is_left(&damaged, &bytes, &rest);
    assert_int_equal(damaged, 0);
    static unsigned char spool[1 << 20];
    int fd = open(path, O_RDWR);
    ssize_t size = pread(fd, spool, sizeof(spool), 0);
    assert_true(size > 0 && (size_t)size < sizeof(spool));
    int slots = 0;
    for (off_t at = BLOCK_FILE_MAGIC_SIZE; at + BLOCK_HEADER < size;) {
        uint32_t length;
        memcpy(&length, spool + at + 1, sizeof(length));
        bool is_slot = spool[at] == BLOCK_SLOT;
        for (int byte = 0; byte < BLOCK_HEADER && spool[at] != BLOCK_EVENTS; byte++) {
            change_byte(at + byte, spool[at + byte] ^ 0xff);
            int samples = read_what_is_left(&damaged, &bytes, &rest);
            if (is_slot)
                assert_true(samples > all / 2 && samples < all && (damaged || rest));
            else
                assert_int_equal(samples, all);
            change_byte(at + byte, spool[at + byte]);
        }
        slots += is_slot;
        at += BLOCK_HEADER + length;
    }
    assert_true(slots >= 3);
    close(fd);
    unlink(path);
}

static void test_a_full_disk_leaves_whole_blocks(void **unused)
{
    (void)unused;
    /* A limit on the file size fails a write half way, as a full disk does. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 200000;
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    setrlimit(RLIMIT_FSIZE, &small);
    struct error err = {0};
    assert_int_equal(write_samples(writer, 0, 100000, &err), 0);
    assert_true(spool_writer_has_queued(writer));
    off_t size = size_of_file();
    assert_true(size <= 200000);
    assert_int_equal(spool_writer_close(writer, &err), -ENOSPC);
    assert_non_null(strstr(err.text, "cannot write to"));
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(size_of_file(), size);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    int events;
    assert_true(read_samples(reader, &events) > 1000);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 0);
    spool_reader_close(reader);
    unlink(path);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_what_a_full_disk_does_not_take_is_written_when_there_is_room(void **unused)
{
    (void)unused;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    set_file_limit(200000);
    assert_int_equal(write_samples(writer, 0, 100000, NULL), 0);
    assert_true(spool_writer_has_queued(writer));
    set_file_limit(old.rlim_cur);
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    assert_false(spool_writer_has_queued(writer));
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    int events;
    assert_int_equal(read_samples(reader, &events), 100000);
    assert_int_equal(events, START_EVENTS);
    spool_reader_close(reader);
    unlink(path);
}

/* Has a small disk of its own at `directory`, in a namespace that ends with this process; false if that is not
 * permitted.
 */
static bool mount_small_disk(const char *options)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", directory, "tmpfs", 0, options) == 0;
}

static uint64_t free_bytes(void)
{
    struct statvfs disk;
    assert_int_equal(statvfs(directory, &disk), 0);
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

static void test_a_spool_that_fills_the_disk_leaves_room_for_its_profile(void **unused)
{
    (void)unused;
    enum { OF_A_SAMPLE = 16 }; /* in the file that sorts samples by thread */
    if (!mount_small_disk("size=512k"))
        skip();
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    assert_int_equal(write_samples(writer, 0, 100000, NULL), 0);
    assert_true(spool_writer_has_queued(writer));
    int rest;
    assert_int_equal(spool_writer_move_queued(writer, &rest, NULL), 0);
    assert_true(rest >= 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);

    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    int events, samples = read_samples(reader, &events);
    assert_int_equal(events, START_EVENTS);
    assert_true(samples > 1000);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 0);
    spool_reader_close(reader);
    assert_true(free_bytes() >= (uint64_t)samples * OF_A_SAMPLE + (uint64_t)size_of_file() / 4);

    char rest_path[64];
    snprintf(rest_path, sizeof(rest_path), "/proc/self/fd/%d", rest);
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    assert_int_equal(spool_reader_append(reader, rest_path, NULL), 0);
    assert_int_equal(read_samples(reader, &events), 100000);
    assert_int_equal(events, START_EVENTS);
    spool_reader_close(reader);
    close(rest);
    unlink(path);
    assert_int_equal(umount(directory), 0);
}

static void test_samples_beyond_the_memory_for_a_full_disk_are_counted(void **unused)
{
    (void)unused;
    enum { MANY = 9000000 };
    if (!mount_small_disk("size=512k"))
        skip();
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    assert_int_equal(write_samples(writer, 0, MANY, NULL), 0);
    int rest;
    assert_int_equal(spool_writer_move_queued(writer, &rest, NULL), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    char rest_path[64];
    snprintf(rest_path, sizeof(rest_path), "/proc/self/fd/%d", rest);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    assert_int_equal(spool_reader_append(reader, rest_path, NULL), 0);
    struct spool_event event;
    struct sample sample;
    uint64_t samples = 0, lost = 0, last = 0;
    for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) > 0;) {
        samples += item == SPOOL_ITEM_SAMPLE;
        if (item == SPOOL_ITEM_SAMPLE)
            last = sample.time;
        else if (event.kind == SPOOL_LOST && event.cpu == SPOOL_NO_NUMBER)
            lost += event.count;
    }
    assert_true(lost > 0);
    assert_int_equal(samples + lost, MANY);
    assert_int_equal(last, 100 + MANY - 1);
    spool_reader_close(reader);
    close(rest);
    unlink(path);
    assert_int_equal(umount(directory), 0);
}

/* The numbers of the first and the last sample; returns how many there are. */
static int read_kept(uint64_t *first, uint64_t *last, int *events)
{
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    int samples = 0;
    *events = 0;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) > 0;) {
        *events += item == SPOOL_ITEM_EVENT;
        if (item != SPOOL_ITEM_SAMPLE)
            continue;
        assert_true(!samples || sample.time == *last + 101); /* in order, and none is missing between */
        if (!samples++)
            *first = sample.time - 100;
        *last = sample.time - 100;
    }
    assert_int_equal(spool_reader_count_damaged_parts(reader), 0);
    assert_true(spool_reader_is_flight_recorder(reader));
    spool_reader_close(reader);
    return samples;
}

static void test_a_flight_recorder_keeps_the_newest_bytes(void **unused)
{
    (void)unused;
    const struct spool_bounds bounds = {.bytes = 1 << 20};
    struct spool_writer *writer = begin_bounded(bounds);
    uint64_t first, last;
    int events, samples;
    for (uint64_t i = 0; i < 100; i++) { /* 14 MB */
        assert_int_equal(write_samples(writer, i * 10000, 10000, NULL), 0);
        const struct spool_event late = {.kind = SPOOL_NAME, .number = 0, .time = 100 + i * 10000, .name = "late"};
        assert_int_equal(spool_writer_event(writer, &late, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
        assert_true(size_of_file() < (off_t)bounds.bytes + 3 * 70000);
        samples = read_kept(&first, &last, &events); /* as after a kill at this moment */
        assert_int_equal(last, i * 10000 + 9999);
        assert_int_equal(first, last - (uint64_t)samples + 1);
        assert_int_equal(events, START_EVENTS + (int)i + 1);
        assert_true(i < 10 || samples > 40000);
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    unlink(path);
}

static void test_a_flight_recorder_keeps_the_newest_time(void **unused)
{
    (void)unused;
    struct spool_writer *writer = begin_bounded((struct spool_bounds){.ns = 50000});
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(write_samples(writer, i * 1000, 1000, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
        assert_true(size_of_file() < 1000000);
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    uint64_t first, last;
    int events, samples = read_kept(&first, &last, &events);
    assert_int_equal(last, 999999);
    assert_true(samples >= 50000 && samples < 60000);
    unlink(path);
}

static void test_a_flight_recorder_on_a_full_disk_keeps_less(void **unused)
{
    (void)unused;
    if (!mount_small_disk("size=1m"))
        skip();
    struct spool_writer *writer = begin_bounded((struct spool_bounds){.bytes = 64 << 20});
    assert_int_equal(write_samples(writer, 0, 500000, NULL), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    uint64_t first, last;
    int events, samples = read_kept(&first, &last, &events);
    assert_int_equal(last, 499999);
    assert_true(samples > 5000);
    unlink(path);
    assert_int_equal(umount(directory), 0);
}

static void test_a_flight_recorder_cut_anywhere_reads_whole_chunks(void **unused)
{
    (void)unused;
    write_flight_recorder(20000);
    for (off_t cut = size_of_file(); cut >= 8; cut -= 1001) {
        assert_int_equal(truncate(path, cut), 0);
        struct spool_reader *reader;
        struct spool_event event;
        struct sample sample;
        uint64_t next = 100;
        int item;
        assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
        while ((item = spool_reader_next(reader, &event, &sample, NULL)) > 0)
            if (item == SPOOL_ITEM_SAMPLE)
                assert_int_equal(sample.time, next++);
        assert_int_equal(item, SPOOL_END);
        spool_reader_close(reader);
    }
    unlink(path);
}

static void test_a_damaged_slot_is_left_out(void **unused)
{
    (void)unused;
    write_flight_recorder(30000);
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "x", 1, size_of_file() / 2), 1);
    close(fd);
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    int samples = 0;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) > 0;)
        samples += item == SPOOL_ITEM_SAMPLE;
    assert_true(samples > 20000 && samples < 30000);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 1);
    spool_reader_close(reader);
    unlink(path);
}

static void test_the_reserve_of_a_spool_is_given_back_when_it_is_closed(void **unused)
{
    (void)unused;
    if (!mount_small_disk("size=4m"))
        skip();
    uint64_t before = free_bytes();
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    assert_int_equal(write_samples(writer, 0, 20000, NULL), 0);
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    uint64_t bytes = (uint64_t)size_of_file();
    assert_true(before - free_bytes() > 2 * bytes);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    assert_true(before - free_bytes() < bytes + 8192);
    unlink(path);
    assert_int_equal(umount(directory), 0);
}

static bool is_on_tmpfs(void)
{
    struct statfs disk;
    return statfs(directory, &disk) == 0 && disk.f_type == TMPFS_MAGIC;
}

static void test_the_disk_holds_each_flush_without_the_writer_waiting_for_it(void **unused)
{
    (void)unused;
    if (is_on_tmpfs())
        skip();
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(write_samples(writer, i * 100, 100, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
        assert_true(comes_true(is_synced, size_of_file()));
    }
    syncs = 0;
    sync_held = true;
    for (uint64_t i = 5; i < 105; i++) { /* while the disk is at work */
        assert_int_equal(write_samples(writer, i * 100, 100, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
    }
    assert_int_equal(syncs, 0);
    sync_held = false;
    assert_true(comes_true(is_synced, size_of_file()));
    assert_true(syncs <= 2); /* the requests of that time are one */
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    unlink(path);
}

static void test_a_disk_that_fails_to_hold_the_file_is_an_error(void **unused)
{
    (void)unused;
    if (is_on_tmpfs())
        skip();
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    syncs = 0;
    sync_error = EIO;
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    assert_true(comes_true(was_synced, 0));
    struct error err = {0};
    int code = 0;
    for (int i = 0; i < 6000 && !code; i++) {
        code = spool_writer_flush(writer, &err);
        poll(NULL, 0, 10);
    }
    sync_error = 0;
    assert_int_equal(code, -EIO);
    assert_non_null(strstr(err.text, "cannot write to"));
    spool_writer_close(writer, NULL);
    unlink(path);
}

static void test_a_file_in_memory_is_not_synced(void **unused)
{
    (void)unused;
    if (!mount_small_disk("size=4m"))
        skip();
    struct spool_writer *writer;
    syncs = 0;
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    write_start(writer);
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    assert_int_equal(syncs, 0);
    unlink(path);
    assert_int_equal(umount(directory), 0);
}

/* A power cut may catch a new version of a chunk half written. */
static void test_a_torn_slot_leaves_the_version_before(void **unused)
{
    (void)unused;
    struct spool_writer *writer = begin_bounded((struct spool_bounds){.bytes = 1 << 20});
    off_t before[4];
    for (uint64_t i = 0; i < 4; i++) { /* versions of one chunk */
        assert_int_equal(write_samples(writer, i * 10, 10, NULL), 0);
        assert_int_equal(spool_writer_flush(writer, NULL), 0);
        before[i] = size_of_file();
    }
    assert_true(before[3] == before[2]); /* the fourth is where the first was */
    int fd = open(path, O_RDWR);
    static unsigned char bytes[1 << 20];
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    off_t newest = 0;
    uint64_t version, newest_version = 0;
    for (off_t at = BLOCK_FILE_MAGIC_SIZE; at + BLOCK_HEADER < size;) {
        uint32_t length;
        memcpy(&length, bytes + at + 1, sizeof(length));
        memcpy(&version, bytes + at + BLOCK_HEADER + 8, sizeof(version));
        if (bytes[at] == BLOCK_SLOT && version > newest_version) {
            newest = at;
            newest_version = version;
        }
        at += BLOCK_HEADER + length;
    }
    assert_int_equal(newest_version, 4);
    assert_int_equal(pwrite(fd, "torn", 4, newest + BLOCK_HEADER + SLOT_HEADER + 8), 4);
    close(fd);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    int events;
    assert_int_equal(read_samples(reader, &events), 30);
    spool_reader_close(reader);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    unlink(path);
}

static void test_an_existing_file_is_not_overwritten(void **unused)
{
    (void)unused;
    close(open(path, O_CREAT | O_WRONLY, 0600));
    struct error err;
    struct spool_writer *writer;
    assert_int_equal(spool_writer_new(&writer, path, &err), -EEXIST);
    assert_null(writer);
    assert_non_null(strstr(err.text, "File exists"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_come_back_with_all_fields),
        cmocka_unit_test(test_a_file_cut_anywhere_reads_up_to_its_last_whole_block),
        cmocka_unit_test(test_a_file_that_grows_byte_by_byte_is_read_on),
        cmocka_unit_test(test_a_damaged_block_is_skipped_and_counted),
        cmocka_unit_test(test_damage_to_any_byte_of_a_header_loses_only_its_block),
        cmocka_unit_test(test_a_block_of_another_kind_is_damaged),
        cmocka_unit_test(test_a_spool_of_another_version_is_refused_with_a_sentence),
        cmocka_unit_test(test_a_spool_of_another_version_names_the_prof_that_recorded_it),
        cmocka_unit_test(test_damage_to_the_last_header_loses_only_the_last_block),
        cmocka_unit_test(test_any_number_of_bytes_may_be_lost_or_overwritten),
        cmocka_unit_test(test_headers_everywhere_are_searched_in_time),
        cmocka_unit_test(test_a_flight_recorder_survives_damaged_headers),
        cmocka_unit_test(test_a_full_disk_leaves_whole_blocks),
        cmocka_unit_test(test_a_spool_that_fills_the_disk_leaves_room_for_its_profile),
        cmocka_unit_test(test_the_reserve_of_a_spool_is_given_back_when_it_is_closed),
        cmocka_unit_test(test_what_a_full_disk_does_not_take_is_written_when_there_is_room),
        cmocka_unit_test(test_samples_beyond_the_memory_for_a_full_disk_are_counted),
        cmocka_unit_test(test_a_flight_recorder_keeps_the_newest_bytes),
        cmocka_unit_test(test_a_flight_recorder_keeps_the_newest_time),
        cmocka_unit_test(test_a_flight_recorder_on_a_full_disk_keeps_less),
        cmocka_unit_test(test_a_flight_recorder_cut_anywhere_reads_whole_chunks),
        cmocka_unit_test(test_a_damaged_slot_is_left_out),
        cmocka_unit_test(test_a_torn_slot_leaves_the_version_before),
        cmocka_unit_test(test_the_disk_holds_each_flush_without_the_writer_waiting_for_it),
        cmocka_unit_test(test_a_disk_that_fails_to_hold_the_file_is_an_error),
        cmocka_unit_test(test_a_file_in_memory_is_not_synced),
        cmocka_unit_test(test_an_existing_file_is_not_overwritten),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

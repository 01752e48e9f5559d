/* A flight recorder of a program that starts threads and processes all the time: its file stays small, and has all that
 * its samples refer to. */
#include "base/hash.h"
#include "spool/spool.h"
#include "spool/spool_compact.h"
#include "support/flat_records.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static void add(struct spool_writer *writer, struct spool_event event)
{
    assert_int_equal(spool_writer_event(writer, &event, NULL), 0);
}

static void add_sample(struct spool_writer *writer, uint32_t thread, uint64_t time)
{
    const uint64_t frames[] = {0x1000 + time % 7, 0x2000, 0x3000 + time % 1000};
    const struct sample sample = {.thread = thread, .time = time, .frame_count = 3, .frames = frames};
    assert_int_equal(spool_writer_sample(writer, &sample, NULL), 0);
}

static struct spool_writer *begin(void)
{
    const struct spool_bounds bounds = {.bytes = 1 << 20};
    struct spool_writer *writer;
    snprintf(path, sizeof(path), "/tmp/prof-compact-test-%d", (int)getpid());
    unlink(path);
    assert_int_equal(spool_writer_new_bounded(&writer, path, &bounds, NULL), 0);
    add(writer, (struct spool_event){.kind = SPOOL_INFO, .name = "command", .value = "churn"});
    add(writer,
        (struct spool_event){
            .kind = SPOOL_PROCESS, .number = 0, .parent = SPOOL_NO_NUMBER, .pid = 7, .time = 1, .name = "churn"});
    add(writer, (struct spool_event){.kind = SPOOL_THREAD, .number = 0, .tid = 7, .time = 1, .name = "churn"});
    return writer;
}

/* These take the place of those of the C library: what gets the name of another file is on the disk. */
static struct {
    ino_t synced[64];
    size_t count, renamed, too_early;
} disk;

int fdatasync(int fd)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && disk.count < sizeof(disk.synced) / sizeof(*disk.synced))
        disk.synced[disk.count++] = status.st_ino;
    return 0;
}

int rename(const char *from, const char *to)
{
    struct stat status;
    bool is_synced = false;
    assert_int_equal(stat(from, &status), 0);
    for (size_t i = 0; i < disk.count; i++)
        is_synced |= disk.synced[i] == status.st_ino;
    disk.renamed++;
    disk.too_early += !is_synced;
    disk.count = 0; /* an inode number may be used again */
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static bool is_in_memory(const char *directory)
{
    struct statfs info;
    return statfs(directory, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

static void test_ended_threads_without_samples_are_dropped(void **unused)
{
    (void)unused;
    enum { THREADS = 300000, EACH = 100, MOST = (1 << 20) + (640 << 10) };
    struct spool_writer *writer = begin();
    for (uint32_t i = 1; i <= THREADS; i++) {
        uint64_t time = 100 + i * 10;
        add(writer, (struct spool_event){.kind = SPOOL_THREAD, .number = i, .tid = i, .time = time, .name = "worker"});
        if (i % EACH == 0)
            add_sample(writer, i, time + 1);
        add(writer, (struct spool_event){.kind = SPOOL_THREAD_END, .number = i, .time = time + 2});
        if (i % 10000 == 0) {
            struct stat status;
            assert_int_equal(spool_writer_flush(writer, NULL), 0);
            assert_int_equal(stat(path, &status), 0);
            assert_true(status.st_size < MOST);
        }
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    assert_int_not_equal(disk.renamed, 0);
    if (!is_in_memory("/tmp"))
        assert_int_equal(disk.too_early, 0);
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    struct hash known = {0};
    size_t samples = 0, threads = 0, infos = 0;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) > 0;) {
        if (item == SPOOL_ITEM_SAMPLE) {
            samples++;
            assert_int_not_equal(hash_get(&known, sample.thread), HASH_MISSING);
        } else if (event.kind == SPOOL_THREAD) {
            threads++;
            assert_true(hash_set(&known, event.number, 1));
        }
        infos += item == SPOOL_ITEM_EVENT && event.kind == SPOOL_INFO;
    }
    assert_int_equal(spool_reader_count_damaged_parts(reader), 0);
    assert_int_equal(samples, THREADS / EACH); /* they are fewer than the bound */
    assert_int_equal(infos, 1);
    assert_int_not_equal(hash_get(&known, 0), HASH_MISSING); /* it has not ended */
    assert_true(threads < THREADS / 4);
    spool_reader_close(reader);
    hash_destroy(&known);
    unlink(path);
}

/* The limit of a flight recorder includes the events that its samples need. */
static void test_events_of_sampled_threads_count_for_the_limit(void **unused)
{
    (void)unused;
    enum { THREADS = 200000, MOST = 2 << 20 };
    struct spool_writer *writer = begin();
    off_t largest = 0;
    for (uint32_t i = 1; i <= THREADS; i++) {
        uint64_t time = 100 + i * 10;
        add(writer, (struct spool_event){.kind = SPOOL_THREAD, .number = i, .tid = i, .time = time, .name = "worker"});
        add_sample(writer, i, time + 1);
        add(writer, (struct spool_event){.kind = SPOOL_THREAD_END, .number = i, .time = time + 2});
        if (i % 1000 == 0) {
            struct stat status;
            assert_int_equal(spool_writer_flush(writer, NULL), 0);
            assert_int_equal(stat(path, &status), 0);
            largest = status.st_size > largest ? status.st_size : largest;
        }
    }
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    assert_in_range(largest, 1 << 19, MOST);
    unlink(path);
}

/* A daemon has the mappings of the process that forked it and ended. */
static void test_a_process_keeps_what_it_has_from_an_ended_parent(void **unused)
{
    (void)unused;
    enum { CHILDREN = 60000 };
    struct spool_writer *writer = begin();
    add(writer,
        (struct spool_event){.kind = SPOOL_PROCESS, .number = 1, .parent = 0, .pid = 8, .time = 2, .name = "a"});
    add(writer,
        (struct spool_event){.kind = SPOOL_THREAD, .number = 1, .process = 1, .tid = 8, .time = 2, .name = "a"});
    add(writer,
        (struct spool_event){
            .kind = SPOOL_MAP, .number = 1, .time = 3, .start = 0x5000, .end = 0x6000, .lib_number = SPOOL_NO_NUMBER});
    add(writer,
        (struct spool_event){.kind = SPOOL_PROCESS, .number = 2, .parent = 1, .pid = 9, .time = 4, .name = "d"});
    add(writer,
        (struct spool_event){.kind = SPOOL_THREAD, .number = 2, .process = 2, .tid = 9, .time = 4, .name = "d"});
    add(writer, (struct spool_event){.kind = SPOOL_THREAD_END, .number = 1, .time = 5});
    for (uint32_t i = 3; i < CHILDREN; i++) { /* each forks, and calls exec */
        add(writer, (struct spool_event){
                        .kind = SPOOL_PROCESS, .number = i, .parent = 2, .pid = i, .time = i, .name = "child"});
        add(writer, (struct spool_event){
                        .kind = SPOOL_THREAD, .number = i, .process = i, .tid = i, .time = i, .name = "child"});
        add(writer, (struct spool_event){.kind = SPOOL_THREAD_END, .number = i, .time = i});
    }
    add_sample(writer, 2, CHILDREN);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    size_t maps = 0, processes = 0;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    for (int item; (item = spool_reader_next(reader, &event, &sample, NULL)) > 0;) {
        maps += item == SPOOL_ITEM_EVENT && event.kind == SPOOL_MAP;
        processes += item == SPOOL_ITEM_EVENT && event.kind == SPOOL_PROCESS;
    }
    assert_int_equal(maps, 1);
    assert_in_range(processes, 3, CHILDREN / 2);
    spool_reader_close(reader);
    unlink(path);
}

static void test_damaged_events_are_not_compacted(void **unused)
{
    (void)unused;
    static const unsigned char damaged[] = {SPOOL_THREAD, 0x80};
    struct spool_uses uses = {.oldest_chunk = 0};
    struct spool_bytes out = {0};
    assert_false(spool_compact(damaged, sizeof(damaged), &uses, &out));
    array_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_of_sampled_threads_count_for_the_limit),
        cmocka_unit_test(test_ended_threads_without_samples_are_dropped),
        cmocka_unit_test(test_a_process_keeps_what_it_has_from_an_ended_parent),
        cmocka_unit_test(test_damaged_events_are_not_compacted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The store returns each thread's samples in order, whether they went through the file or not. */
#include "assemble/sample_store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static struct stored_sample sample_of(uint32_t thread, uint64_t number)
{
    return (struct stored_sample){
        .time = number * 1000 + thread, .stack = (uint32_t)number * 7 + thread, .cpu_time = (uint32_t)number};
}

static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static void check_samples_beside(const char *spool, bool has_file)
{
    int descriptor = next_descriptor();
    /* Counts around a block's size, none, and far more than one block. */
    static const uint64_t counts[] = {5000, 0, 1, 511, 512, 513, 1024};
    enum { THREADS = sizeof(counts) / sizeof(counts[0]) };
    struct sample_store *store = sample_store_new(spool);
    assert_non_null(store);
    for (uint64_t i = 0; i < 5000; i++)
        for (uint32_t thread = 0; thread < THREADS; thread++)
            if (i < counts[thread]) {
                struct stored_sample sample = sample_of(thread, i);
                assert_int_equal(sample_store_add(store, thread, &sample, NULL), 0);
            }
    assert_int_equal(next_descriptor(), descriptor + has_file);
    struct sample_cursor cursor = {0};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t thread = 0; thread < THREADS + 3; thread++) {
            uint64_t count = thread < THREADS ? counts[thread] : 0;
            const struct stored_sample *newest = sample_store_get_newest(store, thread);
            assert_int_equal(sample_store_count(store, thread), count);
            assert_int_equal(newest ? newest->cpu_time + 1 : 0, count);
            assert_int_equal(sample_cursor_start(&cursor, store, thread, NULL), 0);
            struct stored_sample got;
            for (uint64_t i = 0; i < count; i++) {
                struct stored_sample wanted = sample_of(thread, i);
                assert_int_equal(sample_cursor_next(&cursor, &got, NULL), 1);
                assert_memory_equal(&got, &wanted, sizeof(got));
            }
            assert_int_equal(sample_cursor_next(&cursor, &got, NULL), 0);
        }
    sample_cursor_destroy(&cursor);
    sample_store_free(store);
    assert_int_equal(next_descriptor(), descriptor);
}

static void test_samples_come_back_by_thread(void **unused)
{
    (void)unused;
    check_samples_beside("/tmp/prof-test.spool", true);
}

static void test_the_rows_of_the_newest_wait_are_found(void **unused)
{
    static const struct {
        enum stored_kind kinds[2];
        int count;
        bool is_wait;
    } rows[] = {{{STORED_WAIT_BEGIN, STORED_WAIT_END}, 2, true},
                {{STORED_WAIT_BEGIN, STORED_UNSEEN_END}, 2, true},
                {{STORED_WAIT_BEGIN, STORED_WAIT_BEGIN}, 2, false},
                {{STORED_WAIT_END}, 1, false},
                {{STORED_WAIT_END}, 0, false}};
    (void)unused;
    struct sample_store *store = sample_store_new("/tmp/prof-test.spool");
    assert_non_null(store);
    for (uint32_t thread = 0; thread < sizeof(rows) / sizeof(*rows); thread++) {
        for (int i = 0; i < rows[thread].count; i++) {
            const struct stored_sample sample = {.kind = rows[thread].kinds[i]};
            assert_int_equal(sample_store_add(store, thread, &sample, NULL), 0);
        }
        struct stored_sample *newest = sample_store_get_newest(store, thread);
        assert_ptr_equal(sample_store_get_newest_wait(store, thread), rows[thread].is_wait ? newest - 1 : NULL);
    }
    sample_store_free(store);
}

static void test_a_directory_that_takes_no_file_is_replaced_by_memory(void **unused)
{
    (void)unused;
    check_samples_beside("/no/such/directory/spool", false);
}

static void test_a_file_of_the_largest_size_is_continued_in_memory(void **unused)
{
    (void)unused;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {.rlim_cur = 32768, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0); /* a file in memory has this limit, too */
    check_samples_beside("/tmp/prof-test.spool", false);  /* the profile needs the room on the disk */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_come_back_by_thread),
        cmocka_unit_test(test_the_rows_of_the_newest_wait_are_found),
        cmocka_unit_test(test_a_directory_that_takes_no_file_is_replaced_by_memory),
        cmocka_unit_test(test_a_file_of_the_largest_size_is_continued_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

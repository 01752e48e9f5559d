/* A thread that switches very often is sampled less often, until it does so no more. The clock is a real one, of this
 * thread, whose samples are counted. */
#include "sample/perf_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <cmocka.h>

enum { TID = 5000000, OTHER = 5000001, RING = 16 * 4096, HEADER_AND_IP = 16 };

static void leave(struct perf_rate *rate, uint32_t tid, unsigned times)
{
    struct perf_record out = {.type = PERF_RECORD_SWITCH, .tid = tid, .context_switch = {.out = true}},
                       in = {.type = PERF_RECORD_SWITCH, .tid = tid};
    for (unsigned i = 0; i < times; i++) {
        perf_rate_handle_record(rate, &out);
        perf_rate_handle_record(rate, &in);
    }
}

/* A clock event of this thread with a period of 1 ms, or -1. */
static int open_clock(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_freq = 1000,
                                   .freq = 1,
                                   .sample_type = PERF_SAMPLE_IP,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* How many samples the event takes in 200 ms of CPU time. */
static unsigned samples_of(const struct perf_event_mmap_page *page)
{
    struct timespec time;
    uint64_t before = page->data_head, start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    start = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    do {
        for (volatile int i = 0; i < 10000; i++)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    } while (now - start < 200000000);
    return (unsigned)((page->data_head - before) / HEADER_AND_IP);
}

static void test_the_period_of_the_event_is_longer_while_its_thread_switches_often(void **state)
{
    (void)state;
    int fd = open_clock();
    void *ring = fd < 0 ? MAP_FAILED : mmap(NULL, 4096 + RING, PROT_READ, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        print_message("skipped: perf events are not permitted here\n");
        skip();
    }
    struct perf_rate rate = {.interval = 1000000};
    assert_true(perf_rate_begin_thread(&rate, TID));
    assert_true(perf_rate_add_event(&rate, fd));
    unsigned usual = samples_of(ring);
    leave(&rate, TID, 10000);
    unsigned fewer = samples_of(ring);
    perf_rate_update_every_second(&rate); /* of many switches */
    perf_rate_update_every_second(&rate); /* of none */
    unsigned again = samples_of(ring);
    perf_rate_destroy(&rate);
    munmap(ring, 4096 + RING);
    close(fd);
    assert_in_range(fewer, 1, usual / 4);
    assert_in_range(again, fewer * 3, usual * 4);
}

static void test_only_the_thread_that_switches_often_changes(void **state)
{
    (void)state;
    struct perf_rate rate = {.interval = 1000000};
    assert_true(perf_rate_begin_thread(&rate, TID));
    assert_true(perf_rate_begin_thread(&rate, OTHER));
    leave(&rate, TID, 10001);
    leave(&rate, OTHER, 9999);
    leave(&rate, 7, 20000); /* not one of these */
    assert_int_equal(rate.lowered, 1);
    assert_true(rate.threads.data[0].is_lower);
    assert_false(rate.threads.data[1].is_lower);
    perf_rate_update_every_second(&rate);
    leave(&rate, OTHER, 9999); /* in another second */
    leave(&rate, TID, 5000);   /* still often */
    perf_rate_update_every_second(&rate);
    assert_true(rate.threads.data[0].is_lower);
    assert_false(rate.threads.data[1].is_lower);
    leave(&rate, TID, 4999);
    perf_rate_update_every_second(&rate);
    assert_false(rate.threads.data[0].is_lower);
    leave(&rate, TID, 10000);
    assert_true(rate.threads.data[0].is_lower);
    assert_int_equal(rate.lowered, 1); /* threads, not times */
    perf_rate_destroy(&rate);
}

static void test_a_tid_that_is_used_again_is_another_thread(void **state)
{
    (void)state;
    struct perf_rate rate = {.interval = 1000000};
    const struct perf_record end = {.type = PERF_RECORD_EXIT, .tid = TID};
    assert_true(perf_rate_begin_thread(&rate, TID));
    leave(&rate, TID, 9000);
    perf_rate_handle_record(&rate, &end);
    leave(&rate, TID, 20000);
    assert_int_equal(rate.lowered, 0);
    perf_rate_destroy(&rate);
}

static void test_without_an_interval_nothing_changes(void **state)
{
    (void)state;
    struct perf_rate rate = {0};
    assert_true(perf_rate_begin_thread(&rate, TID));
    assert_true(perf_rate_add_event(&rate, -1));
    leave(&rate, TID, 20000);
    assert_int_equal(rate.lowered, 0);
    perf_rate_destroy(&rate);
}

static void test_only_records_of_switches_count(void **state)
{
    (void)state;
    struct perf_rate rate = {.interval = 1000000};
    struct perf_record record = {.type = PERF_RECORD_COMM, .tid = TID, .context_switch = {.out = true}};
    assert_true(perf_rate_begin_thread(&rate, TID));
    for (int i = 0; i < 20000; i++)
        perf_rate_handle_record(&rate, &record);
    assert_int_equal(rate.lowered, 0);
    record.type = PERF_RECORD_SWITCH_CPU_WIDE;
    for (int i = 0; i < 20000; i++)
        perf_rate_handle_record(&rate, &record);
    assert_int_equal(rate.lowered, 1);
    perf_rate_destroy(&rate);
}

static void test_an_event_of_no_thread_is_left_alone(void **state)
{
    (void)state;
    struct perf_rate rate = {.interval = 1000000};
    assert_true(perf_rate_add_event(&rate, 0));
    assert_int_equal(rate.fds.length, 0);
    perf_rate_destroy(&rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_period_of_the_event_is_longer_while_its_thread_switches_often),
        cmocka_unit_test(test_only_the_thread_that_switches_often_changes),
        cmocka_unit_test(test_a_tid_that_is_used_again_is_another_thread),
        cmocka_unit_test(test_without_an_interval_nothing_changes),
        cmocka_unit_test(test_only_records_of_switches_count),
        cmocka_unit_test(test_an_event_of_no_thread_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

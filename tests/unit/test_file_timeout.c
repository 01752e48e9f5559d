/* Work that may hang: the caller continues, and the abandoned work is freed if it ever finishes. */
#include "os/file_timeout.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define MILLISECOND UINT64_C(1000000)

/* Reads a byte from a pipe; writes one to another when it is dropped. */
struct reading {
    struct file_work work;
    int from, to;
    char byte;
};

static void read_it(struct file_work *work)
{
    struct reading *reading = (struct reading *)work;
    (void)!read(reading->from, &reading->byte, 1);
}

static void drop(struct file_work *work)
{
    struct reading *reading = (struct reading *)work;
    (void)!write(reading->to, &reading->byte, 1);
    free(reading);
}

static struct reading *reading_new(int from, int to)
{
    struct reading *reading = calloc(1, sizeof(*reading));
    assert_non_null(reading);
    *reading = (struct reading){.work = {read_it, drop}, .from = from, .to = to};
    return reading;
}

static void test_work_that_ends_is_the_callers_again(void **unused)
{
    (void)unused;
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(write(pipe_fds[1], "x", 1), 1);
    struct reading *reading = reading_new(pipe_fds[0], -1);
    assert_int_equal(file_run_with_timeout(&reading->work, 60000 * MILLISECOND), 0);
    assert_int_equal(reading->byte, 'x');
    free(reading);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void test_work_that_does_not_end_is_left_and_dropped_later(void **unused)
{
    (void)unused;
    int work_fds[2], drop_fds[2];
    char byte = 0;
    assert_int_equal(pipe(work_fds), 0);
    assert_int_equal(pipe(drop_fds), 0);
    struct reading *reading = reading_new(work_fds[0], drop_fds[1]);
    assert_int_equal(file_run_with_timeout(&reading->work, 20 * MILLISECOND), -ETIMEDOUT);
    assert_int_equal(fcntl(drop_fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(read(drop_fds[0], &byte, 1), -1); /* not yet */
    assert_int_equal(fcntl(drop_fds[0], F_SETFL, 0), 0);
    assert_int_equal(write(work_fds[1], "y", 1), 1);
    assert_int_equal(read(drop_fds[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    for (int i = 0; i < 2; i++) {
        close(work_fds[i]);
        close(drop_fds[i]);
    }
}

static void test_a_file_is_opened_beside(void **unused)
{
    (void)unused;
    int directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = file_open_with_timeout(directory, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 60000 * MILLISECOND);
    assert_true(fd >= 0);
    assert_true(file_system_responds(fd));
    assert_int_equal(file_open_with_timeout(directory, "no such file", O_RDONLY, 60000 * MILLISECOND), -ENOENT);
    close(fd);
    close(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_that_ends_is_the_callers_again),
        cmocka_unit_test(test_work_that_does_not_end_is_left_and_dropped_later),
        cmocka_unit_test(test_a_file_is_opened_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

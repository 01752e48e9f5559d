/* The messages of the kernel's process connector, and how ends and messages find one another. */
#include "process/process_exits.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* As linux/netlink.h, linux/connector.h and linux/cn_proc.h lay it out. */
static void write_message(unsigned char bytes[68], uint32_t what, uint32_t tid, uint32_t pid, uint32_t status)
{
    const uint64_t time = 1234567890123;
    memset(bytes, 0, 68);
    memcpy(bytes + 36, &what, 4);
    memcpy(bytes + 44, &time, 8);
    memcpy(bytes + 52, &tid, 4);
    memcpy(bytes + 56, &pid, 4);
    memcpy(bytes + 60, &status, 4);
}

static void test_an_end_of_a_process_is_read(void **state)
{
    (void)state;
    unsigned char bytes[68];
    struct process_exit_message message;
    write_message(bytes, 0x80000000, 42, 42, 0x300);
    assert_true(process_exits_parse(bytes, sizeof(bytes), &message));
    assert_int_equal(message.pid, 42);
    assert_int_equal(message.status, 0x300);
    assert_int_equal(message.time, 1234567890123);
    write_message(bytes, 0x80000000, 43, 42, 0);
    assert_false(process_exits_parse(bytes, sizeof(bytes), &message)); /* of a thread */
    write_message(bytes, 1, 42, 42, 0);
    assert_false(process_exits_parse(bytes, sizeof(bytes), &message)); /* a fork */
    write_message(bytes, 0x80000000, 42, 42, 0);
    for (size_t size = 0; size < 64; size++)
        assert_false(process_exits_parse(bytes, size, &message));
}

static void take(void *context, const struct process_exit_message *message)
{
    int *sum = context;
    *sum += message->status;
}

static void add_message(struct process_exits *exits, uint32_t pid, int status)
{
    struct process_exit_message message = {.pid = pid, .status = status};
    assert_true(array_push(&exits->messages, message));
}

static void test_ends_and_messages_wait_once_for_one_another(void **state)
{
    (void)state;
    struct process_exits exits = {.fd = 1000};
    int status, sum = 0;
    assert_false(process_exits_add_end(&exits, 1, &status));
    assert_false(process_exits_add_end(&exits, 2, &status));
    add_message(&exits, 2, 20);
    add_message(&exits, 3, 300);
    process_exits_match(&exits, take, &sum);
    assert_int_equal(sum, 20);
    add_message(&exits, 1, 1);
    assert_false(process_exits_add_end(&exits, 3, &status));
    process_exits_match(&exits, take, &sum);
    assert_int_equal(sum, 321);
    add_message(&exits, 4, 4000);
    process_exits_match(&exits, take, &sum);
    process_exits_match(&exits, take, &sum);
    assert_false(process_exits_add_end(&exits, 4, &status)); /* another process of that number */
    process_exits_match(&exits, take, &sum);
    assert_int_equal(sum, 321);
    process_exits_match(&exits, take, &sum);
    add_message(&exits, 4, 4000); /* of the next process of that number */
    process_exits_match(&exits, take, &sum);
    assert_int_equal(sum, 321);
    exits.fd = -1;
    process_exits_close(&exits);
}

static pid_t start_child(void)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pause();
        _exit(1);
    }
    return child;
}

static void test_a_process_that_its_parent_has_not_awaited_has_a_status(void **state)
{
    (void)state;
    struct process_exits exits = PROCESS_EXITS_NONE;
    siginfo_t info;
    int status = 0;
    pid_t child = start_child();
    assert_false(process_exits_add_end(&exits, (uint32_t)child, &status)); /* it runs */
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(process_exits_add_end(&exits, (uint32_t)child, &status));
    assert_int_equal(status, SIGTERM);
    exits.reads = PROCESS_EXITS_READS;
    assert_false(process_exits_add_end(&exits, (uint32_t)child, &status));
    assert_int_equal(waitpid(child, &status, 0), child);
    exits.reads = 0;
    assert_false(process_exits_add_end(&exits, (uint32_t)child, &status));
}

static void test_the_kernel_reports_the_end_of_a_process(void **state)
{
    (void)state;
    struct process_exits exits;
    process_exits_open(&exits);
    if (exits.fd < 0)
        skip();
    pid_t child = start_child();
    int status, sum = 0, fd = exits.fd;
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(process_exits_add_end(&exits, (uint32_t)child, &status));
    for (struct pollfd ready = {.fd = fd, .events = POLLIN}; !sum && poll(&ready, 1, 10000) == 1;) {
        process_exits_read(&exits);
        exits.old_ended = 0; /* the message may come after those of other processes */
        process_exits_match(&exits, take, &sum);
    }
    assert_int_equal(sum, SIGTERM);
    process_exits_close(&exits);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_end_of_a_process_is_read),
        cmocka_unit_test(test_ends_and_messages_wait_once_for_one_another),
        cmocka_unit_test(test_a_process_that_its_parent_has_not_awaited_has_a_status),
        cmocka_unit_test(test_the_kernel_reports_the_end_of_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

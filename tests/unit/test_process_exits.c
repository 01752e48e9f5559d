/* The messages of the kernel's process connector, and how ends and messages find one another. */
#include "process/process_exits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    exits.fd = -1;
    process_exits_close(&exits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_end_of_a_process_is_read),
        cmocka_unit_test(test_ends_and_messages_wait_once_for_one_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

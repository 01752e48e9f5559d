/* The encoder of Protocol Buffers: bytes as the encoding's page has them, and messages that the reader reads back. */
#include "import/protobuf_read.h"
#include "export/protobuf_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_bytes(struct protobuf_writer *writer, const void *wanted, size_t size)
{
    assert_false(writer->failed);
    assert_int_equal(writer->bytes.length, size);
    assert_memory_equal(writer->bytes.data, wanted, size);
    array_free(&writer->bytes);
}

/* https://protobuf.dev/programming-guides/encoding */
static void test_the_examples_of_the_encoding(void **state)
{
    struct protobuf_writer writer = {0};
    (void)state;
    protobuf_write_unsigned(&writer, 1, 150);
    assert_bytes(&writer, "\x08\x96\x01", 3);

    protobuf_write_text(&writer, 2, "testing");
    assert_bytes(&writer, "\x12\x07testing", 9);

    size_t nested = protobuf_open(&writer, 3);
    protobuf_write_unsigned(&writer, 1, 150);
    protobuf_close(&writer, nested);
    assert_bytes(&writer, "\x1a\x03\x08\x96\x01", 5);

    size_t list = protobuf_open(&writer, 6);
    protobuf_write_element(&writer, 3);
    protobuf_write_element(&writer, 270);
    protobuf_write_element(&writer, 86942);
    protobuf_close(&writer, list);
    assert_bytes(&writer, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
}

static void test_a_negative_number_takes_ten_bytes(void **state)
{
    struct protobuf_writer writer = {0};
    (void)state;
    protobuf_write_signed(&writer, 1, -2);
    assert_bytes(&writer, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void test_fixed_numbers_are_little_endian(void **state)
{
    struct protobuf_writer writer = {0};
    (void)state;
    protobuf_write_fixed64(&writer, 3, UINT64_C(0x0102030405060708));
    assert_bytes(&writer, "\x19\x08\x07\x06\x05\x04\x03\x02\x01", 9);
}

static void test_large_fields_have_long_tags(void **state)
{
    struct protobuf_writer writer = {0};
    (void)state;
    protobuf_write_unsigned(&writer, 16, 0);
    assert_bytes(&writer, "\x80\x01\x00", 3);
}

static void test_an_empty_message_and_an_empty_text_are_there(void **state)
{
    struct protobuf_writer writer = {0};
    (void)state;
    protobuf_close(&writer, protobuf_open(&writer, 1));
    protobuf_write_text(&writer, 2, "");
    protobuf_write_bytes(&writer, 3, NULL, 0);
    assert_bytes(&writer, "\x0a\x00\x12\x00\x1a\x00", 6);
}

/* The length of a message takes as many bytes as it needs, and what is inside moves by that: around each power of
 * 128, in messages that are nested. */
static void test_messages_of_all_lengths_are_read_back(void **state)
{
    static const size_t sizes[] = {0, 1, 120, 126, 127, 128, 129, 1000, 16383, 16384, 16400, 2097151, 2097152};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct protobuf_writer writer = {0};
        char *text = malloc(sizes[i] + 1);
        assert_non_null(text);
        memset(text, 'x', sizes[i]);
        size_t outer = protobuf_open(&writer, 1), inner = protobuf_open(&writer, 2);
        protobuf_write_bytes(&writer, 3, text, sizes[i]);
        protobuf_close(&writer, inner);
        protobuf_write_unsigned(&writer, 4, i);
        protobuf_close(&writer, outer);
        protobuf_write_unsigned(&writer, 5, 7);
        assert_false(writer.failed);

        struct protobuf_field field, second;
        struct cursor message = cursor_of(writer.bytes.data, writer.bytes.length);
        assert_true(protobuf_next(&message, &field));
        assert_int_equal(field.number, 1);
        assert_true(protobuf_next(&field.bytes, &second));
        assert_int_equal(second.number, 2);
        struct protobuf_field innermost;
        assert_true(protobuf_next(&second.bytes, &innermost));
        assert_int_equal(innermost.number, 3);
        assert_int_equal(cursor_left(&innermost.bytes), sizes[i]);
        assert_memory_equal(innermost.bytes.at ? (const char *)innermost.bytes.at : "", text, sizes[i]);
        assert_true(protobuf_next(&field.bytes, &second));
        assert_int_equal(second.number, 4);
        assert_int_equal(second.value, i);
        assert_false(protobuf_next(&field.bytes, &second));
        assert_true(protobuf_next(&message, &field));
        assert_int_equal(field.value, 7);
        assert_false(protobuf_next(&message, &field));
        assert_false(message.failed);
        array_free(&writer.bytes);
        free(text);
    }
}

static void test_after_a_failure_nothing_is_written(void **state)
{
    struct protobuf_writer writer = {.failed = true};
    (void)state;
    size_t opened = protobuf_open(&writer, 1);
    protobuf_write_text(&writer, 2, "text");
    protobuf_write_fixed64(&writer, 3, 1);
    protobuf_close(&writer, opened);
    assert_true(writer.failed);
    assert_int_equal(writer.bytes.length, 0);
    array_free(&writer.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_examples_of_the_encoding),
        cmocka_unit_test(test_a_negative_number_takes_ten_bytes),
        cmocka_unit_test(test_fixed_numbers_are_little_endian),
        cmocka_unit_test(test_large_fields_have_long_tags),
        cmocka_unit_test(test_an_empty_message_and_an_empty_text_are_there),
        cmocka_unit_test(test_messages_of_all_lengths_are_read_back),
        cmocka_unit_test(test_after_a_failure_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

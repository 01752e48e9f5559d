/*
 * Decompression restores zlib's input for all piece sizes; damaged and truncated files get errors that name the damage.
 */
#include "file/gunzip.h"

#include "base/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

typedef ARRAY(unsigned char) byte_array;

static void append(byte_array *to, const void *bytes, size_t size)
{
    assert_true(array_reserve(to, size));
    memcpy(to->data + to->length, bytes, size);
    to->length += size;
}

/* Text of which some repeats, and bytes that do not. */
static byte_array make_content(size_t size)
{
    byte_array content = {0};
    uint32_t random = 1;
    while (content.length < size) {
        random = random * 1664525 + 1013904223;
        char text[32];
        int length = snprintf(text, sizeof(text), "%u,%u,", random >> 24, random >> 8);
        append(&content, random >> 31 ? (const void *)text : &random, random >> 31 ? (size_t)length : sizeof(random));
    }
    return content;
}

static void append_member(byte_array *file, const byte_array *content, int level, int strategy, bool with_header)
{
    z_stream stream = {0};
    unsigned char name[] = "a name", comment[] = "a comment", extra[] = "extra", out[4096];
    gz_header header = {.name = name, .comment = comment, .extra = extra, .extra_len = sizeof(extra), .hcrc = 1};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 9, strategy), Z_OK);
    if (with_header)
        assert_int_equal(deflateSetHeader(&stream, &header), Z_OK);
    stream.next_in = content->data;
    stream.avail_in = (uInt)content->length;
    int status;
    do {
        stream.next_out = out;
        stream.avail_out = sizeof(out);
        status = deflate(&stream, Z_FINISH);
        append(file, out, sizeof(out) - stream.avail_out);
    } while (status != Z_STREAM_END);
    deflateEnd(&stream);
}

/* Unpacks a file fed in pieces of `piece` bytes, with room for `room` at a time. */
static int unpack(const unsigned char *file, size_t size, size_t piece, size_t room, byte_array *out, struct error *err)
{
    struct gunzip *gunzip = gunzip_new();
    unsigned char *part = malloc(room);
    int rc = 0;
    for (size_t at = 0; !rc && at < size; at += piece) {
        gunzip_feed(gunzip, file + at, piece < size - at ? piece : size - at);
        size_t got;
        while ((rc = gunzip_read(gunzip, part, room, &got, err)) == 0 && got)
            append(out, part, got);
    }
    if (!rc)
        rc = gunzip_end_input(gunzip, err);
    free(part);
    gunzip_free(gunzip);
    return rc;
}

static void assert_unpacks_to(const byte_array *file, const byte_array *content, size_t piece, size_t room)
{
    byte_array out = {0};
    struct error err = {""};
    if (unpack(file->data, file->length, piece, room, &out, &err))
        fail_msg("pieces of %zu, room for %zu: %s", piece, room, err.text);
    assert_int_equal(out.length, content->length);
    assert_memory_equal(out.data, content->data, content->length);
    array_free(&out);
}

static void test_every_kind_of_block_is_unpacked_however_it_is_cut(void **state)
{
    (void)state;
    static const int kinds[][2] = {{0, Z_DEFAULT_STRATEGY}, {1, Z_DEFAULT_STRATEGY},
                                   {9, Z_DEFAULT_STRATEGY}, {6, Z_FIXED},
                                   {6, Z_HUFFMAN_ONLY},     {6, Z_RLE}};
    static const size_t sizes[] = {1, 3, 7, 300, 65536, 1 << 24};
    byte_array content = make_content(40000);
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
        byte_array file = {0};
        append_member(&file, &content, kinds[kind][0], kinds[kind][1], kind % 2);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            assert_unpacks_to(&file, &content, sizes[i], 65536);
            assert_unpacks_to(&file, &content, 65536, sizes[i]);
        }
        array_free(&file);
    }
    array_free(&content);
}

static void test_members_follow_one_another_and_padding_is_ignored(void **state)
{
    (void)state;
    byte_array content = make_content(5000), twice = {0}, nothing = {0}, file = {0};
    append(&twice, content.data, content.length);
    append(&twice, content.data, content.length);
    append_member(&file, &content, 6, Z_DEFAULT_STRATEGY, true);
    append_member(&file, &nothing, 6, Z_DEFAULT_STRATEGY, false);
    append_member(&file, &content, 1, Z_DEFAULT_STRATEGY, false);
    for (int padded = 0; padded < 2; padded++) {
        for (size_t piece = 1; piece < 200; piece += 3)
            assert_unpacks_to(&file, &twice, piece, 1000);
        assert_unpacks_to(&file, &twice, file.length, 1000);
        append(&file, "\0\0\0\x1f\x8b\x08 and so on", 17);
    }
    array_free(&content);
    array_free(&twice);
    array_free(&file);
}

static void test_every_file_that_is_cut_off_says_so(void **state)
{
    (void)state;
    byte_array content = make_content(600), file = {0};
    append_member(&file, &content, 6, Z_DEFAULT_STRATEGY, true);
    for (size_t size = 0; size < file.length; size++) {
        byte_array out = {0};
        struct error err = {""};
        assert_int_not_equal(unpack(file.data, size, 1 + size % 50, 100, &out, &err), 0);
        if (!strstr(err.text, "the file is truncated: its gzip data ends early, after "))
            fail_msg("%zu of %zu bytes: %s", size, file.length, err.text);
        assert_true(out.length <= content.length);
        if (out.length)
            assert_memory_equal(out.data, content.data, out.length);
        array_free(&out);
    }
    array_free(&content);
    array_free(&file);
}

/* One bit is wrong, anywhere: that is said, unless no content depends on it (the time and the system in the header,
 * what is left of the last byte before the sums). */
static void test_a_wrong_bit_is_seen_or_harmless(void **state)
{
    (void)state;
    enum { MOST_HARMLESS = 64 };
    byte_array content = make_content(600), file = {0};
    size_t harmless = 0;
    append_member(&file, &content, 6, Z_DEFAULT_STRATEGY, false);
    for (size_t bit = 0; bit < file.length * 8; bit++) {
        byte_array out = {0};
        struct error err = {""};
        file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (unpack(file.data, file.length, 77, 100, &out, &err) == 0) {
            assert_int_equal(out.length, content.length);
            assert_memory_equal(out.data, content.data, content.length);
            harmless++;
        }
        file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        array_free(&out);
    }
    assert_in_range(harmless, 1, MOST_HARMLESS);
    array_free(&content);
    array_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_block_is_unpacked_however_it_is_cut),
        cmocka_unit_test(test_members_follow_one_another_and_padding_is_ignored),
        cmocka_unit_test(test_every_file_that_is_cut_off_says_so),
        cmocka_unit_test(test_a_wrong_bit_is_seen_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

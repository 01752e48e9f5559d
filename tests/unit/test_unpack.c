/* Files of each compressor, whole and in pieces, give the original; truncated and damaged files are reported. */
#include "file/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CONTENT = 300000, MOST = 3 * CONTENT };

static unsigned char content[CONTENT], packed[MOST], unpacked[MOST];

static void make_content(void)
{
    uint32_t random = 1;
    for (size_t i = 0; i < CONTENT; i++) {
        random = random * 1664525 + 1013904223;
        content[i] = i % 3000 < 1000 ? (unsigned char)(random >> 24) : (unsigned char)('a' + i % 7);
    }
}

/* How many bytes the command makes of the content; 0: there is no such command. */
static size_t pack(const char *command)
{
    char path[] = "/tmp/prof-test-XXXXXX", line[128];
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "wb");
    fwrite(content, 1, CONTENT, file);
    fclose(file);
    snprintf(line, sizeof(line), "%s -c <%s 2>/dev/null", command, path);
    FILE *pipe = popen(line, "r");
    size_t size = fread(packed, 1, MOST, pipe);
    pclose(pipe);
    remove(path);
    return size;
}

static int unpack(const unsigned char *bytes, size_t size, size_t piece, size_t room, size_t *got)
{
    struct unpacker *unpacker = unpacker_new(unpacker_format(bytes, size));
    struct error err = {""};
    int code = 0;
    *got = 0;
    assert_non_null(unpacker);
    for (size_t at = 0; !code && at < size; at += piece) {
        unpacker_feed(unpacker, bytes + at, size - at < piece ? size - at : piece);
        for (size_t more = 1; !code && more; *got += code ? 0 : more) {
            assert_true(*got + room <= MOST);
            code = unpacker_read(unpacker, unpacked + *got, room, &more, &err);
        }
    }
    if (!code)
        code = unpacker_end_input(unpacker, &err);
    unpacker_free(unpacker);
    assert_true(!code == !err.text[0]);
    return code;
}

static void check_packer(const char *command)
{
    static unsigned char twice[MOST];
    size_t size = pack(command), got;
    if (!size || unpacker_format(packed, size) == UNPACKER_NONE)
        skip();
    for (size_t piece = 1; piece <= size; piece = piece * 13 + 1) {
        assert_int_equal(unpack(packed, size, piece, 1 + piece * 7 % 5000, &got), 0);
        assert_int_equal(got, CONTENT);
        assert_memory_equal(unpacked, content, CONTENT);
    }
    for (size_t cut = 6; cut < size; cut += 997)
        assert_int_not_equal(unpack(packed, cut, cut, 4096, &got), 0);
    for (size_t i = 6; i < size; i += 997) { /* whatever comes out, it stays in its place */
        packed[i] ^= 0x55;
        unpack(packed, size, 4096, 4096, &got);
        packed[i] ^= 0x55;
    }
    memcpy(twice, packed, size);
    memcpy(twice + size, packed, size);
    assert_int_equal(unpack(twice, 2 * size, 5000, 4096, &got), 0);
    assert_int_equal(got, 2 * CONTENT);
}

static void test_gzip(void **unused)
{
    (void)unused;
    check_packer("gzip");
}

static void test_xz(void **unused)
{
    (void)unused;
    check_packer("xz -1");
}

static void test_zstd(void **unused)
{
    (void)unused;
    check_packer("zstd");
}

static int set_up(void **unused)
{
    (void)unused;
    make_content();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_xz),
        cmocka_unit_test(test_zstd),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

/*
 * The parts of a text that the sanitizer removes, and those that it keeps.
 */
#include "export/sanitize_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sanitize_words words;

static int add_words(void **state)
{
    (void)state;
    assert_true(sanitize_add_user(&words, "alice", 5));
    assert_true(sanitize_add_host(&words, "build-7.example.org", 19));
    assert_true(sanitize_add_home(&words, "/srv/people/alice/"));
    return 0;
}

static int forget_words(void **state)
{
    (void)state;
    sanitize_words_destroy(&words);
    return 0;
}

static unsigned sanitize(const char *text, bool is_code, unsigned parts, const char *wanted)
{
    struct text_buffer out = {0};
    unsigned found = 0;
    assert_true(sanitize_text(&words, parts, is_code, text, strlen(text), &out, &found));
    assert_true(text_append(&out, "", 1));
    assert_string_equal(out.data, wanted);
    array_free(&out);
    return found;
}

static void assert_text(const char *text, const char *wanted)
{
    sanitize(text, false, SANITIZE_ALL, wanted);
}

static void assert_code(const char *text, const char *wanted)
{
    sanitize(text, true, SANITIZE_ALL, wanted);
}

static void test_home_directories_become_tildes(void **state)
{
    (void)state;
    assert_text("/home/bob/src/x.c", "~/src/x.c");
    assert_text("/home/bob", "~");
    assert_text("open /Users/Bob/x, /home/eve", "open ~/x, ~");
    assert_text("/proc/17/root/home/bob/x", "/proc/17/root/~/x");
    assert_text("C:\\Users\\Bob Smith\\x.exe", "C:\\~\\x.exe");
    assert_text("file:///home/bob/x.js:3:1", "file://~/x.js:3:1");
    assert_text("/root/x /rootfs/x /a/root/x", "~/x /rootfs/x /a/root/x");
    assert_text("/srv/people/alice/x /srv/people/alice2/x", "~/x /srv/people/alice2/x");
    assert_text("/home/ /usr/bin/home", "/home/ /usr/bin/home");
    assert_code("f (/home/bob/x.py)", "f (~/x.py)");
}

static void test_names_are_left_out_as_words(void **state)
{
    (void)state;
    assert_text("/tmp/alice-1/alice.txt", "/tmp/user-1/user.txt");
    assert_text("alice@build-7.example.org", "user@host");
    assert_text("build-7:80 malice alices", "host:80 malice alices");
    assert_code("alice::run(build-7)", "alice::run(build-7)");
    assert_code("run /tmp/alice/x.js", "run /tmp/user/x.js");
}

static void test_addresses_of_networks_are_left_out(void **state)
{
    (void)state;
    assert_text("10.0.0.3:5432 [2001:db8::1]:443", "address:5432 address:443");
    assert_text("127.0.0.1:80 [::1]:80 0.0.0.0", "127.0.0.1:80 [::1]:80 0.0.0.0");
    assert_text("1.2.3 1.2.3.4.5 300.1.1.1 v1.2.3.4", "1.2.3 1.2.3.4.5 300.1.1.1 v1.2.3.4");
    assert_code("poll socket:[17] tcp 10.0.0.3:5432, udp [fd00::7]:53",
                "poll socket:[17] tcp address:5432, udp address:53");
    assert_code("operator[](abi::x) f[abi:cxx11](int) v1.2.3.4", "operator[](abi::x) f[abi:cxx11](int) v1.2.3.4");
    assert_text("https://secret.example/x?y=1 (http://a/b)", "https://url (http://url)");
    assert_code("std::vector<T>://x", "std::vector<T>://x");
}

static void test_common_accounts_and_short_names_stay(void **state)
{
    struct sanitize_words found = {0};
    (void)state;
    assert_true(sanitize_find_users(&found, "/home/ubuntu/x /home/jo/x /home/runner/y /home/iojs/z", 53));
    assert_int_equal(found.users.entries.length, 0);
    assert_true(sanitize_find_users(&found, "\"/home/carol/x\"", 15));
    assert_int_equal(found.users.entries.length, 1);
    assert_string_equal(strings_text(&found.users, 0), "carol");
    assert_true(sanitize_add_host(&found, "localhost.localdomain", 21));
    assert_int_equal(found.hosts.entries.length, 0);
    sanitize_words_destroy(&found);
}

static void test_only_what_is_asked_for_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(sanitize("/home/bob/x http://a/b", false, SANITIZE_URLS, "/home/bob/x http://url"), SANITIZE_URLS);
    assert_int_equal(sanitize("/home/bob/x http://a/b", false, SANITIZE_HOMES, "~/x http://a/b"), SANITIZE_HOMES);
    assert_int_equal(sanitize("/home/bob/x", false, 0, "/home/bob/x"), 0);
}

/* Any bytes: nothing is read outside of them, and what is left has no home directory. */
static void test_any_bytes_are_read(void **state)
{
    static const char pieces[][12] = {"/home/", "alice", "://", "http", "10.0.0.1", "[::1", "\\Users\\",
                                      "/root",  "~",     " ",   ".",    "@",        "\xc3"};
    uint32_t random = 1;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        char text[64];
        size_t length = 0;
        while (length < 40) {
            random = random * 1664525 + 1013904223;
            if (random >> 30) {
                const char *piece = pieces[(random >> 8) % (sizeof(pieces) / sizeof(*pieces))];
                memcpy(text + length, piece, strlen(piece));
                length += strlen(piece);
            } else {
                text[length++] = (char)(random >> 16);
            }
        }
        char *exact = malloc(length); /* the address sanitizer sees what is read beyond */
        assert_non_null(exact);
        memcpy(exact, text, length);
        struct text_buffer out = {0};
        unsigned found = 0;
        assert_true(sanitize_text(&words, SANITIZE_ALL, round & 1, exact, length, &out, &found));
        assert_true(text_append(&out, "", 1));
        assert_null(strstr(out.data, "/home/alice/"));
        array_free(&out);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_home_directories_become_tildes),
        cmocka_unit_test(test_names_are_left_out_as_words),
        cmocka_unit_test(test_addresses_of_networks_are_left_out),
        cmocka_unit_test(test_common_accounts_and_short_names_stay),
        cmocka_unit_test(test_only_what_is_asked_for_is_left_out),
        cmocka_unit_test(test_any_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, add_words, forget_words);
}

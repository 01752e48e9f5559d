/*
 * Lasting addresses: the identity of a profile, the source and the checks of the secret, and the keyed hash.
 */
#include "serve/lasting_address.h"

#include "base/keyed_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/prof-test-address-XXXXXX", state[64], secret[80], ports[80];

static int make_directory(void **unused)
{
    (void)unused;
    memcpy(directory, "/tmp/prof-test-address-XXXXXX", sizeof(directory));
    assert_non_null(mkdtemp(directory));
    snprintf(state, sizeof(state), "%s/home/state/prof", directory);
    snprintf(secret, sizeof(secret), "%s/secret", state);
    snprintf(ports, sizeof(ports), "%s/ports", state);
    return 0;
}

static int remove_directory(void **unused)
{
    (void)unused;
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

static int file_with(const void *bytes, size_t size)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/profile-XXXXXX", directory);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    return fd;
}

static struct lasting_address address_of(int profile)
{
    struct lasting_address lasting;
    struct error err = {""};
    if (lasting_address_open(&lasting, state, profile, &err))
        fail_msg("%s", err.text);
    lasting_address_close(&lasting);
    return lasting;
}

static struct lasting_address address_of_bytes(const void *bytes, size_t size)
{
    int fd = file_with(bytes, size);
    struct lasting_address lasting = address_of(fd);
    close(fd);
    return lasting;
}

static struct lasting_address address_of_text(const char *text)
{
    return address_of_bytes(text, strlen(text));
}

/* Opening fails with -EPERM and a sentence that has `part` in it. */
static void assert_refused(const char *part)
{
    struct lasting_address lasting;
    struct error err = {""};
    int fd = file_with("{}", 2);
    assert_int_equal(lasting_address_open(&lasting, state, fd, &err), -EPERM);
    close(fd);
    if (!strstr(err.text, part))
        fail_msg("no '%s' in: %s", part, err.text);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void test_keyed_hash_is_siphash(void **unused)
{
    (void)unused;
    /* of OpenSSL and of the reference implementation (vectors_sip128): key 00..0f, messages 00 01 02 ... */
    static const struct {
        size_t size;
        unsigned char hash[KEYED_HASH_SIZE];
    } vectors[] = {
        {0, {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93}},
        {1, {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45}},
        {8, {0x3b, 0x62, 0xa9, 0xba, 0x62, 0x58, 0xf5, 0x61, 0x0f, 0x83, 0xe2, 0x64, 0xf3, 0x14, 0x97, 0xb4}},
        {15, {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3, 0xd9}},
        {63, {0x51, 0x50, 0xd1, 0x77, 0x2f, 0x50, 0x83, 0x4a, 0x50, 0x3e, 0x06, 0x9a, 0x97, 0x3f, 0xbd, 0x7c}},
    };
    unsigned char key[KEYED_HASH_KEY], message[64], hash[KEYED_HASH_SIZE];
    for (unsigned char i = 0; i < sizeof(message); i++)
        message[i] = i;
    memcpy(key, message, sizeof(key));
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        compute_keyed_hash(hash, key, message, vectors[i].size);
        assert_memory_equal(hash, vectors[i].hash, sizeof(hash));
    }
}

static void test_a_profile_keeps_its_token_and_others_have_others(void **unused)
{
    (void)unused;
    struct lasting_address first = address_of_text("one"), again = address_of_text("one");
    assert_string_equal(first.token, again.token);
    assert_int_equal(strlen(first.token), TOKEN_LENGTH);
    assert_int_equal(first.port, 0);
    assert_string_not_equal(first.token, address_of_text("two").token);
    assert_string_not_equal(first.token, address_of_text("on").token);
    assert_string_not_equal(first.token, address_of_text("").token);
}

static void test_beginning_end_and_size_of_a_large_profile_count(void **unused)
{
    (void)unused;
    enum { SIZE = 300000 };
    char *bytes = calloc(1, SIZE + 1);
    struct lasting_address before = address_of_bytes(bytes, SIZE);
    assert_string_not_equal(address_of_bytes(bytes, SIZE + 1).token, before.token);
    bytes[10] = 1;
    assert_string_not_equal(address_of_bytes(bytes, SIZE).token, before.token);
    bytes[10] = 0;
    bytes[SIZE - 10] = 1;
    assert_string_not_equal(address_of_bytes(bytes, SIZE).token, before.token);
    free(bytes);
}

static void test_the_position_of_the_open_file_is_left_alone(void **unused)
{
    (void)unused;
    int fd = file_with("0123456789", 10);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    address_of(fd);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 4);
    close(fd);
}

static void test_another_secret_gives_other_tokens(void **unused)
{
    (void)unused;
    struct lasting_address first = address_of_text("one");
    assert_int_equal(unlink(secret), 0);
    assert_string_not_equal(first.token, address_of_text("one").token);
}

static void test_the_secret_is_private(void **unused)
{
    (void)unused;
    mode_t before = umask(0);
    address_of_text("one");
    umask(before);
    assert_int_equal(mode_of(secret), 0600);
    assert_int_equal(mode_of(state), 0700);
}

static void test_a_secret_that_others_can_read_is_refused(void **unused)
{
    (void)unused;
    address_of_text("one");
    assert_int_equal(chmod(secret, 0640), 0);
    assert_refused("is readable for other users");
}

static void test_a_secret_of_another_user_is_refused(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    address_of_text("one");
    assert_int_equal(chown(secret, 65534, 65534), 0);
    assert_refused("belongs to another user");
}

static void test_a_link_and_a_damaged_secret_are_refused(void **unused)
{
    (void)unused;
    char target[96];
    address_of_text("one");
    snprintf(target, sizeof(target), "%s/target", state);
    assert_int_equal(rename(secret, target), 0);
    assert_int_equal(symlink(target, secret), 0);
    assert_refused("is not a file");
    assert_int_equal(unlink(secret), 0);
    assert_int_equal(truncate(target, 3), 0);
    assert_int_equal(rename(target, secret), 0);
    assert_refused("is damaged");
}

static void test_a_directory_where_others_can_write_is_refused(void **unused)
{
    (void)unused;
    address_of_text("one");
    assert_int_equal(chmod(state, 0777), 0);
    assert_refused("other users can write to it");
}

static void test_all_that_start_at_once_use_one_secret(void **unused)
{
    (void)unused;
    enum { CHILDREN = 16 };
    int go[2], told[2];
    char tokens[CHILDREN][TOKEN_LENGTH + 1];
    assert_int_equal(pipe(go) + pipe(told), 0);
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() != 0)
            continue;
        char byte;
        close(go[1]);
        bool is_end = read(go[0], &byte, 1) == 0; /* when the parent closes its end, for all at once */
        struct lasting_address lasting = address_of_text("one");
        _exit(is_end && write(told[1], lasting.token, sizeof(lasting.token)) == sizeof(lasting.token) ? 0 : 1);
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < CHILDREN; i++) {
        int status = 1;
        wait(&status);
        assert_int_equal(status, 0);
        assert_int_equal(read(told[0], tokens[i], sizeof(tokens[i])), sizeof(tokens[i]));
        assert_string_equal(tokens[i], tokens[0]);
    }
    close(told[0]);
    close(told[1]);
}

static void keep_port(const char *text, uint16_t port)
{
    struct lasting_address lasting;
    struct error err;
    int fd = file_with(text, strlen(text));
    assert_int_equal(lasting_address_open(&lasting, state, fd, &err), 0);
    lasting_address_keep_port(&lasting, port, 3000);
    lasting_address_close(&lasting);
    close(fd);
}

static void test_an_unusual_port_is_kept_for_its_profile(void **unused)
{
    (void)unused;
    keep_port("one", 3000);
    assert_int_equal(access(ports, F_OK), -1); /* nothing to remember */
    keep_port("one", 3001);
    keep_port("two", 65535);
    assert_int_equal(mode_of(ports), 0600);
    assert_int_equal(address_of_text("one").port, 3001);
    assert_int_equal(address_of_text("two").port, 65535);
    assert_int_equal(address_of_text("three").port, 0);
    keep_port("one", 3000);
    assert_int_equal(address_of_text("one").port, 3000);
    assert_int_equal(address_of_text("two").port, 65535);
}

static void test_the_latest_ports_are_kept(void **unused)
{
    (void)unused;
    char name[16];
    for (unsigned i = 0; i < 70; i++) {
        snprintf(name, sizeof(name), "%u", i);
        keep_port(name, (uint16_t)(4000 + i));
    }
    assert_int_equal(address_of_text("69").port, 4069);
    assert_int_equal(address_of_text("6").port, 4006);
    assert_int_equal(address_of_text("5").port, 0);
}

static void test_damaged_ports_are_ignored(void **unused)
{
    (void)unused;
    keep_port("one", 3001);
    assert_int_equal(truncate(ports, 20), 0);
    assert_int_equal(address_of_text("one").port, 0);
    keep_port("one", 3002);
    assert_int_equal(address_of_text("one").port, 3002);
}

int main(void)
{
#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyed_hash_is_siphash),
        IN_A_DIRECTORY(test_a_profile_keeps_its_token_and_others_have_others),
        IN_A_DIRECTORY(test_beginning_end_and_size_of_a_large_profile_count),
        IN_A_DIRECTORY(test_the_position_of_the_open_file_is_left_alone),
        IN_A_DIRECTORY(test_another_secret_gives_other_tokens),
        IN_A_DIRECTORY(test_the_secret_is_private),
        IN_A_DIRECTORY(test_a_secret_that_others_can_read_is_refused),
        IN_A_DIRECTORY(test_a_secret_of_another_user_is_refused),
        IN_A_DIRECTORY(test_a_link_and_a_damaged_secret_are_refused),
        IN_A_DIRECTORY(test_a_directory_where_others_can_write_is_refused),
        IN_A_DIRECTORY(test_all_that_start_at_once_use_one_secret),
        IN_A_DIRECTORY(test_an_unusual_port_is_kept_for_its_profile),
        IN_A_DIRECTORY(test_the_latest_ports_are_kept),
        IN_A_DIRECTORY(test_damaged_ports_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

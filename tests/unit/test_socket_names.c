/* Descriptions of sockets, from lines that Linux wrote, and of sockets of this process. */
#include "process/socket_names.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static const char listening[] = "   1: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0     "
                                "   0 3356180 1 00000000c0941ebc "
                                "100 0 0 10 0\n";
static const char connected[] = "   2: 0100007F:0BB8 0200007F:D431 01 00000000:00000000 00:00000000 00000000  1000     "
                                "   0 77 1 0000000000000000\n";
static const char of_version_6[] = "   3: 00000000000000000000000001000000:01BB B80D01200000000000000000010000FF:0016 "
                                   "01 00000000:00000000 00:00000000 "
                                   "00000000  1000        0 78 1 0000000000000000\n";

static void test_lines_give_addresses(void **state)
{
    char text[SOCKET_NAME_SIZE];
    (void)state;
    assert_true(socket_line_parse("tcp", listening, 3356180, text, sizeof(text)));
    assert_string_equal(text, "tcp 127.0.0.1:3000, listening");
    assert_true(socket_line_parse("tcp", connected, 77, text, sizeof(text)));
    assert_string_equal(text, "tcp 127.0.0.1:3000 -> 127.0.0.2:54321");
    assert_true(socket_line_parse("tcp", of_version_6, 78, text, sizeof(text)));
    assert_string_equal(text, "tcp [::1]:443 -> [2001:db8::ff00:1]:22");
    assert_true(socket_line_parse("unix", "8d697c01: 00000002 00000000 00010000 0001 01 38668 /run/a b.sock\n", 38668,
                                  text, sizeof(text)));
    assert_string_equal(text, "unix /run/a b.sock, listening");
    assert_true(
        socket_line_parse("unix", "8d697c01: 00000003 00000000 00000000 0001 03  1593\n", 1593, text, sizeof(text)));
    assert_string_equal(text, "unix");
}

static void test_other_and_damaged_lines_give_nothing(void **state)
{
    char text[SOCKET_NAME_SIZE];
    (void)state;
    assert_false(socket_line_parse("tcp", listening, 3356181, text, sizeof(text)));
    assert_false(
        socket_line_parse("unix", "Num       RefCount Protocol Flags    Type St Inode Path\n", 5, text, sizeof(text)));
    assert_false(socket_line_parse("tcp", "   2: 0100007F 0200007F:D431 01 0 0 0 0 0 77\n", 77, text, sizeof(text)));
    assert_false(socket_line_parse("tcp", "   2: 01:0BB8 0200007F:D431 01 0 0 0 0 0 77\n", 77, text, sizeof(text)));
    for (size_t cut = 0; cut < strlen(connected) - 40; cut++) { /* before the inode */
        char line[sizeof(connected)];
        memcpy(line, connected, cut);
        line[cut] = '\0';
        socket_line_parse("tcp", line, 77, text, sizeof(text));
        socket_line_parse("unix", line, 77, text, sizeof(text));
    }
}

static uint64_t inode_of(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return info.st_ino;
}

static void test_sockets_of_a_process_are_found(void **state)
{
    char text[SOCKET_NAME_SIZE], wanted[SOCKET_NAME_SIZE];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    (void)state;
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(udp, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(udp, (struct sockaddr *)&address, &length), 0);
    assert_true(socket_find_name((uint32_t)getpid(), inode_of(udp), text, sizeof(text)));
    snprintf(wanted, sizeof(wanted), "udp 127.0.0.1:%d", ntohs(address.sin_port));
    assert_string_equal(text, wanted);
    close(udp);
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(socket_find_name((uint32_t)getpid(), inode_of(pair[0]), text, sizeof(text)));
    assert_string_equal(text, "unix");
    close(pair[0]);
    close(pair[1]);
    assert_false(socket_find_name((uint32_t)getpid(), UINT64_MAX, text, sizeof(text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_give_addresses),
        cmocka_unit_test(test_other_and_damaged_lines_give_nothing),
        cmocka_unit_test(test_sockets_of_a_process_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The client of debug servers: what it gives, and how a fetch ends that goes wrong. The server is a thread of this
 * test, which answers as it is told to. */
#include "os/clock.h"
#include "symbol/debug_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static char cache[] = "/tmp/test_debug_server_XXXXXX";
static const unsigned char id[4] = {0xab, 0xcd, 0xef, 0x01};

/* ---- the server ---- */

enum behavior { SERVES, SAYS_NOT_FOUND, CLAIMS_MUCH, IS_SILENT, SERVES_HALF };

struct server {
    int socket;
    atomic_int connection; /* the one that is being answered; -1: none */
    atomic_int behavior;   /* enum behavior */
    pthread_t thread;
    char asked[256]; /* the first line of the last request */
    atomic_uint requests;
};

static void answer(struct server *server, int connection)
{
    static const char found[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
    static const char missing[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    static const char much[] = "HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\nhello";
    static const char half[] = "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nhello";
    static const char *const answers[] = {
        [SERVES] = found, [SAYS_NOT_FOUND] = missing, [CLAIMS_MUCH] = much, [IS_SILENT] = "", [SERVES_HALF] = half};
    const char *text = answers[atomic_load(&server->behavior)];
    char rest[256];
    if (send(connection, text, strlen(text), MSG_NOSIGNAL) < 0)
        return;
    if (server->behavior == SERVES || server->behavior == SAYS_NOT_FOUND)
        shutdown(connection, SHUT_WR);
    while (recv(connection, rest, sizeof(rest), 0) > 0)
        ; /* until the client has enough */
}

static void *serve(void *context)
{
    struct server *server = context;
    for (int connection; (connection = accept(server->socket, NULL, NULL)) >= 0; close(connection)) {
        ssize_t size = recv(connection, server->asked, sizeof(server->asked) - 1, 0);
        server->asked[size > 0 ? size : 0] = '\0';
        server->asked[strcspn(server->asked, "\r")] = '\0';
        server->requests++;
        server->connection = connection;
        answer(server, connection);
        server->connection = -1;
    }
    return NULL;
}

static void start_server(struct server *server, enum behavior behavior)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    char url[64];
    *server = (struct server){.socket = socket(AF_INET, SOCK_STREAM, 0), .connection = -1, .behavior = behavior};
    assert_int_equal(bind(server->socket, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server->socket, 8), 0);
    assert_int_equal(getsockname(server->socket, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("DEBUGINFOD_URLS", url, 1);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

/* libdebuginfod may go on to wait for an answer that nobody wants any more. */
static void hang_up(struct server *server)
{
    int connection = server->connection;
    if (connection >= 0)
        shutdown(connection, SHUT_RDWR);
}

static void end_server(struct server *server)
{
    shutdown(server->socket, SHUT_RDWR);
    hang_up(server);
    pthread_join(server->thread, NULL);
    close(server->socket);
}

/* ---- the client ---- */

static struct debug_server *new_client(const struct debug_server_options *options)
{
    struct error err = {""};
    struct debug_server *client;
    if (debug_server_new(&client, options, &err) == 0)
        return client;
    print_message("%s\n", err.text);
    skip();
    return NULL;
}

static int fetch(struct debug_server *client, struct error *err)
{
    return debug_server_fetch(client, DEBUG_SERVER_DEBUG_INFO, id, sizeof(id), "libfoo.so", err);
}

static int empty_cache(void **unused)
{
    (void)unused;
    char command[300];
    snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", cache, cache);
    return system(command);
}

static void assert_nothing_more_is_asked(struct debug_server *client, const struct server *server)
{
    struct error err = {""};
    unsigned before = server->requests;
    assert_int_equal(fetch(client, &err), -ECANCELED);
    assert_int_equal(server->requests, before);
}

static void test_file_is_fetched_once_and_kept(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(NULL);
    struct server server;
    struct error err = {""};
    char text[6] = "";
    start_server(&server, SERVES);
    int fd = fetch(client, &err);
    if (fd < 0)
        fail_msg("%s", err.text);
    assert_int_equal(pread(fd, text, sizeof(text), 0), 5);
    assert_string_equal(text, "hello");
    close(fd);
    assert_string_equal(server.asked, "GET /buildid/abcdef01/debuginfo HTTP/1.1");
    fd = fetch(client, &err);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(server.requests, 1);
    fd = debug_server_fetch(client, DEBUG_SERVER_SOURCE, id, sizeof(id), "/src/a.c", &err);
    assert_true(fd >= 0);
    close(fd);
    assert_string_equal(server.asked, "GET /buildid/abcdef01/source/src/a.c HTTP/1.1");
    fd = debug_server_fetch(client, DEBUG_SERVER_PROGRAM, id, sizeof(id), "libfoo.so", &err);
    assert_true(fd >= 0);
    close(fd);
    assert_string_equal(server.asked, "GET /buildid/abcdef01/executable HTTP/1.1");
    assert_string_equal(debug_server_describe_problem(client), "");
    debug_server_free(client);
    end_server(&server);
}

static void test_what_no_server_can_have_is_not_asked_for(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(NULL);
    struct server server;
    struct error err = {""};
    unsigned char long_id[80] = {1};
    start_server(&server, SERVES);
    assert_int_equal(debug_server_fetch(client, DEBUG_SERVER_SOURCE, id, sizeof(id), "a.c", &err), -ENOENT);
    assert_int_equal(debug_server_fetch(client, DEBUG_SERVER_DEBUG_INFO, id, 0, "x", &err), -ENOENT);
    assert_int_equal(debug_server_fetch(client, DEBUG_SERVER_DEBUG_INFO, long_id, sizeof(long_id), "x", &err), -ENOENT);
    assert_int_equal(server.requests, 0);
    debug_server_free(client);
    end_server(&server);
}

static void test_missing_file_is_no_reason_to_give_up(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(NULL);
    struct server server;
    struct error err = {""};
    start_server(&server, SAYS_NOT_FOUND);
    assert_int_equal(fetch(client, &err), -ENOENT);
    assert_string_equal(err.text, "no debug server has a file for libfoo.so");
    server.behavior = SERVES;
    int fd = debug_server_fetch(client, DEBUG_SERVER_PROGRAM, id, sizeof(id), "libfoo.so", &err);
    assert_true(fd >= 0);
    close(fd);
    debug_server_free(client);
    end_server(&server);
}

static void test_file_that_is_too_large_is_not_fetched(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(&(struct debug_server_options){.max_bytes = 5 << 20});
    struct server server;
    struct error err = {""};
    start_server(&server, CLAIMS_MUCH);
    assert_int_equal(fetch(client, &err), -E2BIG);
    assert_string_equal(err.text, "the debug server's file for libfoo.so is larger than 5 MiB");
    assert_string_equal(debug_server_describe_problem(client), "");
    debug_server_free(client);
    end_server(&server);
}

/* By a new client. A fetch that was given up may still be about to end: until prof has removed what libdebuginfod then
 * notes, the file counts as missing. */
static int fetch_anew(struct error *err)
{
    enum { TRIES = 500, WAIT_US = 20000 };
    int fd = -ENOENT;
    for (int i = 0; i < TRIES && fd == -ENOENT; i++) {
        if (i > 0)
            usleep(WAIT_US);
        struct debug_server *client = new_client(NULL);
        fd = fetch(client, err);
        debug_server_free(client);
    }
    return fd;
}

static void test_server_that_takes_too_long_is_not_asked_again(void **unused)
{
    (void)unused;
    static const struct debug_server_options limits[] = {{.max_seconds = 1}, {.max_seconds = 60, .silent_seconds = 1}};
    for (size_t i = 0; i < 4; i++) {
        struct debug_server *client = new_client(&limits[i / 2]);
        struct server server;
        struct error err = {""};
        start_server(&server, i % 2 ? IS_SILENT : SERVES_HALF);
        uint64_t start = monotonic_ns();
        assert_int_equal(fetch(client, &err), -ETIMEDOUT);
        assert_true(monotonic_ns() - start < UINT64_C(20) * 1000000000);
        assert_string_equal(err.text, "the debug server takes too long for libfoo.so");
        assert_string_equal(debug_server_describe_problem(client), err.text);
        assert_nothing_more_is_asked(client, &server);
        debug_server_free(client);
        server.behavior = SERVES; /* the next time it is asked, and has it */
        hang_up(&server);
        int fd = fetch_anew(&err);
        assert_true(fd >= 0);
        close(fd);
        end_server(&server);
        empty_cache(NULL);
    }
}

static void test_server_that_is_not_there_is_said(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(NULL);
    struct server server;
    struct error err = {""};
    start_server(&server, SERVES);
    end_server(&server);
    assert_int_equal(fetch(client, &err), -ECONNREFUSED);
    assert_non_null(strstr(err.text, "cannot download debug files from http://127.0.0.1:"));
    assert_string_equal(debug_server_describe_problem(client), err.text);
    assert_nothing_more_is_asked(client, &server);
    debug_server_free(client);
}

static void test_that_there_is_no_server_is_said(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(NULL);
    struct error err = {""};
    unsetenv("DEBUGINFOD_URLS");
    assert_true(fetch(client, &err) < 0);
    assert_string_equal(err.text, "cannot download debug files: DEBUGINFOD_URLS names no server");
    assert_string_equal(debug_server_describe_problem(client), err.text);
    debug_server_free(client);
}

struct watched {
    unsigned calls;
    bool stop;
    struct debug_server_progress last;
};

static bool watch(void *context, const struct debug_server_progress *progress)
{
    struct watched *watched = context;
    watched->calls++;
    watched->last = *progress;
    return !watched->stop;
}

static void test_progress_tells_of_a_fetch_and_its_end(void **unused)
{
    (void)unused;
    struct watched watched = {.calls = 0};
    struct debug_server *client = new_client(&(struct debug_server_options){.progress = watch, .context = &watched});
    struct server server;
    start_server(&server, SERVES);
    int fd = fetch(client, NULL);
    assert_true(fd >= 0);
    close(fd);
    assert_true(watched.calls > 0 && watched.last.ended);
    assert_string_equal(watched.last.name, "libfoo.so");
    assert_int_equal(watched.last.files, 1);
    unsigned calls = watched.calls;
    fd = fetch(client, NULL); /* from the cache */
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(watched.calls, calls);
    debug_server_free(client);
    end_server(&server);
}

static void test_user_who_has_enough_stops_everything(void **unused)
{
    (void)unused;
    struct watched watched = {.stop = true};
    struct debug_server *client = new_client(&(struct debug_server_options){.progress = watch, .context = &watched});
    struct server server;
    struct error err = {""};
    start_server(&server, IS_SILENT);
    assert_int_equal(fetch(client, &err), -ECANCELED);
    assert_string_equal(err.text, "downloads from debug servers were stopped");
    assert_string_equal(debug_server_describe_problem(client), ""); /* the user knows */
    assert_nothing_more_is_asked(client, &server);
    debug_server_free(client);
    end_server(&server);
}

static void *stop_soon(void *context)
{
    debug_server_stop(context);
    return NULL;
}

static void test_another_thread_stops_a_fetch(void **unused)
{
    (void)unused;
    struct debug_server *client = new_client(NULL);
    struct server server;
    struct error err = {""};
    pthread_t thread;
    start_server(&server, IS_SILENT);
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, client), 0);
    assert_int_equal(fetch(client, &err), -ECANCELED); /* whether it had begun or not */
    pthread_join(thread, NULL);
    debug_server_free(client);
    end_server(&server);
}

static int make_cache(void **unused)
{
    (void)unused;
    if (!mkdtemp(cache))
        return -1;
    setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
    unsetenv("DEBUGINFOD_PROGRESS");
    unsetenv("DEBUGINFOD_VERBOSE");
    return 0;
}

static int remove_cache(void **unused)
{
    char command[300];
    (void)unused;
    snprintf(command, sizeof(command), "rm -rf %s", cache);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_file_is_fetched_once_and_kept, empty_cache),
        cmocka_unit_test_setup(test_what_no_server_can_have_is_not_asked_for, empty_cache),
        cmocka_unit_test_setup(test_missing_file_is_no_reason_to_give_up, empty_cache),
        cmocka_unit_test_setup(test_file_that_is_too_large_is_not_fetched, empty_cache),
        cmocka_unit_test_setup(test_server_that_takes_too_long_is_not_asked_again, empty_cache),
        cmocka_unit_test_setup(test_server_that_is_not_there_is_said, empty_cache),
        cmocka_unit_test_setup(test_that_there_is_no_server_is_said, empty_cache),
        cmocka_unit_test_setup(test_progress_tells_of_a_fetch_and_its_end, empty_cache),
        cmocka_unit_test_setup(test_user_who_has_enough_stops_everything, empty_cache),
        cmocka_unit_test_setup(test_another_thread_stops_a_fetch, empty_cache),
    };
    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}

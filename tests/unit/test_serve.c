/*
 * The server over real connections: its answers, and the requests that it refuses.
 */
#include "serve/accept.h"
#include "serve/newcomers.h"
#include "serve/own_address.h"
#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

/* ---- fixtures: a page of two files, a profile, and a server that has them ---- */

static const char page_text[] = "<!doctype html><title>the page</title>";
static const char script_text[] = "console.log('the script');";
static const char profile_text[] = "{\"meta\":{\"version\":31}}";

struct compressed {
    unsigned char bytes[4096];
    size_t size;
};

static struct compressed compress_text(const char *text)
{
    struct compressed out = {0};
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = out.bytes;
    stream.avail_out = sizeof(out.bytes);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

static int file_with(const void *bytes, size_t size)
{
    char path[] = "/tmp/prof-test-serve-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, bytes, size), size);
    return fd;
}

static struct compressed page, script;
static struct serve_asset assets[2];

/* With what else the next server is started. */
static const char *wanted_directory, *wanted_origin;

static struct server *start_with(int profile_fd)
{
    page = compress_text(page_text);
    script = compress_text(script_text);
    assets[0] = (struct serve_asset){"", "text/html; charset=utf-8", "\"p1\"", page.bytes, page.size};
    assets[1] = (struct serve_asset){"app.js", "text/javascript; charset=utf-8", "\"s1\"", script.bytes, script.size};
    struct serve_options options = {
        .assets = assets, .asset_count = 2, .port = 0, .directory = wanted_directory, .page_origin = wanted_origin};
    struct error err = {0};
    struct server *server;
    if (serve_start(&server, &options, profile_fd, &err))
        fail_msg("%s", err.text);
    return server;
}

static int start_server(void **state)
{
    struct compressed saved = compress_text(profile_text);
    *state = start_with(file_with(saved.bytes, saved.size));
    return 0;
}

static int stop_server(void **state)
{
    serve_stop(*state);
    return 0;
}

/* ---- a small client ---- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static unsigned port_of(const struct server *server)
{
    unsigned port = 0;
    assert_int_equal(sscanf(serve_get_url(server), "http://127.0.0.1:%u/", &port), 1);
    return port;
}

/* "/TOKEN/" */
static const char *base_of(const struct server *server)
{
    return strchr(serve_get_url(server) + strlen("http://"), '/');
}

static int connect_to(const struct server *server)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port_of(server))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    struct timeval limit = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return fd;
}

struct answer {
    int status;
    char head[4096]; /* status line and headers */
    unsigned char body[65536];
    size_t body_size;
};

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Everything until the server closes, taken apart at the empty line. */
static struct answer receive_answer(int fd)
{
    static unsigned char all[sizeof(((struct answer *)0)->body)];
    size_t size = 0;
    for (ssize_t got; size < sizeof(all) && (got = recv(fd, all + size, sizeof(all) - size, 0)) > 0;)
        size += (size_t)got;
    close(fd);
    struct answer answer = {0};
    const unsigned char *end = memmem(all, size, "\r\n\r\n", 4);
    assert_non_null(end);
    size_t head_size = (size_t)(end - all);
    assert_true(head_size < sizeof(answer.head));
    memcpy(answer.head, all, head_size);
    answer.body_size = size - head_size - 4;
    memcpy(answer.body, end + 4, answer.body_size);
    assert_int_equal(sscanf(answer.head, "HTTP/1.1 %d", &answer.status), 1);
    return answer;
}

/* Sends a request with the right Host and these headers (each with its line end). */
static struct answer ask_with_host(const struct server *server, const char *host, const char *method, const char *path,
                                   const char *headers)
{
    char request[2048];
    snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n", method, path, host, headers);
    int fd = connect_to(server);
    send_text(fd, request);
    return receive_answer(fd);
}

static struct answer ask(const struct server *server, const char *method, const char *name, const char *headers)
{
    char host[64], path[256];
    snprintf(host, sizeof(host), "Host: 127.0.0.1:%u\r\n", port_of(server));
    snprintf(path, sizeof(path), "%s%s", base_of(server), name);
    return ask_with_host(server, host, method, path, headers);
}

static void assert_header(const struct answer *answer, const char *line)
{
    if (!strcasestr(answer->head, line))
        fail_msg("no %s in:\n%s", line, answer->head);
}

/* An uncompressed body of unknown length comes in chunks: "size in hex, bytes" each. */
static void assert_chunked_text(const struct answer *answer, const char *text)
{
    assert_header(answer, "\r\nTransfer-Encoding: chunked");
    char chunk[256];
    snprintf(chunk, sizeof(chunk), "%zx\r\n%s\r\n0\r\n", strlen(text), text);
    assert_true(answer->body_size > strlen(chunk));
    assert_memory_equal(answer->body, chunk, strlen(chunk));
}

/* ---- what is answered ---- */

static void test_page_is_sent_compressed_to_clients_that_take_it(void **state)
{
    struct answer answer = ask(*state, "GET", "", "Accept-Encoding: gzip, deflate, br\r\n");
    assert_int_equal(answer.status, 200);
    assert_header(&answer, "\r\nContent-Encoding: gzip");
    assert_header(&answer, "\r\nContent-Type: text/html; charset=utf-8");
    assert_int_equal(answer.body_size, page.size);
    assert_memory_equal(answer.body, page.bytes, page.size);
}

static void test_page_is_uncompressed_for_clients_that_do_not_take_gzip(void **state)
{
    struct answer answer = ask(*state, "GET", "", "");
    assert_int_equal(answer.status, 200);
    assert_null(strcasestr(answer.head, "Content-Encoding"));
    assert_chunked_text(&answer, page_text);
}

static void test_profile_is_sent_uncompressed_to_every_client(void **state)
{
    const char *clients[] = {"", "Accept-Encoding: gzip;q=0\r\n", "Accept-Encoding: gzip, deflate, br\r\n"};
    for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
        struct answer answer = ask(*state, "GET", "profile.json", clients[i]);
        assert_int_equal(answer.status, 200);
        assert_null(strcasestr(answer.head, "Content-Encoding"));
        assert_header(&answer, "\r\nContent-Type: application/json");
        assert_header(&answer, "\r\nX-Uncompressed-Length: 23");
        assert_chunked_text(&answer, profile_text);
    }
}

static void test_saved_profile_is_sent_as_it_is(void **state)
{
    struct compressed saved = compress_text(profile_text);
    struct answer answer = ask(*state, "GET", "saved", "");
    assert_int_equal(answer.status, 200);
    assert_null(strcasestr(answer.head, "Content-Encoding"));
    assert_header(&answer, "\r\nContent-Type: application/gzip");
    assert_int_equal(answer.body_size, saved.size);
    assert_memory_equal(answer.body, saved.bytes, saved.size);
}

static void test_profile_of_several_gzip_members_is_uncompressed_whole(void **state)
{
    (void)state;
    struct compressed first = compress_text("{\"meta\":"), second = compress_text("{}}");
    int fd = file_with(first.bytes, first.size);
    assert_int_equal(write(fd, second.bytes, second.size), second.size);
    struct server *server = start_with(fd);
    struct answer answer = ask(server, "GET", "profile.json", "");
    serve_stop(server);
    assert_int_equal(answer.status, 200);
    assert_non_null(memmem(answer.body, answer.body_size, "{\"meta\":", 8));
    assert_non_null(memmem(answer.body, answer.body_size, "{}}", 3));
    assert_non_null(memmem(answer.body, answer.body_size, "\r\n0\r\n", 5));
}

static void test_truncated_gzip_profile_ends_the_answer_unfinished(void **state)
{
    (void)state;
    struct compressed saved = compress_text(profile_text);
    struct server *server = start_with(file_with(saved.bytes, saved.size - 10));
    struct answer answer = ask(server, "GET", "profile.json", "");
    serve_stop(server);
    assert_null(memmem(answer.body, answer.body_size, "0\r\n\r\n", 5));
}

static void test_plain_profile_is_sent_plain(void **state)
{
    (void)state;
    struct server *server = start_with(file_with(profile_text, strlen(profile_text)));
    struct answer answer = ask(server, "GET", "profile.json", "Accept-Encoding: gzip\r\n");
    serve_stop(server);
    assert_int_equal(answer.status, 200);
    assert_null(strcasestr(answer.head, "Content-Encoding"));
    assert_int_equal(answer.body_size, strlen(profile_text));
    assert_memory_equal(answer.body, profile_text, strlen(profile_text));
}

static void test_head_sends_headers_only(void **state)
{
    struct answer answer = ask(*state, "HEAD", "app.js", "Accept-Encoding: gzip\r\n");
    assert_int_equal(answer.status, 200);
    assert_header(&answer, "\r\nContent-Type: text/javascript");
    assert_int_equal(answer.body_size, 0);
}

static void test_known_asset_is_not_sent_again(void **state)
{
    struct answer answer = ask(*state, "GET", "app.js", "If-None-Match: \"s1\"\r\n");
    assert_int_equal(answer.status, 304);
    assert_int_equal(answer.body_size, 0);
    answer = ask(*state, "GET", "app.js", "If-None-Match: \"older\"\r\nAccept-Encoding: gzip\r\n");
    assert_int_equal(answer.status, 200);
}

static void test_address_without_its_last_slash_is_redirected(void **state)
{
    const struct server *server = *state;
    char path[128], host[64], location[160];
    snprintf(path, sizeof(path), "%s", base_of(server));
    path[strlen(path) - 1] = '\0';
    snprintf(host, sizeof(host), "Host: localhost:%u\r\n", port_of(server));
    snprintf(location, sizeof(location), "\r\nLocation: %s\r\n", base_of(server));
    struct answer answer = ask_with_host(server, host, "GET", path, "");
    assert_int_equal(answer.status, 308);
    assert_header(&answer, location);
}

static void test_every_answer_is_restricted(void **state)
{
    const char *names[] = {"", "app.js", "profile.json", "missing"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct answer answer = ask(*state, "GET", names[i], "Accept-Encoding: gzip\r\n");
        assert_header(&answer, "\r\nContent-Security-Policy: default-src 'none'; ");
        assert_header(&answer, "frame-ancestors 'none'");
        assert_header(&answer, "\r\nX-Content-Type-Options: nosniff");
        assert_header(&answer, "\r\nReferrer-Policy: no-referrer");
        assert_null(strcasestr(answer.head, "Access-Control"));
    }
}

static void test_connection_is_kept_for_the_next_request(void **state)
{
    const struct server *server = *state;
    char request[1024], one[256];
    snprintf(one, sizeof(one), "GET %sapp.js HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAccept-Encoding: gzip\r\n",
             base_of(server), port_of(server));
    snprintf(request, sizeof(request), "%s\r\n%sConnection: close\r\n\r\n", one, one);
    int fd = connect_to(server);
    send_text(fd, request);
    struct answer answer = receive_answer(fd);
    assert_int_equal(answer.status, 200);
    assert_non_null(memmem(answer.body, answer.body_size, "HTTP/1.1 200", 12));
}

/* ---- what is refused ---- */

static void test_paths_without_the_token_are_not_found(void **state)
{
    const struct server *server = *state;
    char host[64], almost[128];
    snprintf(host, sizeof(host), "Host: 127.0.0.1:%u\r\n", port_of(server));
    snprintf(almost, sizeof(almost), "%sprofile.json", base_of(server));
    almost[5] = almost[5] == 'x' ? 'y' : 'x';
    const char *paths[] = {"/", "/profile.json", "/app.js", "//profile.json", "/../profile.json", almost};
    char first[4096] = "";
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct answer answer = ask_with_host(server, host, "GET", paths[i], "");
        assert_int_equal(answer.status, 404);
        char *date = strcasestr(answer.head, "\r\nDate:");
        if (date)
            memset(date + 2, '-', strcspn(date + 2, "\r"));
        if (i == 0)
            memcpy(first, answer.head, sizeof(first));
        assert_string_equal(answer.head, first);
    }
}

static void test_a_browser_with_a_wrong_token_gets_a_page_that_tells_nothing(void **state)
{
    const struct server *server = *state;
    char host[64], almost[128];
    snprintf(host, sizeof(host), "Host: 127.0.0.1:%u\r\n", port_of(server));
    snprintf(almost, sizeof(almost), "%s?range=1", base_of(server));
    almost[5] = almost[5] == 'x' ? 'y' : 'x';
    const char *paths[] = {"/", "/0123456789abcdefghjkmnpq/?range=1", almost};
    unsigned char first[sizeof(((struct answer *)0)->body)];
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct answer answer = ask_with_host(server, host, "GET", paths[i], "Accept: text/html,*/*;q=0.8\r\n");
        assert_int_equal(answer.status, 404);
        assert_header(&answer, "\r\nContent-Type: text/html; charset=utf-8");
        assert_header(&answer,
                      "\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:");
        assert_header(&answer, "\r\nReferrer-Policy: no-referrer");
        assert_header(&answer, "\r\nCache-Control: no-store");
        assert_non_null(memmem(answer.body, answer.body_size, "<code>prof load FILE</code>", 27));
        if (i == 0)
            memcpy(first, answer.body, sizeof(first));
        assert_memory_equal(answer.body, first, sizeof(first));
    }
    char foreign[128];
    snprintf(foreign, sizeof(foreign), "%sOrigin: https://attacker.example\r\n", host);
    assert_int_equal(ask_with_host(server, foreign, "GET", "/", "Accept: text/html\r\n").status, 403);
    assert_int_equal(ask_with_host(server, "Host: a.example\r\n", "GET", "/", "Accept: text/html\r\n").status, 403);
}

static void test_paths_outside_the_table_are_not_found(void **state)
{
    const char *names[] = {"missing",   "app.js/", "../../etc/passwd", "%2e%2e/profile.json",
                           "app.js%00", "/",       "//etc/passwd"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct answer answer = ask(*state, "GET", names[i], "");
        if (strcmp(names[i], "app.js%00") != 0)
            assert_int_equal(answer.status, 404);
    }
}

static void test_other_hosts_are_refused(void **state)
{
    const struct server *server = *state;
    char other_port[64];
    snprintf(other_port, sizeof(other_port), "Host: 127.0.0.1:%u\r\n", port_of(server) ^ 1u);
    const char *hosts[] = {"Host: attacker.example\r\n", "Host: 127.0.0.1\r\n", "Host: localhost\r\n", other_port};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        struct answer answer = ask_with_host(server, hosts[i], "GET", base_of(server), "");
        assert_int_equal(answer.status, 403);
    }
    assert_int_equal(ask_with_host(server, "", "GET", base_of(server), "").status / 100, 4);
}

static void test_hosts_that_only_look_like_the_own_are_refused(void **state)
{
    static const char *const hosts[] = {"[::1]",      "localhost.",       "127.0.0.1.",         "127.1",
                                        "127.0.0.01", "attacker.example", "localhost.attacker", "user@127.0.0.1"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        char header[64];
        snprintf(header, sizeof(header), "Host: %s:%u\r\n", hosts[i], port_of(*state));
        assert_int_equal(ask_with_host(*state, header, "GET", base_of(*state), "").status, 403);
    }
}

static void test_host_needs_no_port_80(void **state)
{
    (void)state;
    struct own_address own;
    struct error err;
    assert_int_equal(own_address_init(&own, 80, NULL, &err), 0);
    assert_true(own_address_accepts_host(&own, "127.0.0.1"));
    assert_true(own_address_accepts_host(&own, "localhost:80"));
    assert_true(own_address_accepts_origin(&own, "http://127.0.0.1"));
    assert_false(own_address_accepts_host(&own, "127.0.0.1:8080"));
    assert_false(own_address_accepts_host(&own, "127.0.0.1:"));
    assert_int_equal(own_address_init(&own, 3000, NULL, &err), 0);
    assert_false(own_address_accepts_host(&own, "127.0.0.1"));
    assert_false(own_address_accepts_host(&own, "127.0.0.1:80"));
}

static void test_a_header_that_names_the_server_twice_is_refused(void **state)
{
    char own[128];
    snprintf(own, sizeof(own), "Host: 127.0.0.1:%u\r\n", port_of(*state));
    assert_int_equal(ask(*state, "GET", "", own).status, 400);
    assert_int_equal(ask(*state, "GET", "", "Host: attacker.example\r\n").status, 400);
    assert_int_equal(ask(*state, "GET", "", "hOST: attacker.example\r\n").status, 400);
    snprintf(own, sizeof(own), "Origin: http://127.0.0.1:%u\r\nOrigin: https://attacker.example\r\n", port_of(*state));
    assert_int_equal(ask(*state, "GET", "", own).status, 400);
}

static void test_localhost_is_an_own_host(void **state)
{
    char host[64];
    snprintf(host, sizeof(host), "Host: localhost:%u\r\n", port_of(*state));
    assert_int_equal(ask_with_host(*state, host, "GET", base_of(*state), "").status, 200);
}

static void test_requests_of_other_pages_are_refused(void **state)
{
    assert_int_equal(ask(*state, "GET", "profile.json", "Origin: https://attacker.example\r\n").status, 403);
    assert_int_equal(ask(*state, "POST", "profile.json", "Origin: null\r\nContent-Length: 0\r\n").status, 403);
    char own[64];
    snprintf(own, sizeof(own), "Origin: http://127.0.0.1:%u\r\n", port_of(*state));
    assert_int_equal(ask(*state, "GET", "profile.json", own).status, 200);
}

static void test_other_methods_are_refused(void **state)
{
    const char *methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        struct answer answer = ask(*state, methods[i], "profile.json", "Content-Length: 0\r\n");
        assert_int_equal(answer.status, 405);
        assert_header(&answer, "\r\nAllow: GET, HEAD");
    }
}

static void test_get_with_a_body_is_answered(void **state)
{
    static const char *const bodies[] = {"Content-Length: 5\r\n\r\nhello",
                                         "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"};
    static const char *const methods[] = {"GET", "HEAD"};
    for (size_t i = 0; i < 2 * sizeof(bodies) / sizeof(*bodies); i++) {
        char request[512];
        snprintf(request, sizeof(request), "%s %sapp.js HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n%s",
                 methods[i % 2], base_of(*state), port_of(*state), bodies[i / 2]);
        int fd = connect_to(*state);
        send_text(fd, request);
        assert_int_equal(receive_answer(fd).status, 200);
    }
}

static void test_a_client_that_expects_to_be_asked_for_its_body_is_asked(void **state)
{
    char request[256], got[64] = "";
    snprintf(request, sizeof(request),
             "POST %ssource/v1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\nExpect: 100-continue\r\n"
             "Content-Length: 2\r\n\r\n",
             base_of(*state), port_of(*state));
    int fd = connect_to(*state);
    send_text(fd, request);
    assert_int_equal(recv(fd, got, strlen("HTTP/1.1 100 Continue\r\n\r\n"), MSG_WAITALL), 25);
    assert_memory_equal(got, "HTTP/1.1 100", 12);
    send_text(fd, "{}");
    assert_int_equal(receive_answer(fd).status, 200);
}

static void test_body_that_nobody_wants_is_not_read(void **state)
{
    struct answer answer = ask(*state, "POST", "profile.json", "Content-Length: 99999999999\r\n");
    assert_int_equal(answer.status, 405);
}

static void test_headers_without_end_are_refused(void **state)
{
    static char headers[60000];
    memcpy(headers, "X-Long: ", 8);
    memset(headers + 8, 'x', sizeof(headers) - 9);
    const struct server *server = *state;
    int fd = connect_to(server);
    char line[256];
    snprintf(line, sizeof(line), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", base_of(server), port_of(server));
    send_text(fd, line);
    (void)send(fd, headers, sizeof(headers) - 1, MSG_NOSIGNAL);
    char got[64] = "";
    ssize_t size = recv(fd, got, sizeof(got) - 1, 0);
    close(fd);
    if (size > 0) /* or the connection was reset */
        assert_non_null(strstr(got, "HTTP/1.1 4"));
    assert_int_equal(ask(server, "GET", "", "").status, 200);
}

/* A server that waits for the rest of some of them, for a minute, answers others meanwhile. */
static void test_nonsense_is_no_harm(void **state)
{
    const char *texts[] = {"\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02", "GET / HTTP/9.9\r\n\r\n",
                           "GET /%zz%%% HTTP/1.1\r\nHost: \r\n\r\n"};
    enum { COUNT = sizeof(texts) / sizeof(*texts) };
    int clients[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        clients[i] = connect_to(*state);
        send_text(clients[i], texts[i]);
        shutdown(clients[i], SHUT_WR);
    }
    for (int round = 0; round < 3; round++)
        assert_int_equal(ask(*state, "GET", "", "").status, 200);
    for (size_t i = 0; i < COUNT; i++) {
        char got[512] = "";
        if (recv(clients[i], got, sizeof(got) - 1, MSG_DONTWAIT) > 0)
            assert_true(strncmp(got, "HTTP/1.1 4", 10) == 0 || strncmp(got, "HTTP/1.1 505", 12) == 0);
        close(clients[i]);
    }
    assert_int_equal(ask(*state, "GET", "", "").status, 200);
}

/* ---- strangers: others who can connect, but have not been told the address ---- */

enum { STRANGERS = 200 };

static void connect_strangers(const struct server *server, int *strangers, const char *text)
{
    for (size_t i = 0; i < STRANGERS; i++) {
        strangers[i] = connect_to(server);
        (void)send(strangers[i], text, strlen(text), MSG_NOSIGNAL); /* it may be closed already */
    }
}

static void disconnect_strangers(const int *strangers)
{
    for (size_t i = 0; i < STRANGERS; i++)
        close(strangers[i]);
}

static void test_idle_strangers_do_not_keep_others_out(void **state)
{
    static const char *const texts[] = {"", "GET / HTTP/1.1\r\nHost: 127", "POST /x HTTP/1.1\r\nContent-Length: 9\r\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        int strangers[STRANGERS];
        connect_strangers(*state, strangers, texts[i]);
        double before = seconds_now();
        for (int round = 0; round < 3; round++)
            assert_int_equal(ask(*state, "GET", "app.js", "").status, 200);
        assert_true(seconds_now() - before < NEWCOMER_SECONDS); /* nobody waited until strangers were dropped */
        disconnect_strangers(strangers);
    }
}

static void test_strangers_do_not_end_connections_that_showed_the_token(void **state)
{
    char request[256], got[4096];
    snprintf(request, sizeof(request), "HEAD %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", base_of(*state),
             port_of(*state));
    int kept = connect_to(*state), strangers[STRANGERS];
    send_text(kept, request);
    assert_true(recv(kept, got, sizeof(got), 0) > 0);
    connect_strangers(*state, strangers, "");
    send_text(kept, request);
    assert_true(recv(kept, got, sizeof(got), 0) > 0);
    disconnect_strangers(strangers);
    close(kept);
}

static void test_a_stranger_is_dropped_after_seconds(void **state)
{
    int stranger = connect_to(*state); /* which waits for 20 seconds at most */
    char got[64];
    double before = seconds_now();
    send_text(stranger, "GET / HTTP/1.1\r\nHo");
    assert_true(recv(stranger, got, sizeof(got), 0) >= 0);
    assert_true(seconds_now() - before < 3 * NEWCOMER_SECONDS);
    close(stranger);
}

static void test_a_wrong_token_ends_the_connection(void **state)
{
    char request[256];
    snprintf(request, sizeof(request), "GET /x HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", port_of(*state));
    int stranger = connect_to(*state);
    send_text(stranger, request);
    assert_int_equal(receive_answer(stranger).status, 404); /* which reads until the server closes */
}

/* ---- requests with a body: tests/e2e/test_symbol_api asks for symbols ---- */

static void test_symbols_of_what_is_no_profile_are_an_error(void **state)
{
    struct answer answer = ask(*state, "POST", "symbolicate/v5", "Content-Length: 0\r\n");
    assert_int_equal(answer.status, 200);
    assert_header(&answer, "\r\nContent-Type: application/json");
    assert_header(&answer, "\r\nContent-Security-Policy: default-src 'none'; ");
    assert_memory_equal(answer.body, "{\"error\":\"", strlen("{\"error\":\""));
}

static void test_body_without_an_announced_end_is_not_read_for_ever(void **state)
{
    const struct server *server = *state;
    static char chunk[65536 + 16];
    char head[256];
    snprintf(head, sizeof(head),
             "POST %ssource/v1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nTransfer-Encoding: chunked\r\n\r\n", base_of(server),
             port_of(server));
    int header = snprintf(chunk, sizeof(chunk), "10000\r\n");
    memset(chunk + header, ' ', 65536);
    memcpy(chunk + header + 65536, "\r\n", 2);
    int fd = connect_to(server);
    send_text(fd, head);
    size_t sent = 0;
    while (sent < 2000 && send(fd, chunk, (size_t)header + 65536 + 2, MSG_NOSIGNAL) > 0)
        sent++;
    close(fd);
    assert_in_range(sent, 1024, 1999); /* 64 MiB were taken, and what the sockets hold */
    assert_int_equal(ask(server, "GET", "", "").status, 200);
}

/* A request that is worked on, one that waits and one that is half sent. */
static void test_stop_answers_or_drops_what_was_posted(void **state)
{
    (void)state;
    struct server *server = start_with(file_with("{}", 2));
    char request[256];
    snprintf(request, sizeof(request), "POST %ssource/v1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: 2\r\n\r\n{}",
             base_of(server), port_of(server));
    int clients[3];
    for (size_t i = 0; i < 3; i++) {
        clients[i] = connect_to(server);
        request[strlen(request) - (i == 2)] = '\0';
        send_text(clients[i], request);
    }
    serve_stop(server);
    for (size_t i = 0; i < 3; i++) {
        char got[64] = "";
        ssize_t size = recv(clients[i], got, sizeof(got) - 1, 0);
        assert_true(size <= 0 || strncmp(got, "HTTP/1.1 200", 12) == 0);
        close(clients[i]);
    }
}

/* ---- starting and stopping ---- */

static void test_each_server_has_its_own_token(void **state)
{
    struct server *other = start_with(file_with(profile_text, strlen(profile_text)));
    assert_int_equal(strlen(base_of(other)), 26);
    assert_string_not_equal(base_of(other), base_of(*state));
    serve_stop(other);
}

static void test_a_server_uses_the_token_and_the_port_that_it_is_given(void **state)
{
    struct server *first = start_with(file_with("{}", 2));
    uint16_t port = serve_get_port(first);
    assert_int_equal(port, port_of(first));
    serve_stop(first);
    struct serve_options options = {.token = "0123456789abcdefghjkmnpq", .first_choice = port};
    struct error err = {0};
    struct server *given, *other;
    assert_int_equal(serve_start(&given, &options, file_with("{}", 2), &err), 0);
    assert_int_equal(serve_get_port(given), port);
    assert_string_equal(base_of(given), "/0123456789abcdefghjkmnpq/");
    assert_int_equal(ask(given, "GET", "profile.json", "").status, 200);
    assert_int_equal(serve_start(&other, &options, file_with("{}", 2), &err), 0);
    assert_int_not_equal(serve_get_port(other), port); /* it is taken */
    serve_stop(other);
    serve_stop(given);
    (void)state;
}

static void test_taken_port_is_an_error_or_passed_over(void **state)
{
    struct error err = {0};
    struct serve_options options = {.port = (uint16_t)port_of(*state)};
    struct server *next;
    assert_int_equal(serve_start(&next, &options, file_with("{}", 2), &err), -EADDRINUSE);
    assert_null(next);
    assert_non_null(strstr(err.text, "is taken"));
    options.search_port = true;
    assert_int_equal(serve_start(&next, &options, file_with("{}", 2), &err), 0);
    assert_true(port_of(next) > port_of(*state));
    serve_stop(next);
}

static void test_directory_is_not_served(void **state)
{
    (void)state;
    struct error err = {0};
    struct serve_options options = {.port = 0};
    struct server *server;
    assert_int_equal(serve_start(&server, &options, open("/tmp", O_RDONLY), &err), -EINVAL);
    assert_non_null(strstr(err.text, "not a file"));
}

/* ---- other front-ends ---- */

static char directory_path[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory_path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int start_server_with_directory(void **state)
{
    char path[128];
    strcpy(directory_path, "/tmp/prof-front-end-XXXXXX");
    if (!mkdtemp(directory_path))
        return -1;
    write_file("index.html", "<title>other</title>");
    write_file(".hidden", "secret");
    snprintf(path, sizeof(path), "%s/assets", directory_path);
    mkdir(path, 0700);
    write_file("assets/app.js", "let x;");
    snprintf(path, sizeof(path), "%s/link.txt", directory_path);
    if (symlink("/etc/passwd", path) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/up", directory_path);
    if (symlink("..", path) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/pipe", directory_path);
    if (mkfifo(path, 0600) != 0)
        return -1;
    wanted_directory = directory_path;
    int result = start_server(state);
    wanted_directory = NULL;
    return result;
}

static int stop_server_with_directory(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", directory_path);
    return stop_server(state) + system(command);
}

static void test_files_of_another_front_end_are_served(void **state)
{
    struct answer page_answer = ask(*state, "GET", "", "");
    assert_int_equal(page_answer.status, 200);
    assert_memory_equal(page_answer.body, "<title>other</title>", 20);
    assert_non_null(strcasestr(page_answer.head, "content-type: text/html"));
    struct answer script_answer = ask(*state, "GET", "assets/app.js", "");
    assert_int_equal(script_answer.status, 200);
    assert_non_null(strcasestr(script_answer.head, "content-type: text/javascript"));
    assert_non_null(strcasestr(script_answer.head, "x-content-type-options: nosniff"));
    assert_int_equal(ask(*state, "GET", "profile.json", "").status, 200);
    assert_int_equal(ask(*state, "GET", "app.js", "").status, 404); /* of prof's own page */
}

static void test_nothing_outside_of_the_directory_is_served(void **state)
{
    static const char *const paths[] = {
        "../../../../etc/passwd",
        "assets/../index.html",
        "assets/../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "/etc/passwd",
        "//etc/passwd",
        "link.txt",
        "up/passwd",
        ".hidden",
        "assets",
        "assets/",
        "assets//app.js",
        "pipe",
        "./index.html",
        "index.html/",
        "index.html/x",
        "assets\\app.js",
        "none",
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct answer answer = ask(*state, "GET", paths[i], "");
        if (answer.status < 400)
            fail_msg("%s is served", paths[i]);
    }
}

static void test_a_directory_without_a_page_is_an_error(void **state)
{
    (void)state;
    struct error err = {0};
    struct serve_options options = {.directory = "/proc/self/fd"};
    struct server *server;
    assert_true(serve_start(&server, &options, file_with("{}", 2), &err) < 0);
    assert_non_null(strstr(err.text, "index.html"));
    options.directory = "/no such directory";
    assert_true(serve_start(&server, &options, file_with("{}", 2), &err) < 0);
    assert_non_null(strstr(err.text, "/no such directory"));
}

static int start_server_for_a_page(void **state)
{
    wanted_origin = SERVE_HOSTED_ORIGIN;
    int result = start_server(state);
    wanted_origin = NULL;
    return result;
}

#define FROM_HOSTED "Origin: " SERVE_HOSTED_ORIGIN "\r\n"

static void test_one_other_page_may_read_the_profile(void **state)
{
    struct answer answer = ask(*state, "GET", "profile.json", FROM_HOSTED);
    assert_int_equal(answer.status, 200);
    assert_non_null(strcasestr(answer.head, "access-control-allow-origin: " SERVE_HOSTED_ORIGIN "\r\n"));
    assert_null(strcasestr(ask(*state, "GET", "profile.json", "").head, "access-control-allow-origin"));
    static const char *const others[] = {
        "Origin: https://profiler.firefox.com.example.org\r\n",
        "Origin: http://profiler.firefox.com\r\n",
        "Origin: https://example.org\r\n",
        "Origin: null\r\n",
        "Origin: https://profiler.firefox.com:444\r\n",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        struct answer refused = ask(*state, "GET", "profile.json", others[i]);
        assert_true(refused.status == 403 || refused.status == 400);
    }
    assert_int_equal(ask(*state, "GET", "", FROM_HOSTED).status, 404); /* prof's own page is none of its */
    assert_int_equal(ask(*state, "GET", "app.js", FROM_HOSTED).status, 404);
}

static void test_the_other_page_may_ask_for_symbols(void **state)
{
    struct answer asked =
        ask(*state, "OPTIONS", "symbolicate/v5", FROM_HOSTED "Access-Control-Request-Method: POST\r\n");
    assert_int_equal(asked.status, 204);
    assert_non_null(strcasestr(asked.head, "access-control-allow-methods: POST"));
    assert_non_null(strcasestr(asked.head, "access-control-allow-headers: Content-Type"));
    assert_int_equal(ask(*state, "OPTIONS", "symbolicate/v5", "").status, 405);
    struct answer answer = ask(*state, "POST", "symbolicate/v5", FROM_HOSTED "Content-Length: 0\r\n");
    assert_non_null(strcasestr(answer.head, "access-control-allow-origin: " SERVE_HOSTED_ORIGIN "\r\n"));
}

static void test_no_other_page_is_answered_unless_it_is_wanted(void **state)
{
    assert_int_equal(ask(*state, "GET", "profile.json", FROM_HOSTED).status, 403);
}

/* A client that asked for 64 MiB and reads none of it, one in the middle of its request, and one that says nothing. */
static void test_stop_does_not_wait_for_clients(void **state)
{
    (void)state;
    int big = file_with("", 0);
    assert_int_equal(ftruncate(big, 64 << 20), 0);
    struct server *server = start_with(big);
    char request[256];
    snprintf(request, sizeof(request), "GET %sprofile.json HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", base_of(server),
             port_of(server));
    int stalled = connect_to(server), half = connect_to(server), silent = connect_to(server);
    send_text(stalled, request);
    send_text(half, "GET / HTTP/1.1\r\nHo");
    usleep(50000);
    double before = seconds_now();
    serve_stop(server);
    double took = seconds_now() - before;
    close(stalled);
    close(half);
    close(silent);
    assert_true(took < 10); /* silent clients are dropped after a minute */
}

static void test_stop_gives_back_port_and_descriptors(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    struct server *server = start_with(file_with("{}", 2));
    unsigned port = port_of(server);
    ask(server, "GET", "profile.json", "");
    serve_stop(server);
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
    struct error err = {0};
    struct serve_options options = {.port = (uint16_t)port};
    struct server *again;
    assert_int_equal(serve_start(&again, &options, file_with("{}", 2), &err), 0);
    serve_stop(again);
}

static void test_accept_encoding_is_read_as_the_standard_says(void **state)
{
    (void)state;
    const char *yes[] = {"gzip", "deflate, gzip;q=1.0, *;q=0.5", "GZIP", "*", "br,gzip", "gzip;q=0.001", " ,gzip "};
    const char *no[] = {"", "identity", "gzip;q=0", "gzip;q=0.000", "xgzip", "gzipped", "*;q=0", "gzip;q=0, *", ",,,"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
        assert_true(accept_encoding_has(yes[i], "gzip"));
    for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
        assert_false(accept_encoding_has(no[i], "gzip"));
    assert_false(accept_encoding_has(NULL, "gzip"));
}

int main(void)
{
    const struct CMUnitTest with_server[] = {
        cmocka_unit_test(test_page_is_sent_compressed_to_clients_that_take_it),
        cmocka_unit_test(test_page_is_uncompressed_for_clients_that_do_not_take_gzip),
        cmocka_unit_test(test_profile_is_sent_uncompressed_to_every_client),
        cmocka_unit_test(test_saved_profile_is_sent_as_it_is),
        cmocka_unit_test(test_profile_of_several_gzip_members_is_uncompressed_whole),
        cmocka_unit_test(test_truncated_gzip_profile_ends_the_answer_unfinished),
        cmocka_unit_test(test_plain_profile_is_sent_plain),
        cmocka_unit_test(test_head_sends_headers_only),
        cmocka_unit_test(test_known_asset_is_not_sent_again),
        cmocka_unit_test(test_address_without_its_last_slash_is_redirected),
        cmocka_unit_test(test_every_answer_is_restricted),
        cmocka_unit_test(test_connection_is_kept_for_the_next_request),
        cmocka_unit_test(test_paths_without_the_token_are_not_found),
        cmocka_unit_test(test_a_browser_with_a_wrong_token_gets_a_page_that_tells_nothing),
        cmocka_unit_test(test_paths_outside_the_table_are_not_found),
        cmocka_unit_test(test_other_hosts_are_refused),
        cmocka_unit_test(test_hosts_that_only_look_like_the_own_are_refused),
        cmocka_unit_test(test_host_needs_no_port_80),
        cmocka_unit_test(test_a_header_that_names_the_server_twice_is_refused),
        cmocka_unit_test(test_localhost_is_an_own_host),
        cmocka_unit_test(test_requests_of_other_pages_are_refused),
        cmocka_unit_test(test_other_methods_are_refused),
        cmocka_unit_test(test_get_with_a_body_is_answered),
        cmocka_unit_test(test_a_client_that_expects_to_be_asked_for_its_body_is_asked),
        cmocka_unit_test(test_body_that_nobody_wants_is_not_read),
        cmocka_unit_test(test_headers_without_end_are_refused),
        cmocka_unit_test(test_nonsense_is_no_harm),
        cmocka_unit_test(test_idle_strangers_do_not_keep_others_out),
        cmocka_unit_test(test_strangers_do_not_end_connections_that_showed_the_token),
        cmocka_unit_test(test_a_stranger_is_dropped_after_seconds),
        cmocka_unit_test(test_a_wrong_token_ends_the_connection),
        cmocka_unit_test(test_symbols_of_what_is_no_profile_are_an_error),
        cmocka_unit_test(test_body_without_an_announced_end_is_not_read_for_ever),
        cmocka_unit_test(test_stop_answers_or_drops_what_was_posted),
        cmocka_unit_test(test_each_server_has_its_own_token),
        cmocka_unit_test(test_a_server_uses_the_token_and_the_port_that_it_is_given),
        cmocka_unit_test(test_taken_port_is_an_error_or_passed_over),
        cmocka_unit_test(test_directory_is_not_served),
        cmocka_unit_test(test_stop_does_not_wait_for_clients),
        cmocka_unit_test(test_stop_gives_back_port_and_descriptors),
        cmocka_unit_test(test_no_other_page_is_answered_unless_it_is_wanted),
        cmocka_unit_test(test_accept_encoding_is_read_as_the_standard_says),
    };
    const struct CMUnitTest with_directory[] = {
        cmocka_unit_test(test_files_of_another_front_end_are_served),
        cmocka_unit_test(test_nothing_outside_of_the_directory_is_served),
        cmocka_unit_test(test_a_directory_without_a_page_is_an_error),
    };
    const struct CMUnitTest for_a_page[] = {
        cmocka_unit_test(test_one_other_page_may_read_the_profile),
        cmocka_unit_test(test_the_other_page_may_ask_for_symbols),
    };
    return cmocka_run_group_tests(with_server, start_server, stop_server) +
           cmocka_run_group_tests(with_directory, start_server_with_directory, stop_server_with_directory) +
           cmocka_run_group_tests(for_a_page, start_server_for_a_page, stop_server);
}

/* The parts of pushing: retry times, answers of servers, addresses, and the queue on disk. */
#include "export/protobuf_write.h"
#include "push/backoff.h"
#include "push/push_address.h"
#include "push/push_answer.h"
#include "push/push_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- waiting ---- */

static void test_the_wait_doubles_up_to_a_limit(void **state)
{
    (void)state;
    for (uint32_t failures = 1; failures < 40; failures++) {
        uint64_t wait = failures < 6 ? UINT64_C(1000) << (failures - 1) : BACKOFF_MOST_MS;
        for (uint64_t random = 0; random < 100000; random += 997) {
            uint64_t ms = backoff_get_ms(failures, 0, random * UINT64_C(0x9e3779b97f4a7c15));
            assert_in_range(ms, wait / 2, wait);
        }
        assert_int_equal(backoff_get_ms(failures, 0, 0), wait / 2);
        assert_int_equal(backoff_get_ms(failures, 0, wait / 2), wait);
    }
    assert_in_range(backoff_get_ms(UINT32_MAX, 0, 1), BACKOFF_MOST_MS / 2, BACKOFF_MOST_MS);
}

static void test_the_wait_is_never_shorter_than_the_server_asks_for(void **state)
{
    (void)state;
    assert_in_range(backoff_get_ms(1, 7, UINT64_MAX), 7000, 7500);
    assert_in_range(backoff_get_ms(9, 7, 12345), 15000, 30000);
    assert_in_range(backoff_get_ms(1, UINT64_MAX, 3), RETRY_AFTER_MOST * UINT64_C(1000),
                    RETRY_AFTER_MOST * UINT64_C(1001));
}

/* ---- answers ---- */

static struct push_answer answer_of(long status, const char *type, const void *body, size_t size)
{
    struct push_answer answer;
    push_answer_read(&answer, status, type, body, size);
    return answer;
}

static void test_what_is_tried_again_is_what_otlp_says(void **state)
{
    static const long later[] = {429, 502, 503, 504}, refused[] = {400, 408, 413, 415, 422, 500, 501, 505, 100},
                      barred[] = {301, 302, 307, 308, 401, 403, 404, 405, 407}, taken[] = {200, 202, 204};
    (void)state;
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
        assert_int_equal(answer_of(later[i], "", NULL, 0).outcome, PUSH_LATER);
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_int_equal(answer_of(refused[i], "", NULL, 0).outcome, PUSH_REFUSED);
    for (size_t i = 0; i < sizeof(barred) / sizeof(*barred); i++)
        assert_int_equal(answer_of(barred[i], "", NULL, 0).outcome, PUSH_BARRED);
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
        assert_int_equal(answer_of(taken[i], "", NULL, 0).outcome, PUSH_TAKEN);
}

static void test_partial_success_says_how_many_and_why(void **state)
{
    struct protobuf_writer writer = {0};
    (void)state;
    size_t partial = protobuf_open(&writer, 1);
    protobuf_write_signed(&writer, 1, 12);
    protobuf_write_text(&writer, 2, "too old");
    protobuf_close(&writer, partial);
    struct push_answer answer = answer_of(200, "application/x-protobuf", writer.bytes.data, writer.bytes.length);
    assert_int_equal(answer.outcome, PUSH_TAKEN);
    assert_int_equal(answer.rejected, 12);
    assert_string_equal(answer.sentence, "too old");
    for (size_t size = 0; size < writer.bytes.length; size++)
        assert_int_equal(answer_of(200, "application/x-protobuf", writer.bytes.data, size).outcome, PUSH_TAKEN);
    array_free(&writer.bytes);

    partial = protobuf_open(&writer, 1);
    protobuf_write_signed(&writer, 1, -5);
    protobuf_close(&writer, partial);
    assert_int_equal(answer_of(200, "application/x-protobuf", writer.bytes.data, writer.bytes.length).rejected, 0);
    array_free(&writer.bytes);
}

static void test_the_sentence_is_one_line_that_fits(void **state)
{
    static const char json[] =
        "{\"code\":13,\"details\":[{\"message\":\"inner\"}],\"message\":\"outer \\u001b[0m\\nmore\"}";
    char body[2000];
    (void)state;
    assert_string_equal(answer_of(500, "application/json; charset=utf-8", json, strlen(json)).sentence, "outer ?[0m");
    assert_string_equal(answer_of(500, "application/json", "{\"message\":", 11).sentence, "");
    assert_string_equal(answer_of(502, "text/plain", "\r\n  upstream is gone \r\nx", 24).sentence, "upstream is gone");
    assert_string_equal(answer_of(502, "text/html", "<html>", 6).sentence, "");
    memset(body, 'x', sizeof(body));
    for (size_t i = 0; i + 1 < sizeof(body); i += 2)
        memcpy(body + i, "\xc3\xa4", 2);
    struct push_answer answer = answer_of(400, "text/plain", body, sizeof(body));
    assert_int_equal(strlen(answer.sentence), PUSH_SENTENCE_MAX - 2); /* whole characters */
    assert_string_equal(answer_of(400, "text/plain", "\xff\xfe.", 3).sentence, "?"
                                                                               "?.");
}

/* ---- addresses ---- */

static void assert_address(const char *given, bool as_it_is, const char *wanted)
{
    char url[PUSH_URL_MAX];
    struct error err = {""};
    if (make_push_address(given, as_it_is, url, &err))
        fail_msg("%s: %s", given, err.text);
    assert_string_equal(url, wanted);
}

static void test_an_address_gets_the_path_of_profiles(void **state)
{
    (void)state;
    assert_address("http://host:4318", false, "http://host:4318/v1development/profiles");
    assert_address("HTTPS://host/", false, "HTTPS://host/v1development/profiles");
    assert_address("http://[::1]:4318/otlp//", false, "http://[::1]:4318/otlp/v1development/profiles");
    assert_address("http://host/v1development/profiles", false, "http://host/v1development/profiles");
    assert_address("http://host/v1development/profiles/", false, "http://host/v1development/profiles");
    assert_address("http://host/x?key=a/b", false, "http://host/x/v1development/profiles?key=a/b");
    assert_address("http://host?key=1", false, "http://host/v1development/profiles?key=1");
    assert_address("http://host", true, "http://host/");
    assert_address("http://host/mine/", true, "http://host/mine/");
}

static void test_what_is_no_address_is_refused(void **state)
{
    static const char *const bad[] = {"",           "host",         "host:4318",       "ftp://host",      "http://",
                                      "http:///x",  "http://a b",   "http://a\nb",     "http://a#b",      "file:///etc",
                                      "http://u@h", "http://u:p@h", "https://u:p@h/x", "http://h\xc3\xa4"};
    char url[PUSH_URL_MAX], longer[PUSH_URL_MAX + 16] = "http://";
    struct error err;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_not_equal(make_push_address(bad[i], false, url, &err), 0);
    memset(longer + strlen("http://"), 'a', sizeof(longer) - strlen("http://") - 1);
    assert_int_not_equal(make_push_address(longer, false, url, &err), 0);
    assert_int_equal(measure_url_without_query("http://h/x?secret"), (int)strlen("http://h/x"));
    assert_true(push_address_is_of_grpc("http://host:4317/v1development/profiles"));
    assert_false(push_address_is_of_grpc("http://host:4318/:4317"));
}

static int take_pair(void *context, const char *key, const char *value, struct error *err)
{
    char *text = context;
    (void)err;
    snprintf(text + strlen(text), 200 - strlen(text), "[%s|%s]", key, value);
    return 0;
}

static void test_lists_of_the_environment_are_decoded(void **state)
{
    char text[200] = "";
    struct error err = {""};
    (void)state;
    assert_int_equal(push_list_split(" a = 1 ,,b=x%2Cy%20z%3d,c=%zz%0,d=e=f%00,", take_pair, text, &err), 0);
    assert_string_equal(text, "[a|1][b|x,y z=][c|%zz%0][d|e=f%00]");
    assert_int_not_equal(push_list_split("a=1,secret", take_pair, text, &err), 0);
    assert_null(strstr(err.text, "secret"));
    assert_int_not_equal(push_list_split("=x", take_pair, text, &err), 0);
}

static void test_headers_are_one_line_and_not_those_of_prof(void **state)
{
    struct error err = {""};
    (void)state;
    assert_int_equal(push_header_check("Authorization: Bearer x", &err), 0);
    assert_int_equal(push_header_check("X-Empty:", &err), 0);
    assert_int_not_equal(push_header_check("Authorization Bearer secret", &err), 0);
    assert_null(strstr(err.text, "secret"));
    assert_int_not_equal(push_header_check("X: 1\r\nY: 2", &err), 0);
    assert_int_not_equal(push_header_check(": x", &err), 0);
    assert_int_not_equal(push_header_check("content-TYPE: x", &err), 0);
}

/* ---- the queue ---- */

static char directory[64];

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/test_push_XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command);
}

static struct push_queue *open_queue(uint64_t limit)
{
    struct push_queue *queue;
    struct error err = {""};
    char path[128];
    snprintf(path, sizeof(path), "%s/queue", directory);
    if (push_queue_open(&queue, path, limit, &err))
        fail_msg("%s", err.text);
    return queue;
}

static uint32_t add(struct push_queue *queue, const char *url, const char *text)
{
    uint32_t dropped;
    struct error err = {""};
    if (push_queue_add(queue, url, text, strlen(text), &dropped, &err))
        fail_msg("%s", err.text);
    return dropped;
}

static void assert_next(struct push_queue *queue, const char *url, const char *wanted, bool is_done)
{
    struct push_item item;
    struct error err = {""};
    assert_int_equal(push_queue_take(queue, url, "", &item, &err), wanted != NULL);
    if (!wanted)
        return;
    assert_int_equal(item.size, strlen(wanted));
    assert_memory_equal(item.bytes, wanted, item.size);
    push_queue_return(queue, &item, is_done);
}

static void test_profiles_come_out_in_the_order_in_which_they_went_in(void **state)
{
    struct push_queue *queue = open_queue(1 << 20);
    (void)state;
    add(queue, "http://a/", "one");
    add(queue, "http://b/", "other\nlines");
    add(queue, "http://a/", "two");
    push_queue_close(queue);
    queue = open_queue(1 << 20); /* by another process, later */
    assert_next(queue, "http://a/", "one", false);
    assert_next(queue, "http://a/", "one", true);
    assert_next(queue, "http://a/", "two", true);
    assert_next(queue, "http://a/", NULL, false);
    assert_next(queue, "http://b/", "other\nlines", true);
    assert_next(queue, "http://", NULL, false);
    push_queue_close(queue);
}

static void test_what_one_has_taken_the_other_does_not_get(void **state)
{
    struct push_queue *mine = open_queue(1 << 20), *other = open_queue(1 << 20);
    struct push_item item;
    struct error err;
    (void)state;
    add(mine, "http://a/", "one");
    add(mine, "http://a/", "two");
    assert_int_equal(push_queue_take(mine, "http://a/", "", &item, &err), 1);
    assert_next(other, "http://a/", "two", false);
    push_queue_return(mine, &item, false);
    assert_next(other, "http://a/", "one", true);
    push_queue_close(mine);
    push_queue_close(other);
}

static void test_the_oldest_makes_room(void **state)
{
    struct push_queue *queue = open_queue(170);
    char text[101] = "";
    uint32_t dropped;
    struct error err = {""};
    (void)state;
    memset(text, 'x', 100);
    assert_int_equal(add(queue, "http://a/", "small"), 0);
    assert_int_equal(add(queue, "http://a/", "small too"), 0);
    assert_int_equal(add(queue, "http://a/", text), 1);
    assert_next(queue, "http://a/", "small too", true);
    assert_next(queue, "http://a/", text, true);
    add(queue, "http://a/", "small");
    char large[300] = "";
    assert_int_equal(push_queue_add(queue, "http://a/", large, sizeof(large), &dropped, &err), -E2BIG);
    assert_int_equal(dropped, 0);
    assert_next(queue, "http://a/", "small", true);
    push_queue_close(queue);
}

static void test_files_of_others_are_passed_over(void **state)
{
    struct push_queue *queue = open_queue(1 << 20);
    static const char *const files[][2] = {{"00000000000000000001-1-00000.otlp.gz", "no head"},
                                           {"00000000000000000002-1-00000.otlp.gz", ""},
                                           {"00000000000000000003-1-00000.otlp.gz", "prof-push 2 http://a/\nx"},
                                           {".new-4-00000000000000000004-1-00000.otlp.gz", "prof-push 1 http://a/\nx"},
                                           {"notes.txt", "prof-push 1 http://a/\nx"}};
    struct push_waiting waiting;
    struct error err;
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char path[200];
        snprintf(path, sizeof(path), "%s/queue/%s", directory, files[i][0]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(files[i][1], file);
        fclose(file);
    }
    assert_next(queue, "http://a/", NULL, false);
    add(queue, "http://b/?secret", "mine");
    assert_int_equal(push_queue_count(queue, "http://a/", &waiting, &err), 0);
    assert_int_equal(waiting.count, 0);
    assert_int_equal(waiting.others, 1);
    assert_string_equal(waiting.other, "http://b/?secret");
    push_queue_close(queue);
}

static void test_the_queue_is_of_this_user_alone(void **state)
{
    char path[128];
    struct stat info;
    struct push_queue *queue = open_queue(1 << 20);
    struct error err;
    (void)state;
    push_queue_close(queue);
    snprintf(path, sizeof(path), "%s/queue", directory);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    chmod(path, 0777);
    assert_int_equal(push_queue_open(&queue, path, 1, &err), -EPERM);
    assert_null(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_wait_doubles_up_to_a_limit),
        cmocka_unit_test(test_the_wait_is_never_shorter_than_the_server_asks_for),
        cmocka_unit_test(test_what_is_tried_again_is_what_otlp_says),
        cmocka_unit_test(test_partial_success_says_how_many_and_why),
        cmocka_unit_test(test_the_sentence_is_one_line_that_fits),
        cmocka_unit_test(test_an_address_gets_the_path_of_profiles),
        cmocka_unit_test(test_what_is_no_address_is_refused),
        cmocka_unit_test(test_lists_of_the_environment_are_decoded),
        cmocka_unit_test(test_headers_are_one_line_and_not_those_of_prof),
        cmocka_unit_test_setup_teardown(test_profiles_come_out_in_the_order_in_which_they_went_in, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_what_one_has_taken_the_other_does_not_get, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_the_oldest_makes_room, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_files_of_others_are_passed_over, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_the_queue_is_of_this_user_alone, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

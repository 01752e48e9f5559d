/* The code at an address at a given time, from jitdump files. */
#include "support/memory_file.h"
#include "symbol/jitdump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- histories ---- */

static void change(struct jit_history *history, uint64_t time, uint64_t start, uint64_t end, uint32_t code)
{
    assert_true(jit_history_add(history, &(struct jit_change){.start = start, .end = end, .time = time, .code = code}));
}

static void test_an_address_that_is_used_again_has_each_code_in_its_time(void **unused)
{
    (void)unused;
    struct jit_history history = {0};
    change(&history, 10, 0x1000, 0x1100, 1);
    change(&history, 20, 0x1000, 0x1080, 2);
    change(&history, 30, 0x1000, 0x1080, JIT_HISTORY_NONE);
    assert_int_equal(jit_history_finish(&history, NULL), 0);
    assert_int_equal(jit_history_find(&history, 0x1000, 9), JIT_HISTORY_NONE);
    assert_int_equal(jit_history_find(&history, 0x1000, 10), 1);
    assert_int_equal(jit_history_find(&history, 0x1000, 19), 1);
    assert_int_equal(jit_history_find(&history, 0x107f, 20), 2);
    assert_int_equal(jit_history_find(&history, 0x1080, 20), 1); /* what the second left of the first */
    assert_int_equal(jit_history_find(&history, 0x107f, 30), JIT_HISTORY_NONE);
    assert_int_equal(jit_history_find(&history, 0x1100, UINT64_MAX), JIT_HISTORY_NONE);
    assert_int_equal(jit_history_find(&history, 0xfff, UINT64_MAX), JIT_HISTORY_NONE);
    assert_int_equal(jit_history_count_changes(&history, 9), 0);
    assert_int_equal(jit_history_count_changes(&history, 20), 2);
    jit_history_destroy(&history);
}

static void test_an_empty_history_has_no_code(void **unused)
{
    (void)unused;
    struct jit_history history = {0};
    change(&history, 1, 0x1000, 0x1000, 1); /* nothing */
    assert_int_equal(jit_history_finish(&history, NULL), 0);
    assert_int_equal(jit_history_find(&history, 0x1000, 5), JIT_HISTORY_NONE);
    jit_history_destroy(&history);
}

static uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1664525 + 1013904223;
}

/* Against going through all changes: of the last that holds the address. */
static uint32_t find_slowly(const struct jit_change *changes, size_t count, uint64_t address, uint64_t time)
{
    uint32_t code = JIT_HISTORY_NONE;
    uint64_t best = 0;
    for (size_t i = 0; i < count; i++)
        if (changes[i].time <= time && changes[i].time >= best && address >= changes[i].start &&
            address < changes[i].end) {
            best = changes[i].time;
            code = changes[i].code;
        }
    return code;
}

static void test_random_histories_agree_with_the_obvious_way(void **unused)
{
    (void)unused;
    enum { MOST = 40, SPACE = 64, TIMES = 16 };
    uint32_t state = 1;
    for (int round = 0; round < 300; round++) {
        struct jit_change changes[MOST];
        struct jit_history history = {0};
        size_t count = (next_random(&state) >> 16) % MOST;
        uint64_t longest = round % 2 ? SPACE : 3; /* many overlaps; few, so that most addresses hold one code */
        for (size_t i = 0; i < count; i++) {
            uint64_t start = (next_random(&state) >> 16) % SPACE;
            uint32_t code = (next_random(&state) >> 16) % 5;
            changes[i] = (struct jit_change){.start = start,
                                             .end = start + 1 + (next_random(&state) >> 16) % longest,
                                             .time = (next_random(&state) >> 16) % TIMES,
                                             .code = code ? (uint32_t)i : JIT_HISTORY_NONE};
            assert_true(jit_history_add(&history, &changes[i]));
        }
        assert_int_equal(jit_history_finish(&history, NULL), 0);
        for (uint64_t address = 0; address < 2 * SPACE; address++)
            for (uint64_t time = 0; time < TIMES; time++)
                assert_int_equal(jit_history_find(&history, address, time), find_slowly(changes, count, address, time));
        jit_history_destroy(&history);
    }
}

/* ---- files ---- */

struct file {
    unsigned char bytes[4096];
    size_t size;
};

static void put(struct file *file, uint64_t value, size_t bytes)
{
    memcpy(file->bytes + file->size, &value, bytes);
    file->size += bytes;
}

static void put_text(struct file *file, const char *text)
{
    memcpy(file->bytes + file->size, text, strlen(text) + 1);
    file->size += strlen(text) + 1;
}

static struct file start_file(uint64_t flags)
{
    struct file file = {.size = 0};
    put(&file, 0x4a695444, 4);
    put(&file, 1, 4);
    put(&file, 40, 4);
    put(&file, 62, 4);
    put(&file, 0, 4);
    put(&file, 1234, 4);
    put(&file, 99, 8);
    put(&file, flags, 8);
    return file;
}

static void put_load(struct file *file, uint64_t time, uint64_t address, uint64_t size, uint64_t index,
                     const char *name)
{
    put(file, 0, 4);
    put(file, 16 + 40 + strlen(name) + 1 + size, 4);
    put(file, time, 8);
    put(file, 0, 8);
    put(file, address, 8);
    put(file, address, 8);
    put(file, size, 8);
    put(file, index, 8);
    put_text(file, name);
    memset(file->bytes + file->size, 0xcc, size);
    file->size += size;
}

static void put_move(struct file *file, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
    put(file, 1, 4);
    put(file, 16 + 48, 4);
    put(file, time, 8);
    put(file, 0, 8);
    put(file, to, 8);
    put(file, from, 8);
    put(file, to, 8);
    put(file, size, 8);
    put(file, index, 8);
}

static void put_two_lines(struct file *file, uint64_t address, uint64_t bias)
{
    put(file, 2, 4);
    put(file, 16 + 16 + 16 + 5 + 16 + 2, 4);
    put(file, 0, 8);
    put(file, address, 8);
    put(file, 2, 8);
    put(file, address + bias + 8, 8);
    put(file, 20, 4);
    put(file, 2, 4);
    put_text(file, "a.js");
    put(file, address + bias, 8);
    put(file, 10, 4);
    put(file, 1, 4);
    put_text(file, "\xff");
}

static int read_bytes(struct jitdump *dump, const void *bytes, size_t size, struct error *err)
{
    int fd = memory_file(bytes, size);
    int code = jitdump_read(dump, fd, err);
    close(fd);
    return code;
}

static struct jitdump read_file(const struct file *file)
{
    struct jitdump dump;
    struct error err = {""};
    assert_int_equal(read_bytes(&dump, file->bytes, file->size, &err), 0);
    return dump;
}

static const char *name_at(const struct jitdump *dump, uint64_t address, uint64_t time)
{
    uint32_t code = jit_history_find(&dump->history, address, time);
    return code == JIT_HISTORY_NONE ? "-" : strings_text(&dump->texts, dump->codes.data[code].name);
}

static void test_loads_at_the_same_address_are_told_apart_by_time(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_load(&file, 100, 0x1000, 16, 1, "first");
    put_load(&file, 200, 0x1000, 16, 2, "second");
    struct jitdump dump = read_file(&file);
    assert_int_equal(dump.clock, JITDUMP_MONOTONIC);
    assert_false(dump.is_cut);
    assert_string_equal(name_at(&dump, 0x1008, 99), "-");
    assert_string_equal(name_at(&dump, 0x1008, 199), "first");
    assert_string_equal(name_at(&dump, 0x1008, 200), "second");
    jitdump_destroy(&dump);
}

static void test_code_that_moves_leaves_its_old_place(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_two_lines(&file, 0x1000, 0);
    put_load(&file, 100, 0x1000, 16, 7, "mover");
    put_move(&file, 200, 0x1000, 0x2000, 16, 7);
    put_move(&file, 300, 0x2000, 0x1008, 16, 7);  /* onto a part of where it was at first */
    put_move(&file, 400, 0x3000, 0x4000, 16, 99); /* of code that nobody knows */
    struct jitdump dump = read_file(&file);
    assert_string_equal(name_at(&dump, 0x1000, 199), "mover");
    assert_string_equal(name_at(&dump, 0x1000, 200), "-");
    assert_string_equal(name_at(&dump, 0x200f, 200), "mover");
    assert_string_equal(name_at(&dump, 0x2000, 300), "-");
    assert_string_equal(name_at(&dump, 0x1017, 300), "mover");
    assert_string_equal(name_at(&dump, 0x4000, 400), "-");
    uint32_t moved = jit_history_find(&dump.history, 0x1010, 300);
    assert_int_equal(jitdump_find_line(&dump, moved, 0x1010)->line, 20); /* lines go along */
    jitdump_destroy(&dump);
}

static void test_lines_of_the_code_that_follows_them(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_two_lines(&file, 0x1000, 0);
    put_load(&file, 100, 0x1000, 16, 1, "lines");
    put_load(&file, 200, 0x1000, 16, 2, "none");
    struct jitdump dump = read_file(&file);
    const struct jit_line *line = jitdump_find_line(&dump, 0, 0x1007);
    assert_int_equal(line->line, 10);
    assert_int_equal(line->column, 1);
    assert_string_equal(strings_text(&dump.texts, line->file), "a.js");
    assert_int_equal(jitdump_find_line(&dump, 0, 0x1008)->line, 20);
    assert_int_equal(jitdump_find_line(&dump, 0, 0x100f)->line, 20);
    assert_null(jitdump_find_line(&dump, 1, 0x1000));
    jitdump_destroy(&dump);
}

static void test_lines_wait_for_the_code_that_they_are_about(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_two_lines(&file, 0x1000, 0);
    put_load(&file, 100, 0x5000, 16, 1, "other");
    put_load(&file, 200, 0x1000, 16, 2, "lines");
    struct jitdump dump = read_file(&file);
    assert_null(jitdump_find_line(&dump, 0, 0x5008));
    assert_int_equal(jitdump_find_line(&dump, 1, 0x1008)->line, 20);
    jitdump_destroy(&dump);
}

static void test_lines_of_v8_begin_64_bytes_before_what_they_say(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_two_lines(&file, 0x1000, 64);
    put_load(&file, 100, 0x1000, 16, 1, "lines");
    struct jitdump dump = read_file(&file);
    assert_int_equal(jitdump_find_line(&dump, 0, 0x1007)->line, 10);
    assert_int_equal(jitdump_find_line(&dump, 0, 0x1008)->line, 20);
    jitdump_destroy(&dump);
}

/* What V8 11 writes for three lines in a file of 23 characters: its first 16 bytes are lost. */
static void test_names_that_v8_reads_too_late_are_known_by_the_rest(void **unused)
{
    (void)unused;
    static const char torn[] = "\xe3\x38\xd7\x34\0\0\0\0\x11\x22\0\0\0\0\0\0"
                               "file.js";
    struct file file = start_file(0);
    put(&file, 2, 4);
    put(&file, 16 + 16 + 3 * (16 + sizeof(torn)), 4);
    put(&file, 0, 8);
    put(&file, 0x7f0000001000, 8);
    put(&file, 3, 8);
    for (unsigned i = 0; i < 3; i++) {
        put(&file, 0x7f0000001000 + 64 + 4 * i, 8);
        put(&file, 10 + i, 4);
        put(&file, 1, 4);
        memcpy(file.bytes + file.size, torn, sizeof(torn));
        file.size += sizeof(torn);
    }
    put_load(&file, 100, 0x7f0000001000, 16, 1, "lines");
    struct jitdump dump = read_file(&file);
    assert_false(dump.is_cut);
    for (uint32_t i = 0; i < 2; i++) {
        const struct jit_line *line = jitdump_find_line(&dump, 0, 0x7f0000001000 + 4 * i);
        assert_int_equal(line->line, 10 + i);
        assert_true(jitdump_line_is_in_file(&dump, line, "/home/me/a/dirs/file.js"));
        assert_false(jitdump_line_is_in_file(&dump, line, "/home/me/a/dirs/other.j"));
        assert_false(jitdump_line_is_in_file(&dump, line, "file.js"));
    }
    jitdump_destroy(&dump);
}

static void test_the_clock_is_known_by_flag_and_by_the_size_of_its_times(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_load(&file, UINT64_C(1700000000000000000), 0x1000, 16, 1, "late");
    struct jitdump dump = read_file(&file);
    assert_int_equal(dump.clock, JITDUMP_REALTIME);
    jitdump_destroy(&dump);

    file = start_file(1);
    put_load(&file, 500, 0x1000, 16, 1, "first");
    put_load(&file, 400, 0x1000, 16, 2, "second");
    dump = read_file(&file);
    assert_int_equal(dump.clock, JITDUMP_ORDER);
    assert_string_equal(name_at(&dump, 0x1000, UINT64_MAX), "second"); /* the order of the file */
    jitdump_destroy(&dump);
}

static void test_what_comes_before_damage_counts(void **unused)
{
    (void)unused;
    struct file file = start_file(0);
    put_load(&file, 100, 0x1000, 16, 1, "good");
    size_t whole = file.size;
    put_load(&file, 200, 0x1000, 16, 2, "cut");
    file.size -= 3;
    struct jitdump dump = read_file(&file);
    assert_true(dump.is_cut);
    assert_string_equal(name_at(&dump, 0x1000, UINT64_MAX), "good");
    jitdump_destroy(&dump);

    file.size = whole; /* a record that says it is larger than the rest, one that has no size, code that fills memory */
    static const uint32_t sizes[] = {UINT32_MAX, 0, 15};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct file damaged = file;
        put(&damaged, 0, 4);
        put(&damaged, sizes[i], 4);
        put(&damaged, 0, 8);
        dump = read_file(&damaged);
        assert_true(dump.is_cut);
        assert_int_equal(dump.codes.length, 1);
        jitdump_destroy(&dump);
    }
    struct file lying = start_file(0);
    put_load(&lying, 100, 0x1000, 16, 1, "good");
    uint64_t all = UINT64_MAX;
    memcpy(lying.bytes + 40 + 16 + 24, &all, sizeof(all));
    dump = read_file(&lying);
    assert_int_equal(dump.codes.length, 0);
    jitdump_destroy(&dump);
}

static void test_other_files_are_refused_in_a_sentence(void **unused)
{
    (void)unused;
    struct jitdump dump;
    struct error err;
    struct file file = start_file(0);
    assert_int_equal(read_bytes(&dump, "hello", 5, &err), -22);
    assert_non_null(strstr(err.text, "not a jitdump file"));
    file.bytes[4] = 9;
    assert_int_equal(read_bytes(&dump, file.bytes, file.size, &err), -22);
    assert_non_null(strstr(err.text, "version 9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_that_is_used_again_has_each_code_in_its_time),
        cmocka_unit_test(test_an_empty_history_has_no_code),
        cmocka_unit_test(test_random_histories_agree_with_the_obvious_way),
        cmocka_unit_test(test_loads_at_the_same_address_are_told_apart_by_time),
        cmocka_unit_test(test_code_that_moves_leaves_its_old_place),
        cmocka_unit_test(test_lines_of_the_code_that_follows_them),
        cmocka_unit_test(test_lines_wait_for_the_code_that_they_are_about),
        cmocka_unit_test(test_lines_of_v8_begin_64_bytes_before_what_they_say),
        cmocka_unit_test(test_names_that_v8_reads_too_late_are_known_by_the_rest),
        cmocka_unit_test(test_the_clock_is_known_by_flag_and_by_the_size_of_its_times),
        cmocka_unit_test(test_what_comes_before_damage_counts),
        cmocka_unit_test(test_other_files_are_refused_in_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

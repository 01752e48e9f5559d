/*
 * Python frames, read from structs of CPython 3.11 that this test makes in its own memory: names in all forms of text,
 * lines, replaced code, and endless lists.
 */
#include "language/python_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS = 1024 };

/* A line table: the first line, 2 code units; the next line, 2 code units; none, 1; 100 lines further, 1. */
static const unsigned char table[] = {
    0x80 | 0 << 3 | 1, 0, 0x80 | 11 << 3 | 1, 0, 0, 0x80 | 15 << 3, 0x80 | 13 << 3, 0x40 | (200 & 63), 200 >> 6};

struct interpreter {
    uint64_t code_type[64], version, runtime[WORDS], interpreter[WORDS], thread[WORDS];
    uint64_t cframe[8], outer[16], inner[16];
    uint64_t codes[2][WORDS], names[2][WORDS], files[2][WORDS], tables[2][WORDS];
};

struct scene {
    struct interpreter python;
    struct python_reader reader;
    struct python_process *process;
    uint64_t time;
};

static uint64_t address_of(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

/* A str of `length` characters of 1, 2 or 4 bytes. */
static void make_text(uint64_t *at, const void *characters, size_t length, unsigned kind, bool is_ascii)
{
    uint32_t state = kind << 2 | 1U << 5 | (uint32_t)is_ascii << 6;
    at[2] = length;
    memcpy((char *)at + 32, &state, sizeof(state));
    memcpy((char *)at + (is_ascii ? 48 : 72), characters, length * kind);
}

static void make_code(struct interpreter *python, size_t i, const char *name, const char *file, uint32_t line)
{
    uint64_t *code = python->codes[i];
    code[1] = address_of(python->code_type);
    code[2] = 6; /* code units */
    memcpy((char *)code + 72, &line, sizeof(line));
    code[14] = address_of(python->files[i]);
    code[16] = address_of(python->names[i]);
    code[17] = address_of(python->tables[i]);
    make_text(python->names[i], name, strlen(name), 1, true);
    make_text(python->files[i], file, strlen(file), 1, true);
    python->tables[i][2] = sizeof(table);
    memcpy(python->tables[i] + 4, table, sizeof(table));
}

/* Where a frame has got to: `offset` bytes into the code. */
static void make_frame(uint64_t *frame, const uint64_t *code, int64_t offset, const uint64_t *previous, bool is_entry)
{
    frame[4] = address_of(code);
    frame[6] = previous ? address_of(previous) : 0;
    frame[7] = address_of(code) + 184 + (uint64_t)offset;
    ((char *)frame)[68] = is_entry;
}

static int set_up(void **state)
{
    static struct scene scene;
    struct interpreter *python = &scene.python;
    memset(&scene, 0, sizeof(scene));
    python->version = 0x030b02f0;
    python->runtime[5] = address_of(python->interpreter);
    python->interpreter[2] = address_of(python->thread);
    python->thread[2] = address_of(python->interpreter);
    python->thread[20] = (uint64_t)syscall(SYS_gettid);
    python->thread[7] = address_of(python->cframe);
    python->cframe[1] = address_of(python->inner);
    python->cframe[2] = address_of(python->thread + 42); /* root_cframe, which has no frame */
    make_code(python, 0, "outer", "/src/app.py", 10);
    make_code(python, 1, "Some.inner", "/src/app.py", 20);
    make_frame(python->outer, python->codes[0], 4, NULL, true);
    make_frame(python->inner, python->codes[1], 0, python->outer, false);
    const struct python_library library = {.runtime = offsetof(struct interpreter, runtime),
                                           .version = offsetof(struct interpreter, version),
                                           .code_type = offsetof(struct interpreter, code_type)};
    scene.process = python_process_new(&library, address_of(python));
    scene.time = 1000000000;
    assert_true(python_reader_init(&scene.reader));
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    python_reader_destroy(&scene->reader);
    python_process_free(scene->process);
    return 0;
}

static enum python_outcome read_frames(struct scene *scene)
{
    const struct python_sample sample = {
        .pid = (uint32_t)getpid(), .tid = (uint32_t)syscall(SYS_gettid), .time = scene->time};
    scene->time += 1000000;
    return python_process_read(scene->process, &scene->reader, &sample);
}

static void test_frames_of_a_call_are_one_group_innermost_first(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(read_frames(scene), PYTHON_READ);
    assert_int_equal(scene->reader.group_count, 1);
    assert_int_equal(scene->reader.groups[0].anchor, address_of(scene->python.cframe));
    assert_int_equal(scene->reader.groups[0].count, 2);
    assert_string_equal(scene->reader.codes[0]->name, "Some.inner");
    assert_string_equal(scene->reader.codes[1]->name, "outer");
    assert_string_equal(scene->reader.codes[1]->file, "/src/app.py");
}

static void test_lines_are_those_of_the_location_table(void **state)
{
    static const struct {
        int64_t offset;
        uint32_t line;
    } expected[] = {{-2, 10}, {0, 10}, {2, 10}, {4, 11}, {6, 11}, {8, 0}, {10, 111}, {12, 0}};
    struct scene *scene = *state;
    assert_int_equal(read_frames(scene), PYTHON_READ);
    for (int round = 0; round < 2; round++) /* the second time from those that were kept */
        for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
            assert_int_equal(python_code_find_line(scene->reader.codes[1], expected[i].offset), expected[i].line);
}

static void test_names_may_have_any_characters(void **state)
{
    struct scene *scene = *state;
    static const uint16_t greek[] = {0x3b1, 0x3b2};
    static const uint32_t wide[] = {'x', 0x1f40d};
    make_text(scene->python.names[0], "\xe9t\xe9", 3, 1, false);
    make_text(scene->python.names[1], greek, 2, 2, false);
    make_text(scene->python.files[1], wide, 2, 4, false);
    assert_int_equal(read_frames(scene), PYTHON_READ);
    assert_string_equal(scene->reader.codes[1]->name, "\u00e9t\u00e9");
    assert_string_equal(scene->reader.codes[0]->name, "\u03b1\u03b2");
    assert_string_equal(scene->reader.codes[0]->file, "x\U0001f40d");
}

static void test_code_that_a_program_makes_is_read_again_when_it_changes(void **state)
{
    struct scene *scene = *state;
    make_code(&scene->python, 1, "first", "<string>", 1);
    assert_int_equal(read_frames(scene), PYTHON_READ);
    assert_string_equal(scene->reader.codes[0]->name, "first");
    make_code(&scene->python, 1, "later", "<string>", 1); /* at the same addresses */
    assert_int_equal(read_frames(scene), PYTHON_READ);
    assert_string_equal(scene->reader.codes[0]->name, "later");
}

static void test_what_was_read_of_a_thread_that_ran_on_is_forgotten(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(read_frames(scene), PYTHON_READ);
    python_process_forget(scene->process);
    make_code(&scene->python, 0, "other", "/src/app.py", 10);
    assert_int_equal(read_frames(scene), PYTHON_READ);
    assert_string_equal(scene->reader.codes[1]->name, "other");
}

static void test_a_copy_that_differs_from_the_stack_is_told(void **state)
{
    struct scene *scene = *state;
    unsigned char stack[64] = {1}, copy[64] = {2};
    const struct python_sample sample = {.pid = (uint32_t)getpid(),
                                         .tid = (uint32_t)syscall(SYS_gettid),
                                         .time = scene->time,
                                         .sp = address_of(stack),
                                         .copy = copy,
                                         .copy_size = sizeof(copy)};
    assert_int_equal(python_process_read(scene->process, &scene->reader, &sample), PYTHON_CHANGED);
    copy[0] = 1;
    assert_int_equal(python_process_read(scene->process, &scene->reader, &sample), PYTHON_READ);
}

static void test_nonsense_ends(void **state)
{
    struct scene *scene = *state;
    struct interpreter *python = &scene->python;
    python->inner[6] = address_of(python->inner); /* its own caller */
    assert_int_equal(read_frames(scene), PYTHON_UNREADABLE);
    python->inner[6] = 0x7ffffffff000;
    assert_int_equal(read_frames(scene), PYTHON_UNREADABLE);
    python->inner[6] = address_of(python->outer);
    python->codes[1][2] = 0; /* no code units: the frame is outside */
    assert_int_equal(read_frames(scene), PYTHON_UNREADABLE);
    python->codes[1][2] = 6;
    python->tables[1][2] = UINT64_MAX;
    python->names[1][2] = UINT64_MAX; /* the text goes on beyond all memory, or is cut */
    enum python_outcome outcome = read_frames(scene);
    assert_true(outcome == PYTHON_READ || outcome == PYTHON_UNREADABLE);
    python->codes[1][1] = 0; /* no code object */
    assert_int_equal(read_frames(scene), PYTHON_UNREADABLE);
    python->cframe[2] = address_of(python->cframe); /* its own caller */
    python->cframe[1] = 0;
    assert_int_equal(read_frames(scene), PYTHON_UNREADABLE);
}

static void test_lists_without_end_or_thread_have_no_thread(void **state)
{
    struct scene *scene = *state;
    struct interpreter *python = &scene->python;
    python->thread[20] = 1;
    python->thread[1] = address_of(python->thread);
    python->interpreter[0] = address_of(python->interpreter);
    assert_int_equal(read_frames(scene), PYTHON_NO_THREAD);
}

/* The reads are 1 ms apart. */
static void test_a_thread_that_starts_has_frames_soon(void **state)
{
    struct scene *scene = *state;
    uint64_t *id = &scene->python.thread[20], tid = *id;
    *id = 0;
    assert_int_equal(read_frames(scene), PYTHON_NO_THREAD);
    *id = tid;
    assert_int_equal(read_frames(scene), PYTHON_READ);
}

static void test_a_thread_without_python_is_searched_ever_more_rarely(void **state)
{
    struct scene *scene = *state;
    uint64_t *id = &scene->python.thread[20], tid = *id;
    *id = 0;
    for (int i = 0; i < 100; i++)
        assert_int_equal(read_frames(scene), PYTHON_NO_THREAD);
    *id = tid;
    int waited = 0;
    while (waited < 100 && read_frames(scene) != PYTHON_READ)
        waited++;
    assert_in_range(waited, 1, 20);
}

static void test_other_versions_are_told(void **state)
{
    struct scene *scene = *state;
    scene->python.version = 0x030a00f0;
    assert_int_equal(read_frames(scene), PYTHON_UNSUPPORTED);
    assert_non_null(strstr(python_process_get_problem(scene->process), "this is Python 3.10"));
}

static void test_debug_offsets_that_make_no_sense_are_told(void **state)
{
    struct scene *scene = *state;
    scene->python.version = 0x030d00f0;
    memset(scene->python.runtime, 0xff, sizeof(scene->python.runtime));
    memcpy(scene->python.runtime, "xdebugpy", 8);
    scene->python.runtime[1] = scene->python.version;
    scene->python.runtime[2] = 0;
    assert_int_equal(read_frames(scene), PYTHON_UNSUPPORTED);
}

static void test_code_that_takes_too_much_memory_is_not_read(void **state)
{
    enum { CODES = 200, TABLE = 1 << 20, LIMIT = 64 << 20 };
    struct scene *scene = *state;
    struct interpreter *python = &scene->python;
    struct python_layout layout;
    struct python_memory memory;
    struct python_codes codes = {0};
    struct python_code *found[CODES];
    uint64_t addresses[CODES], (*many)[24] = calloc(CODES, sizeof(*many)), *lines = calloc(1, TABLE + 32);
    assert_non_null(many);
    assert_non_null(lines);
    lines[2] = TABLE;
    for (size_t i = 0; i < CODES; i++) { /* all with one table */
        memcpy(many[i], python->codes[0], sizeof(many[i]));
        many[i][17] = address_of(lines);
        addresses[i] = address_of(many[i]);
    }
    assert_int_equal(python_layout_find(&layout, 0x030b02f0, NULL, NULL), 0);
    assert_true(python_memory_init(&memory));
    python_memory_start(&memory, (struct target_thread){(uint32_t)getpid(), (uint32_t)getpid()}, 0, NULL, 0);
    const struct python_source source = {
        .layout = &layout, .memory = &memory, .code_type = address_of(python->code_type)};
    python_codes_start(&codes, 1);
    assert_false(python_codes_find(&codes, &source, addresses, CODES, found));
    assert_true(codes.bytes > LIMIT && codes.bytes < LIMIT + 2 * TABLE);
    python_codes_start(&codes, 2); /* and those of the next sample are read again */
    assert_true(python_codes_find(&codes, &source, addresses, 10, found));
    assert_true(codes.bytes < 11 * TABLE);
    python_codes_destroy(&codes);
    python_memory_destroy(&memory);
    free(many);
    free(lines);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_frames_of_a_call_are_one_group_innermost_first),
        TEST(test_lines_are_those_of_the_location_table),
        TEST(test_names_may_have_any_characters),
        TEST(test_code_that_a_program_makes_is_read_again_when_it_changes),
        TEST(test_what_was_read_of_a_thread_that_ran_on_is_forgotten),
        TEST(test_a_copy_that_differs_from_the_stack_is_told),
        TEST(test_nonsense_ends),
        TEST(test_code_that_takes_too_much_memory_is_not_read),
        TEST(test_lists_without_end_or_thread_have_no_thread),
        TEST(test_a_thread_that_starts_has_frames_soon),
        TEST(test_a_thread_without_python_is_searched_ever_more_rarely),
        TEST(test_other_versions_are_told),
        TEST(test_debug_offsets_that_make_no_sense_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

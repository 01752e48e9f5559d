/* Symbolication of saved profiles: found names replace the old ones, and nothing else changes. */
#include "assemble/symbolicate_profile.h"
#include "random_profile.h"
#include "support/marker_rows.h"
#include "support/memory_sink.h"
#include "symbol/library_id.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The function whose address is looked up. */
__attribute__((noinline)) static int looked_up(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the first is the program */
}

static uint64_t own_rva(void)
{
    uint64_t bias;
    struct elf_file file;
    dl_iterate_phdr(take_bias, &bias);
    assert_int_equal(elf_file_open(&file, "/proc/self/exe", NULL), 0);
    uint64_t rva = (uint64_t)(uintptr_t)looked_up - bias - file.base;
    elf_file_close(&file);
    return rva;
}

static uint32_t text(struct profile *profile, const char *string)
{
    return strings_add_z(&profile->strings, string);
}

static const char *without_lines; /* a copy of this program that has symbols alone; NULL: the program itself */

/* This program as a library of the profile, or something that calls itself so. */
static void add_own_library(struct profile *profile, bool is_other)
{
    struct elf_file file;
    unsigned char id[16] = {0};
    char breakpad_id[BREAKPAD_ID_SIZE] = "", code_id[CODE_ID_SIZE] = "", path[4096] = "";
    if (without_lines)
        snprintf(path, sizeof(path), "%s", without_lines);
    else
        assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    assert_int_equal(elf_file_open(&file, path, NULL), 0);
    if (file.build_id_size)
        write_breakpad_id(file.build_id, file.build_id_size, breakpad_id);
    else if (compute_text_id(&file, id))
        write_breakpad_id(id, sizeof(id), breakpad_id);
    write_code_id(file.build_id, file.build_id_size, code_id);
    elf_file_close(&file);
    if (is_other) {
        breakpad_id[0] ^= 1;
        code_id[0] = code_id[0] == '1' ? '2' : '1';
    }
    struct library library = {.arch = text(profile, "x86_64"),
                              .name = text(profile, "program"),
                              .path = text(profile, path),
                              .debug_name = text(profile, "program"),
                              .debug_path = text(profile, path),
                              .breakpad_id = text(profile, breakpad_id),
                              .code_id = code_id[0] ? text(profile, code_id) : PROFILE_NONE};
    assert_true(array_push(&profile->libs, library));
}

static uint32_t add_frame(struct profile *profile, const char *name, uint32_t lib, int64_t address, uint8_t depth)
{
    uint32_t func = profile_add_func(profile, text(profile, name), PROFILE_NONE);
    uint32_t frame = profile_add_frame(profile, func, lib, address);
    profile->frames.category[frame] = 1;
    profile->frames.subcategory[frame] = 0;
    profile->frames.inline_depth[frame] = depth;
    return frame;
}

/* main calls an address of this program, in which a call was inlined: samples in the one and in the other, and one
 * without a stack. */
static void make_profile(struct profile *profile, const char *name, bool is_other)
{
    profile_init(profile);
    profile->meta.interval = 1;
    profile_add_category(profile, "Other", "grey");
    profile_add_category(profile, "User", "yellow");
    add_own_library(profile, is_other);
    int64_t address = (int64_t)own_rva();
    uint32_t outer = add_frame(profile, "main", PROFILE_NONE, -1, 0);
    uint32_t physical = add_frame(profile, name, 0, address, 0), inlined = add_frame(profile, "inlined", 0, address, 1);
    uint32_t root = profile_add_stack(profile, PROFILE_NONE, outer);
    uint32_t called = profile_add_stack(profile, root, physical);
    uint32_t innermost = profile_add_stack(profile, called, inlined);
    struct thread *thread = profile_add_thread(profile);
    thread->name = thread->process_name = thread->process_type = thread->pid = thread->tid = text(profile, "1");
    assert_true(samples_add(&thread->samples, called, 0) && samples_add(&thread->samples, innermost, 1) &&
                samples_add(&thread->samples, PROFILE_NONE, 2));
}

static void symbolicate(struct profile *profile, struct symbolicate_result *result)
{
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.threads = 4});
    *result = (struct symbolicate_result){.addresses = 0};
    assert_non_null(symbolizer);
    assert_int_equal(profile_symbolicate(profile, symbolizer, result, &err), 0);
    assert_int_equal(profile_check(profile, &err), 0);
    symbolizer_free(symbolizer);
}

/* ---- stacks as texts ---- */

static void describe(struct memory *out, const struct profile *profile, uint32_t frame)
{
    const struct frame_table *frames = &profile->frames;
    uint32_t func = frames->func[frame], symbol = frames->native_symbol[frame], source = profile->funcs.source[func];
    uint32_t resource = profile->funcs.resource[func];
    char line[512];
    snprintf(line, sizeof(line), "%s|%s|%s|%s|%d|%u|%u|%u|%u\n",
             strings_text(&profile->strings, profile->funcs.name[func]),
             resource == PROFILE_NONE ? "-" : strings_text(&profile->strings, profile->resources.data[resource].name),
             source == PROFILE_NONE ? "-" : strings_text(&profile->strings, profile->sources.data[source].filename),
             symbol == PROFILE_NONE ? "-" : strings_text(&profile->strings, profile->native_symbols.data[symbol].name),
             (int)frames->address[frame], frames->line[frame], frames->column[frame], frames->category[frame],
             frames->inline_depth[frame]);
    memory_write(out, line, strlen(line), NULL);
}

/* Innermost first; the caller frees it. */
static char *path_of(const struct profile *profile, uint32_t stack)
{
    struct memory out = {0};
    memory_write(&out, "", 0, NULL);
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        describe(&out, profile, profile->stacks.frame[stack]);
    return out.data ? out.data : calloc(1, 1);
}

struct paths {
    char *texts[1024];
    size_t count;
};

static void list_paths(struct paths *paths, const struct profile *profile)
{
    paths->count = 0;
    for (size_t t = 0; t < profile->threads.length; t++)
        for (size_t i = 0; i < profile->threads.data[t].samples.length; i++)
            paths->texts[paths->count++] = path_of(profile, profile->threads.data[t].samples.stack[i]);
}

static void free_paths(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->texts[i]);
}

/* ---- tests ---- */

static void test_where_nothing_is_found_every_stack_stays(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct profile profile;
        struct symbolicate_result result;
        struct paths before, after;
        random_profile(&profile, seed);
        list_paths(&before, &profile);
        symbolicate(&profile, &result);
        list_paths(&after, &profile);
        assert_int_equal(before.count, after.count);
        for (size_t i = 0; i < before.count; i++)
            assert_string_equal(before.texts[i], after.texts[i]);
        assert_int_equal(result.unnamed, 0);
        free_paths(&before);
        free_paths(&after);
        symbolicate_result_destroy(&result);
        profile_destroy(&profile);
    }
}

static void test_an_address_gets_its_names_in_the_place_of_its_old_frames(void **unused)
{
    (void)unused;
    struct profile profile;
    struct symbolicate_result result;
    make_profile(&profile, "0x1234", false);
    symbolicate(&profile, &result);
    const uint32_t *stacks = profile.threads.data[0].samples.stack;
    assert_int_equal(stacks[0], stacks[1]);
    assert_int_equal(stacks[2], PROFILE_NONE);
    char *path = path_of(&profile, stacks[0]);
    assert_ptr_equal(strstr(path, "looked_up|program|"), path);
    assert_non_null(strstr(path, "test_symbolicate.c|looked_up|"));
    assert_null(strstr(path, "inlined"));
    assert_non_null(strstr(path, "\nmain|-|-|-|-1|"));
    assert_int_equal(profile.frames.category[profile.stacks.frame[stacks[0]]], 1);
    assert_int_equal(profile.stacks.length, 2);
    assert_int_equal(profile.meta.symbolicated, 1);
    assert_int_equal(result.addresses, 1);
    assert_int_equal(result.unnamed, 0);
    free(path);
    symbolicate_result_destroy(&result);
    profile_destroy(&profile);
}

static void test_a_file_with_another_id_names_nothing(void **unused)
{
    (void)unused;
    struct profile profile;
    struct symbolicate_result result;
    make_profile(&profile, "0x1234", true);
    symbolicate(&profile, &result);
    const uint32_t *stacks = profile.threads.data[0].samples.stack;
    char *path = path_of(&profile, stacks[1]);
    assert_ptr_equal(strstr(path, "inlined|-|-|-|"), path);
    assert_non_null(strstr(path, "\n0x1234|-|-|-|"));
    assert_int_not_equal(stacks[0], stacks[1]);
    assert_int_equal(result.unnamed, 1);
    assert_int_equal(result.libraries.length, 1);
    assert_true(result.libraries.data[0].problem[0] != '\0');
    free(path);
    symbolicate_result_destroy(&result);
    profile_destroy(&profile);
}

static void test_inlined_calls_that_do_not_follow_their_frame_are_kept(void **unused)
{
    (void)unused;
    struct profile profile;
    struct symbolicate_result result;
    make_profile(&profile, "0x1234", false);
    uint32_t root = profile_add_stack(&profile, PROFILE_NONE, 2); /* inlined into nothing */
    assert_true(samples_add(&profile.threads.data[0].samples, root, 3));
    symbolicate(&profile, &result);
    char *path = path_of(&profile, profile.threads.data[0].samples.stack[3]);
    assert_ptr_equal(strstr(path, "inlined|"), path);
    free(path);
    symbolicate_result_destroy(&result);
    profile_destroy(&profile);
}

static void test_a_line_that_is_known_is_not_given_for_a_name(void **unused)
{
    (void)unused;
    char copy[] = "/tmp/test_symbolicate_XXXXXX";
    int fd = mkstemp(copy);
    assert_true(fd >= 0);
    close(fd);
    const struct {
        const char *name;
        uint32_t line;
        const char *wanted; /* how the innermost frame begins */
    } cases[] = {{"known", 77, "known|"}, {"known", 0, "looked_up|"}, {"0x1234", 77, "looked_up|"}};
    char command[200];
    snprintf(command, sizeof(command), "objcopy --strip-debug /proc/%d/exe %s", (int)getpid(), copy);
    bool is_made = system(command) == 0;
    without_lines = copy;
    for (size_t i = 0; is_made && i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile profile;
        struct symbolicate_result result;
        make_profile(&profile, cases[i].name, false);
        profile.frames.line[1] = cases[i].line;
        symbolicate(&profile, &result);
        char *path = path_of(&profile, profile.threads.data[0].samples.stack[0]);
        assert_ptr_equal(strstr(path, cases[i].wanted), path);
        free(path);
        symbolicate_result_destroy(&result);
        profile_destroy(&profile);
    }
    without_lines = NULL;
    unlink(copy);
    if (!is_made)
        skip();
}

/* The source of the innermost frame of the first sample. */
static uint32_t innermost_source(const struct profile *profile)
{
    uint32_t stack = profile->threads.data[0].samples.stack[0];
    return profile->funcs.source[profile->frames.func[profile->stacks.frame[stack]]];
}

static void test_a_file_whose_text_the_profile_has_stays_that_file(void **unused)
{
    (void)unused;
    struct profile profile;
    struct symbolicate_result result;
    char file[4096];
    make_profile(&profile, "0x1234", false);
    symbolicate(&profile, &result);
    const struct source *found = &profile.sources.data[innermost_source(&profile)];
    snprintf(file, sizeof(file), "%s", strings_text(&profile.strings, found->filename));
    symbolicate_result_destroy(&result);
    profile_destroy(&profile);

    make_profile(&profile, "0x1234", false);
    struct source embedded = {.filename = text(&profile, file),
                              .id = PROFILE_NONE,
                              .start_line = 1,
                              .start_column = 1,
                              .content = text(&profile, "its text"),
                              .source_map_url = PROFILE_NONE};
    assert_true(array_push(&profile.sources, embedded));
    profile.funcs.source[0] = 0; /* of main */
    symbolicate(&profile, &result);
    found = &profile.sources.data[innermost_source(&profile)];
    assert_string_equal(strings_text(&profile.strings, found->filename), file);
    assert_int_not_equal(found->content, PROFILE_NONE);
    assert_string_equal(strings_text(&profile.strings, found->content), "its text");
    symbolicate_result_destroy(&result);
    profile_destroy(&profile);
}

static void add_marker(struct profile *profile, const char *payload)
{
    struct marker_table *markers = &profile->threads.data[0].markers;
    assert_true(marker_rows_make(markers, 1));
    markers->name[0] = text(profile, "marker");
    markers->data[0] = text(profile, payload);
}

static void test_the_stack_that_caused_a_marker_follows(void **unused)
{
    (void)unused;
    static const char *const payloads[][2] = {
        {"{\"type\":\"Text\",\"cause\":{\"stack\":2,\"tid\":3},\"stack\":2}",
         "{\"type\":\"Text\",\"cause\":{\"stack\":1,\"tid\":3},\"stack\":2}"},
        {"{\"a\":{\"cause\":{\"stack\":2}},\"cause\":{\"b\":{\"stack\":2},\"stack\":null}}", NULL},
        {"{\"cause\":{\"stack\":99}}", NULL},
        {"{\"cause\":{\"stack\":-1}}", NULL},
        {"{\"cause\":{\"stack\":1.5}}", NULL},
        {"{\"cause\"", NULL},
    };
    for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++) {
        struct profile profile;
        struct symbolicate_result result;
        make_profile(&profile, "0x1234", false);
        add_marker(&profile, payloads[i][0]);
        symbolicate(&profile, &result);
        const char *now = strings_text(&profile.strings, profile.threads.data[0].markers.data[0]);
        assert_string_equal(now, payloads[i][payloads[i][1] != NULL]);
        symbolicate_result_destroy(&result);
        profile_destroy(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_nothing_is_found_every_stack_stays),
        cmocka_unit_test(test_an_address_gets_its_names_in_the_place_of_its_old_frames),
        cmocka_unit_test(test_a_file_with_another_id_names_nothing),
        cmocka_unit_test(test_inlined_calls_that_do_not_follow_their_frame_are_kept),
        cmocka_unit_test(test_a_line_that_is_known_is_not_given_for_a_name),
        cmocka_unit_test(test_a_file_whose_text_the_profile_has_stays_that_file),
        cmocka_unit_test(test_the_stack_that_caused_a_marker_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

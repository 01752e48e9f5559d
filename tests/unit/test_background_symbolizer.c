/* What is looked up while a recording is written is known at its end. */
#include "assemble/background_symbolizer.h"
#include "record/spool.h"
#include "symbol/debug_search.h"
#include "symbol/elf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_background_symbolizer_XXXXXX";
static char program[64], spool[64];
static unsigned char build_id[ELF_BUILD_ID_MAX];
static size_t build_id_size;
static uint64_t main_rva;

static void run(const char *command)
{
    char line[512];
    snprintf(line, sizeof(line), "cd %s && %s", folder, command);
    if (system(line) != 0)
        fail_msg("failed: %s", line);
}

static int make_folder(void **unused)
{
    (void)unused;
    struct elf_file file;
    char command[128];
    if (!mkdtemp(folder))
        return -1;
    snprintf(program, sizeof(program), "%s/program", folder);
    snprintf(spool, sizeof(spool), "%s/spool", folder);
    run("echo 'int main(void) { return 0; }' >program.c && gcc -g -Wl,--build-id -o whole program.c && cp whole "
        "program");
    snprintf(command, sizeof(command), "nm %s | sed -n 's/ T main//p'", program);
    FILE *in = popen(command, "r");
    if (!in || fscanf(in, "%lx", &main_rva) != 1 || pclose(in) != 0 || elf_file_open(&file, program, NULL) != 0)
        return -1;
    build_id_size = file.build_id_size;
    memcpy(build_id, file.build_id, build_id_size);
    elf_file_close(&file);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    run("rm -r $PWD");
    return 0;
}

/* A recording with one sample, in main(). */
static struct spool_writer *write_spool(void)
{
    enum { START = 0x10000 };
    uint64_t frame = START + main_rva;
    struct spool_writer *writer = spool_writer_new(spool, NULL);
    assert_non_null(writer);
    struct spool_lib lib = {
        .kind = SPOOL_LIB_FILE, .path = program, .build_id = build_id, .build_id_size = build_id_size};
    const struct spool_event events[] = {
        {.kind = SPOOL_PROCESS, .parent = SPOOL_NO_NUMBER, .pid = 10, .time = 1, .name = "program"},
        {.kind = SPOOL_THREAD, .tid = 10, .time = 1, .name = "program"},
        {.kind = SPOOL_LIB, .lib = lib},
        {.kind = SPOOL_MAP, .time = 2, .start = START, .end = START + 0x10000},
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        assert_int_equal(spool_writer_event(writer, &events[i], NULL), 0);
    struct sample sample = {.time = 5, .frame_count = 1, .frames = &frame};
    assert_int_equal(spool_writer_sample(writer, &sample, NULL), 0);
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
    return writer;
}

/* Whether the symbolizer has the line of main() though the program is not there. */
static bool knows_main(struct symbolizer *symbolizer)
{
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF,
                             .name = "program",
                             .path = program,
                             .build_id = build_id,
                             .build_id_size = build_id_size};
    struct symbol_answers answers;
    run("rm program");
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, &main_rva, 1, &answers, NULL), 0);
    bool known = answers.answers[0].frame_count == 1 && answers.frames.data[answers.answers[0].first_frame].line == 1;
    symbol_answers_destroy(&answers);
    run("cp whole program");
    return known;
}

/* `prepare` makes the program what it is to be when it is looked at. */
static void expect_known(const struct symbolizer_options *options, const char *prepare)
{
    enum { MOST_SECONDS = 64 };
    bool known = false;
    struct spool_writer *writer = write_spool();
    for (unsigned seconds = 2; !known && seconds <= MOST_SECONDS; seconds *= 2) { /* idle time may be rare */
        run(prepare);
        struct background_symbolizer *background = background_symbolizer_start(spool, options);
        assert_non_null(background);
        sleep(seconds);
        struct symbolizer *symbolizer = background_symbolizer_take(background);
        known = symbolizer && knows_main(symbolizer);
        symbolizer_free(symbolizer);
    }
    assert_true(known);
    spool_writer_close(writer, NULL);
    unlink(spool);
}

static void test_what_is_recorded_is_known_before_the_end(void **unused)
{
    (void)unused;
    struct symbolizer_options options = {.use_cache = true};
    expect_known(&options, "cp whole program");
}

static void test_folders_that_the_user_names_are_searched_too(void **unused)
{
    (void)unused;
    char symbols[64];
    snprintf(symbols, sizeof(symbols), "%s/symbols", folder);
    const char *const folders[] = {symbols};
    struct debug_search search = {.folders = folders, .folder_count = 1};
    struct symbolizer_options options = {.use_cache = true, .search = &search};
    run("mkdir symbols && objcopy --only-keep-debug whole symbols/program.debug");
    expect_known(&options, "objcopy --strip-debug whole program");
}

static void test_a_recording_that_ends_at_once_or_is_not_there_is_no_trouble(void **unused)
{
    (void)unused;
    struct symbolizer_options options = {.use_cache = true};
    for (int i = 0; i < 20; i++) {
        struct background_symbolizer *background = background_symbolizer_start("/no/such/spool", &options);
        assert_non_null(background);
        background_symbolizer_stop(background);
        symbolizer_free(background_symbolizer_take(background));
    }
    background_symbolizer_stop(NULL);
    assert_null(background_symbolizer_take(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_recorded_is_known_before_the_end),
        cmocka_unit_test(test_folders_that_the_user_names_are_searched_too),
        cmocka_unit_test(test_a_recording_that_ends_at_once_or_is_not_there_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* From a recording to the file of a profile. */
#include "assemble/assemble.h"
#include "base/utf8.h"
#include "file/profile_file.h"
#include "spool/spool.h"
#include "support/directory.h"
#include "support/flat_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char spool_path[64], output_path[64];

static int make_paths(void **state)
{
    if (make_empty_directory(state) != 0)
        return -1;
    snprintf(spool_path, sizeof(spool_path), "%s/spool", directory);
    snprintf(output_path, sizeof(output_path), "%s/profile.json", directory);
    return 0;
}

static void add(struct spool_writer *spool, struct spool_event event)
{
    assert_int_equal(spool_writer_event(spool, &event, NULL), 0);
}

/* A process with one thread and one sample in this library. */
static void record(const char *library)
{
    struct spool_writer *spool;
    assert_int_equal(spool_writer_new(&spool, spool_path, NULL), 0);
    add(spool, (struct spool_event){.kind = SPOOL_LIB, .number = 0, .lib = {.path = library}});
    add(spool, (struct spool_event){
                   .kind = SPOOL_PROCESS, .parent = SPOOL_NO_NUMBER, .pid = 10, .time = 1, .name = "process"});
    add(spool, (struct spool_event){.kind = SPOOL_THREAD, .tid = 10, .time = 1, .name = "main"});
    add(spool, (struct spool_event){.kind = SPOOL_MAP, .time = 2, .start = 0x1000, .end = 0x2000});
    struct sample sample = {.time = 3, .frame_count = 1, .frames = (const uint64_t[]){0x1010}};
    assert_int_equal(spool_writer_sample(spool, &sample, NULL), 0);
    assert_int_equal(spool_writer_close(spool, NULL), 0);
}

static void assert_is_utf8(const char *path)
{
    char bytes[64 * 1024];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const char *at = bytes, *end = bytes + fread(bytes, 1, sizeof(bytes), file);
    assert_true(feof(file));
    fclose(file);
    for (size_t length; at < end; at += length) {
        length = utf8_measure_character(at, end);
        assert_int_not_equal(length, 0);
    }
}

static void test_a_library_whose_name_is_no_text_still_gives_a_file_of_text(void **state)
{
    (void)state;
    struct assemble_options options = {.threads = 1};
    struct assemble_result result;
    struct error err = {0};
    record("/nowhere/\xff\"\\\n.so"); /* it is gone: a fact of the info panel says so, with its name */
    assert_int_equal(assemble_recording(spool_path, output_path, &options, &result, &err), 0);
    assert_int_equal(result.samples, 1);
    assert_int_equal(result.unnamed, 1);
    assert_is_utf8(output_path);
    struct profile profile;
    assert_int_equal(profile_load(output_path, &profile, &err), 0);
    assert_int_equal(profile.threads.length, 1);
    assert_int_equal(profile.threads.data[0].samples.length, 1);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_library_whose_name_is_no_text_still_gives_a_file_of_text),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_directory);
}

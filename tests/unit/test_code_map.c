/* Names of compiled code belong to the process that wrote them, and only to it. */
#include "assemble/code_map.h"

#include "record/info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The recording starts at second 1000 of the Unix epoch, which is second 1 of the monotonic clock. */
#define SECOND UINT64_C(1000000000)
enum { EPOCH_START = 1000 };

struct scene {
    char folder[64], spool[96];
    struct spool_writer *writer;
    struct replay replay;
    struct code_names names;
};

static void start(struct scene *scene)
{
    *scene = (struct scene){.folder = "/tmp/prof-code-map-XXXXXX"};
    assert_non_null(mkdtemp(scene->folder));
    snprintf(scene->spool, sizeof(scene->spool), "%s/spool", scene->folder);
    scene->writer = spool_writer_new(scene->spool, NULL);
    assert_non_null(scene->writer);
    assert_int_equal(info_write_number(scene->writer, INFO_START_MONOTONIC, SECOND, NULL), 0);
    assert_int_equal(info_write_number(scene->writer, INFO_START_REALTIME, EPOCH_START * SECOND, NULL), 0);
}

static const char *map_path(const struct scene *scene, uint32_t pid)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/perf-%u.map", scene->folder, pid);
    return path;
}

/* A map file, last written to that many seconds after the recording started. */
static void write_map(const struct scene *scene, uint32_t pid, const char *text, int seconds)
{
    FILE *file = fopen(map_path(scene, pid), "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct timespec times[2] = {{.tv_sec = EPOCH_START + seconds}, {.tv_sec = EPOCH_START + seconds}};
    assert_int_equal(utimensat(AT_FDCWD, map_path(scene, pid), times, 0), 0);
}

/* Processes have the number of their thread; they start that many seconds after the recording. */
static void add_process(struct scene *scene, uint32_t number, uint32_t parent, bool exec, uint32_t pid, int seconds)
{
    uint64_t time = SECOND * (uint64_t)(1 + seconds);
    struct spool_event process = {.kind = SPOOL_PROCESS,
                                  .number = number,
                                  .parent = parent,
                                  .exec = exec,
                                  .pid = pid,
                                  .time = time,
                                  .name = "process"};
    struct spool_event thread = {
        .kind = SPOOL_THREAD, .number = number, .process = number, .tid = pid, .time = time, .name = "main"};
    assert_int_equal(spool_writer_event(scene->writer, &process, NULL), 0);
    assert_int_equal(spool_writer_event(scene->writer, &thread, NULL), 0);
}

static void add_sample(struct scene *scene, uint32_t thread, int seconds, uint64_t pc)
{
    uint64_t frames[] = {pc};
    struct sample sample = {
        .thread = thread, .time = SECOND * (uint64_t)(1 + seconds), .frame_count = 1, .frames = frames};
    assert_int_equal(spool_writer_sample(scene->writer, &sample, NULL), 0);
}

static void assemble(struct scene *scene)
{
    assert_int_equal(spool_writer_close(scene->writer, NULL), 0);
    scene->replay.code_map_folder = scene->folder;
    assert_int_equal(replay_spool(&scene->replay, scene->spool, NULL), 0);
    assert_int_equal(code_names_find(&scene->names, &scene->replay, NULL), 0);
}

/* What the n-th sample of a thread is called: "-" if nothing names it. */
static const char *name_of(const struct scene *scene, uint32_t thread, int n)
{
    struct sample_cursor cursor = {0};
    struct stored_sample sample;
    assert_int_equal(sample_cursor_start(&cursor, scene->replay.samples, thread, NULL), 0);
    for (int i = 0; i <= n; i++)
        assert_int_equal(sample_cursor_next(&cursor, &sample, NULL), 1);
    sample_cursor_destroy(&cursor);
    const struct jit_name *name = code_names_of(&scene->names, scene->replay.stacks.data[sample.stack].frame);
    return name ? name->function : "-";
}

static void finish(struct scene *scene)
{
    char command[128];
    code_names_destroy(&scene->names);
    replay_destroy(&scene->replay);
    snprintf(command, sizeof(command), "rm -r '%s'", scene->folder);
    assert_int_equal(system(command), 0);
}

static void test_two_processes_have_different_code_at_one_address(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
    add_process(&scene, 1, SPOOL_NO_NUMBER, false, 11, 0);
    add_process(&scene, 2, SPOOL_NO_NUMBER, false, 12, 0);
    write_map(&scene, 10, "1000 10 ten\n", 1);
    write_map(&scene, 11, "1000 10 eleven\n", 1);
    for (uint32_t i = 0; i < 3; i++)
        add_sample(&scene, i, 2, 0x1008);
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "ten");
    assert_string_equal(name_of(&scene, 1, 0), "eleven");
    assert_string_equal(name_of(&scene, 2, 0), "-");
    finish(&scene);
}

static void test_processes_without_a_file_share_their_frames(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    for (uint32_t i = 0; i < 5; i++)
        add_process(&scene, i, SPOOL_NO_NUMBER, false, 10 + i, 0);
    write_map(&scene, 10, "1000 10 ten\n", 1);
    for (uint32_t i = 0; i < 5; i++)
        add_sample(&scene, i, 2, 0x1008);
    assemble(&scene);
    assert_int_equal(scene.replay.frames.length, 2);
    finish(&scene);
}

static void test_a_file_older_than_the_process_is_not_used(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 5);
    add_process(&scene, 1, SPOOL_NO_NUMBER, false, 11, 5);
    write_map(&scene, 10, "1000 10 old\n", 4);
    write_map(&scene, 11, "1000 10 new\n", 5);
    add_sample(&scene, 0, 6, 0x1008);
    add_sample(&scene, 1, 6, 0x1008);
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    assert_string_equal(name_of(&scene, 1, 0), "new");
    finish(&scene);
}

static void test_links_and_what_is_no_file_are_not_used(void **unused)
{
    (void)unused;
    struct scene scene;
    char target[128];
    start(&scene);
    write_map(&scene, 99, "1000 10 linked\n", 1);
    snprintf(target, sizeof(target), "%s", map_path(&scene, 99));
    assert_int_equal(symlink(target, map_path(&scene, 10)), 0);
    assert_int_equal(mkdir(map_path(&scene, 11), 0700), 0);
    assert_int_equal(mkfifo(map_path(&scene, 12), 0600),
                     0); /* nobody writes to it: to wait for that would be to hang */
    for (uint32_t pid = 10; pid < 13; pid++)
        assert_true(code_map_open_trusted(AT_FDCWD, map_path(&scene, pid), EPOCH_START * SECOND) < 0);
    int fd = code_map_open_trusted(AT_FDCWD, map_path(&scene, 99), EPOCH_START * SECOND);
    assert_true(fd >= 0);
    close(fd);
    assemble(&scene);
    finish(&scene);
}

static void test_a_file_of_another_user_is_not_used(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    struct scene scene;
    start(&scene);
    write_map(&scene, 10, "1000 10 theirs\n", 1);
    assert_int_equal(chown(map_path(&scene, 10), 65534, 65534), 0);
    assert_true(code_map_open_trusted(AT_FDCWD, map_path(&scene, 10), EPOCH_START * SECOND) < 0);
    assemble(&scene);
    finish(&scene);
}

static void test_after_exec_the_file_is_the_last_program_s(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
    add_process(&scene, 1, 0, true, 10, 5);
    write_map(&scene, 10, "1000 10 second\n", 9);
    add_sample(&scene, 0, 2, 0x1008);
    add_sample(&scene, 1, 7, 0x1008);
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    assert_string_equal(name_of(&scene, 1, 0), "second");
    finish(&scene);
}

static void test_a_forked_process_has_its_own_code_and_its_parents(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
    add_process(&scene, 1, 0, false, 11, 5);
    add_process(&scene, 2, 0, false, 12, 5);
    write_map(&scene, 10, "1000 10 inherited\n2000 10 of_parent\n", 9);
    write_map(&scene, 11, "2000 10 of_child\n", 9);
    for (uint32_t i = 0; i < 3; i++) {
        add_sample(&scene, i, 7, 0x1008);
        add_sample(&scene, i, 8, 0x2008);
    }
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "inherited");
    assert_string_equal(name_of(&scene, 0, 1), "of_parent");
    assert_string_equal(name_of(&scene, 1, 0), "inherited");
    assert_string_equal(name_of(&scene, 1, 1), "of_child");
    assert_string_equal(name_of(&scene, 2, 0), "inherited");
    assert_string_equal(name_of(&scene, 2, 1), "of_parent");
    finish(&scene);
}

static void test_processes_that_are_each_others_parents_have_an_end(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    add_process(&scene, 0, 1, false, 10, 0);
    add_process(&scene, 1, 0, false, 11, 0);
    write_map(&scene, 12, "1000 10 other\n", 1);
    add_sample(&scene, 0, 2, 0x1008);
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    finish(&scene);
}

static void test_library_code_is_not_looked_up(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
    struct spool_event lib = {.kind = SPOOL_LIB, .number = 0, .lib = {.path = "a.so"}};
    struct spool_event map = {
        .kind = SPOOL_MAP, .number = 0, .time = SECOND, .start = 0x1000, .end = 0x2000, .rva = 0x100, .lib_number = 0};
    assert_int_equal(spool_writer_event(scene.writer, &lib, NULL), 0);
    assert_int_equal(spool_writer_event(scene.writer, &map, NULL), 0);
    write_map(&scene, 10, "0 10000 everything\n", 1);
    add_sample(&scene, 0, 2, 0x1008);
    add_sample(&scene, 0, 3, 0x2008);
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    assert_string_equal(name_of(&scene, 0, 1), "everything");
    finish(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_processes_have_different_code_at_one_address),
        cmocka_unit_test(test_processes_without_a_file_share_their_frames),
        cmocka_unit_test(test_a_file_older_than_the_process_is_not_used),
        cmocka_unit_test(test_links_and_what_is_no_file_are_not_used),
        cmocka_unit_test(test_a_file_of_another_user_is_not_used),
        cmocka_unit_test(test_after_exec_the_file_is_the_last_program_s),
        cmocka_unit_test(test_a_forked_process_has_its_own_code_and_its_parents),
        cmocka_unit_test(test_processes_that_are_each_others_parents_have_an_end),
        cmocka_unit_test(test_library_code_is_not_looked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

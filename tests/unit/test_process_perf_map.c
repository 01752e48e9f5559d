/* Names of compiled code belong to the process that wrote them, and only to it. */
#include "support/code_scene.h"
#include "support/flat_records.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *map_path(const struct scene *scene, uint32_t pid)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/perf-%u.map", scene->directory, pid);
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

/* Times of processes and samples are in seconds after the start of the recording. */
static void add_process(struct scene *scene, uint32_t number, uint32_t parent, bool exec, uint32_t pid, int seconds)
{
    scene_add_process(scene, number, parent, exec, pid, SECOND * (uint64_t)(1 + seconds));
}

static void add_sample(struct scene *scene, uint32_t thread, int seconds, uint64_t pc)
{
    scene_add_sample(scene, thread, SECOND * (uint64_t)(1 + seconds), pc);
}

static struct perf_map_names names; /* of the running test */

static void assemble(struct scene *scene)
{
    scene_replay(scene);
    assert_int_equal(perf_map_names_find(&names, &scene->replay, NULL), 0);
}

/* What the n-th sample of a thread is called: "-" if nothing names it. */
static const char *name_of(const struct scene *scene, uint32_t thread, int n)
{
    const struct jit_name *name = perf_map_names_get(&names, scene_frame(scene, thread, n));
    return name ? name->function : "-";
}

static void finish(struct scene *scene)
{
    perf_map_names_destroy(&names);
    names = (struct perf_map_names){0};
    scene_finish(scene);
}

static void test_two_processes_have_different_code_at_one_address(void **unused)
{
    (void)unused;
    struct scene scene;
    scene_start(&scene);
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
    scene_start(&scene);
    for (uint32_t i = 0; i < 5; i++)
        add_process(&scene, i, SPOOL_NO_NUMBER, false, 10 + i, 0);
    write_map(&scene, 10, "1000 10 ten\n", 1);
    for (uint32_t i = 0; i < 5; i++)
        add_sample(&scene, i, 2, 0x1008);
    assemble(&scene);
    assert_int_equal(scene.replay.stacks.frames.length, 2);
    finish(&scene);
}

static void test_a_file_older_than_the_process_is_not_used(void **unused)
{
    (void)unused;
    struct scene scene;
    scene_start(&scene);
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

/* The process of a recording that attached to it wrote its file before. */
static void test_process_that_ran_before_has_its_file(void **unused)
{
    (void)unused;
    struct scene scene;
    struct jit_files files = {.dumps = 0};
    scene_start(&scene);
    for (uint32_t i = 0; i < 2; i++) {
        add_process(&scene, i, SPOOL_NO_NUMBER, false, (uint32_t)getpid(), 5);
        assert_true(jit_files_add(&files, i, (uint32_t)getpid(), i == 1));
        add_sample(&scene, i, 6, 0x1008);
    }
    assert_int_equal(files.files.data[0].started, 0);
    assert_true(files.files.data[1].started > UINT64_C(1700000000) * SECOND);
    files.files.data[1].started = (EPOCH_START + 3) * SECOND;
    write_map(&scene, (uint32_t)getpid(), "1000 10 before\n", 4);
    scene.replay.input.jit_files = &files;
    assemble(&scene);
    assert_int_equal(process_perf_map_open(&scene.replay, 0), -ESTALE);
    assert_string_equal(name_of(&scene, 1, 0), "before");
    write_map(&scene, (uint32_t)getpid(), "1000 10 before\n", 2); /* of an earlier process with that pid */
    assert_int_equal(process_perf_map_open(&scene.replay, 1), -ESTALE);
    jit_files_destroy(&files);
    finish(&scene);
}

static void test_links_and_what_is_no_file_are_not_used(void **unused)
{
    (void)unused;
    struct scene scene;
    char target[128];
    scene_start(&scene);
    write_map(&scene, 99, "1000 10 linked\n", 1);
    snprintf(target, sizeof(target), "%s", map_path(&scene, 99));
    assert_int_equal(symlink(target, map_path(&scene, 10)), 0);
    assert_int_equal(mkdir(map_path(&scene, 11), 0700), 0);
    assert_int_equal(mkfifo(map_path(&scene, 12), 0600),
                     0); /* nobody writes to it: to wait for that would be to hang */
    for (uint32_t number = 0; number < 4; number++)
        add_process(&scene, number, SPOOL_NO_NUMBER, false, number < 3 ? 10 + number : 99, 0);
    assemble(&scene);
    for (uint32_t number = 0; number < 3; number++)
        assert_true(process_perf_map_open(&scene.replay, number) < 0);
    int fd = process_perf_map_open(&scene.replay, 3);
    assert_true(fd >= 0);
    close(fd);
    finish(&scene);
}

static void test_a_file_of_another_user_is_not_used(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    struct scene scene;
    scene_start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
    write_map(&scene, 10, "1000 10 theirs\n", 1);
    assert_int_equal(chown(map_path(&scene, 10), 65534, 65534), 0);
    add_sample(&scene, 0, 2, 0x1008);
    assemble(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    finish(&scene);
}

static void test_a_file_of_the_process_s_own_user_is_used(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    for (uint32_t user = 65533; user <= 65535; user++) {
        struct scene scene;
        scene_start(&scene);
        add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
        write_map(&scene, 10, "1000 10 theirs\n", 1);
        assert_int_equal(chown(map_path(&scene, 10), 65534, 65534), 0);
        struct jit_files files = {.dumps = 0};
        struct jit_file place = {.pid = 10, .directory = JIT_DIRECTORY_OURS, .user = user, .dump = -1};
        assert_true(array_push(&files.files, place) && hash_set(&files.by_process, 0, 0));
        scene.replay.input.jit_files = &files;
        add_sample(&scene, 0, 2, 0x1008);
        assemble(&scene);
        assert_string_equal(name_of(&scene, 0, 0), user == 65534 ? "theirs" : "-");
        jit_files_destroy(&files);
        finish(&scene);
    }
}

static void test_after_exec_the_file_is_the_last_program_s(void **unused)
{
    (void)unused;
    struct scene scene;
    scene_start(&scene);
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
    scene_start(&scene);
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
    scene_start(&scene);
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
    scene_start(&scene);
    add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, 0);
    struct spool_event lib = {.kind = SPOOL_LIB, .number = 0, .lib = {.path = "a.so"}};
    struct spool_event map = {
        .kind = SPOOL_MAP, .number = 0, .time = SECOND, .start = 0x1000, .end = 0x2000, .rva = 0x100, .lib_number = 0};
    scene_add(&scene, lib);
    scene_add(&scene, map);
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
        cmocka_unit_test(test_process_that_ran_before_has_its_file),
        cmocka_unit_test(test_links_and_what_is_no_file_are_not_used),
        cmocka_unit_test(test_a_file_of_another_user_is_not_used),
        cmocka_unit_test(test_a_file_of_the_process_s_own_user_is_used),
        cmocka_unit_test(test_after_exec_the_file_is_the_last_program_s),
        cmocka_unit_test(test_a_forked_process_has_its_own_code_and_its_parents),
        cmocka_unit_test(test_processes_that_are_each_others_parents_have_an_end),
        cmocka_unit_test(test_library_code_is_not_looked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

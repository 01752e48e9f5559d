/* The jitdump file that a process mapped names its compiled code, at the time of each sample. */
#include "assemble/replay_jit.h"
#include "support/code_scene.h"
#include "symbol/jitdump.h"
#include "support/flat_records.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *dump_path(const struct scene *scene, uint32_t pid)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/jit-%u.dump", scene->directory, pid);
    return path;
}

struct load {
    uint64_t time;
    const char *name; /* at 0x1000, 16 bytes */
};

static void write_dump(const char *path, const struct load *loads, size_t count)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    const uint32_t header[] = {0x4a695444, 1, 40, 62, 0, 7, 0, 0, 0, 0};
    fwrite(header, sizeof(header), 1, file);
    for (size_t i = 0; i < count; i++) {
        uint32_t name_size = (uint32_t)strlen(loads[i].name) + 1;
        const uint32_t head[] = {0, 16 + 40 + name_size + 16};
        const uint64_t body[] = {0, 0x1000, 0x1000, 16, i + 1};
        fwrite(head, sizeof(head), 1, file);
        fwrite(&loads[i].time, sizeof(uint64_t), 1, file);
        fwrite(body, sizeof(body), 1, file);
        fwrite(loads[i].name, name_size, 1, file);
        fwrite("0123456789abcdef", 16, 1, file);
    }
    assert_int_equal(fclose(file), 0);
}

/* The process maps that file, as the recorder saw it: `inode` 0, it could not open it. */
static void map_dump(struct scene *scene, uint32_t process, uint32_t lib, const char *path, uint64_t time)
{
    struct stat info = {.st_ino = 0};
    stat(path, &info);
    scene_add(scene, (struct spool_event){.kind = SPOOL_LIB,
                                          .number = lib,
                                          .lib = {.path = path, .device = info.st_dev, .inode = info.st_ino}});
    scene_add(
        scene,
        (struct spool_event){
            .kind = SPOOL_MAP, .number = process, .time = time, .start = 0x900000, .end = 0x901000, .lib_number = lib});
}

/* A process with number 0, and its dump. */
static void start_with_dump(struct scene *scene, const struct load *loads, size_t count)
{
    scene_start(scene);
    scene_add_process(scene, 0, SPOOL_NO_NUMBER, false, 10, SECOND);
    write_dump(dump_path(scene, 10), loads, count);
    map_dump(scene, 0, 0, dump_path(scene, 10), SECOND);
}

static void add_sample(struct scene *scene, uint32_t thread, uint64_t time)
{
    scene_add_sample(scene, thread, time, 0x1008);
}

/* What the n-th sample of a thread is called: "-" if no dump names it. */
static const char *name_of(const struct scene *scene, uint32_t thread, int n)
{
    const struct replay_frame *frame = &scene->replay.stacks.frames.data[scene_frame(scene, thread, n)];
    if (frame->lib != (uint32_t)REPLAY_LIB_DUMPED)
        return "-";
    const struct jitdump *dump = scene->replay.processes.data[frame->process].jit.dump;
    return strings_text(&dump->texts, dump->codes.data[frame->code].name);
}

static void test_an_address_has_the_name_of_its_time(void **unused)
{
    (void)unused;
    struct scene scene;
    start_with_dump(&scene, (struct load[]){{2 * SECOND, "first"}, {4 * SECOND, "second"}}, 2);
    add_sample(&scene, 0, SECOND + 1);
    add_sample(&scene, 0, 3 * SECOND);
    add_sample(&scene, 0, 3 * SECOND + 1);
    add_sample(&scene, 0, 5 * SECOND);
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    assert_string_equal(name_of(&scene, 0, 1), "first");
    assert_string_equal(name_of(&scene, 0, 2), "first");
    assert_string_equal(name_of(&scene, 0, 3), "second");
    scene_finish(&scene);
}

static void test_code_may_be_noted_a_little_after_it_runs(void **unused)
{
    (void)unused;
    struct scene scene;
    start_with_dump(&scene, (struct load[]){{2 * SECOND, "late"}}, 1);
    add_sample(&scene, 0, 2 * SECOND - SECOND / 100);
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "late");
    scene_finish(&scene);
}

static void test_times_since_the_epoch_are_understood(void **unused)
{
    (void)unused;
    struct scene scene;
    uint64_t epoch = UINT64_C(1700000000) * SECOND;
    scene_start(&scene);
    assert_int_equal(info_write_number(scene.writer, INFO_START_REALTIME, epoch, NULL), 0);
    scene_add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, SECOND);
    write_dump(dump_path(&scene, 10), (struct load[]){{epoch + 1 * SECOND, "first"}, {epoch + 3 * SECOND, "second"}},
               2);
    map_dump(&scene, 0, 0, dump_path(&scene, 10), SECOND);
    add_sample(&scene, 0, 3 * SECOND);
    add_sample(&scene, 0, 5 * SECOND);
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "first");
    assert_string_equal(name_of(&scene, 0, 1), "second");
    scene_finish(&scene);
}

static void test_a_forked_process_has_its_parent_s_code_as_it_was_then(void **unused)
{
    (void)unused;
    struct scene scene;
    start_with_dump(&scene, (struct load[]){{2 * SECOND, "first"}, {4 * SECOND, "second"}}, 2);
    scene_add_process(&scene, 1, 0, false, 11, 3 * SECOND);
    add_sample(&scene, 1, 5 * SECOND);
    add_sample(&scene, 0, 5 * SECOND);
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 1, 0), "first");
    assert_string_equal(name_of(&scene, 0, 0), "second");
    scene_finish(&scene);
}

static void test_another_file_of_that_name_is_not_used(void **unused)
{
    (void)unused;
    struct scene scene;
    char other[160];
    start_with_dump(&scene, (struct load[]){{2 * SECOND, "theirs"}}, 1);
    snprintf(other, sizeof(other), "%s/other", scene.directory);
    write_dump(other, (struct load[]){{2 * SECOND, "other"}}, 1);
    assert_int_equal(rename(other, dump_path(&scene, 10)), 0);
    add_sample(&scene, 0, 3 * SECOND);
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    scene_finish(&scene);
}

/* A container: its /tmp is kept open, and it knows itself as 7. */
static void test_files_are_where_the_process_saw_them(void **unused)
{
    (void)unused;
    struct scene scene;
    char directory[96], path[128];
    scene_start(&scene);
    snprintf(directory, sizeof(directory), "%s/container", scene.directory);
    snprintf(path, sizeof(path), "%s/jit-7.dump", directory);
    assert_int_equal(mkdir(directory, 0700), 0);
    scene_add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, SECOND);
    write_dump(dump_path(&scene, 10), (struct load[]){{2 * SECOND, "ours"}}, 1);
    write_dump(path, (struct load[]){{2 * SECOND, "inside"}}, 1);
    struct jit_files files = {.dumps = 0};
    struct jit_file place = {.pid = 7, .directory = 0, .dump = -1};
    struct jit_directory opened = {.inode = 1, .fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    assert_true(array_push(&files.files, place) && array_push(&files.directories, opened) &&
                hash_set(&files.by_process, 0, 0));
    add_sample(&scene, 0, 3 * SECOND);
    scene.replay.input.jit_files = &files;
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "inside");
    jit_files_destroy(&files);
    scene_finish(&scene);
}

static void test_a_file_that_makes_no_sense_names_nothing(void **unused)
{
    (void)unused;
    struct scene scene;
    scene_start(&scene);
    scene_add_process(&scene, 0, SPOOL_NO_NUMBER, false, 10, SECOND);
    FILE *file = fopen(dump_path(&scene, 10), "we");
    assert_non_null(file);
    assert_true(fputs("no dump", file) >= 0);
    assert_int_equal(fclose(file), 0);
    map_dump(&scene, 0, 0, dump_path(&scene, 10), SECOND);
    add_sample(&scene, 0, 3 * SECOND);
    scene_replay(&scene);
    assert_string_equal(name_of(&scene, 0, 0), "-");
    scene_finish(&scene);
}

static void test_dump_files_are_known_by_their_names(void **unused)
{
    (void)unused;
    assert_true(jit_files_is_jitdump("/tmp/jit-123.dump"));
    assert_true(jit_files_is_jitdump("/root/.debug/jit/java-jit-x/jit-1.dump"));
    assert_false(jit_files_is_jitdump("jit-123.dump"));
    assert_false(jit_files_is_jitdump("/tmp/jit-.dump"));
    assert_false(jit_files_is_jitdump("/tmp/jit-12x.dump"));
    assert_false(jit_files_is_jitdump("/tmp/jit-12.dump.so"));
    assert_false(jit_files_is_jitdump("/tmp/xjit-12.dump"));
}

static void test_a_process_like_us_has_our_places(void **unused)
{
    (void)unused;
    struct jit_files files = {.dumps = 0};
    char program[256] = "";
    struct stat info;
    assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    assert_int_equal(stat(program, &info), 0);
    const struct perf_mapping mapping = {
        .path = program, .device_major = major(info.st_dev), .device_minor = minor(info.st_dev), .inode = info.st_ino};
    assert_null(jit_files_find(&files, 3));
    assert_true(jit_files_add(&files, 3, (uint32_t)getpid(), false));
    assert_true(jit_files_open_jitdump(&files, 4, (uint32_t)getpid(), false, &mapping));
    const struct jit_file *place = jit_files_find(&files, 3);
    assert_int_equal(place->pid, getpid());
    assert_int_equal(place->directory, JIT_DIRECTORY_OURS);
    assert_int_equal(place->user, geteuid());
    assert_int_equal(place->dump, -1);
    assert_true(jit_files_find(&files, 4)->dump >= 0);
    jit_files_destroy(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_has_the_name_of_its_time),
        cmocka_unit_test(test_code_may_be_noted_a_little_after_it_runs),
        cmocka_unit_test(test_times_since_the_epoch_are_understood),
        cmocka_unit_test(test_a_forked_process_has_its_parent_s_code_as_it_was_then),
        cmocka_unit_test(test_another_file_of_that_name_is_not_used),
        cmocka_unit_test(test_files_are_where_the_process_saw_them),
        cmocka_unit_test(test_a_file_that_makes_no_sense_names_nothing),
        cmocka_unit_test(test_dump_files_are_known_by_their_names),
        cmocka_unit_test(test_a_process_like_us_has_our_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

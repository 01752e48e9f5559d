/* Marks that a program writes to its buffer or to a marker file reach the spool; invalid data does no harm. */
#include "record/mark_buffers.h"
#include "record/mark_files.h"
#include "process/tracker.h"

#include "include/prof/marks.h"
#include "support/flat_records.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static char path[64];

struct scene {
    struct mark_buffers buffers;
    struct mark_writer writer;
    struct tracker *tracker;
    struct mark_source source;
};

static bool is_never_left_out(const void *context, uint64_t time)
{
    (void)context;
    return time == 0;
}

static void start(struct scene *scene)
{
    struct error err;
    *scene = (struct scene){.buffers = MARK_BUFFERS_NONE};
    snprintf(path, sizeof(path), "/tmp/prof-marks-test-%d", (int)getpid());
    unlink(path);
    assert_int_equal(spool_writer_new(&scene->writer.spool, path, &err), 0);
    scene->tracker = tracker_new(scene->writer.spool, NULL);
    mark_buffers_make_directory(&scene->buffers);
    assert_true(scene->buffers.directory[0]);
    scene->source = (struct mark_source){
        .writer = &scene->writer, .tracker = scene->tracker, .is_time_excluded = is_never_left_out};
    setenv("PROF_MARKS", scene->buffers.directory, 1);
}

static void stop(struct scene *scene)
{
    char directory[256];
    snprintf(directory, sizeof(directory), "%s", scene->buffers.directory);
    mark_buffers_destroy(&scene->buffers);
    assert_int_equal(access(directory, F_OK), -1);
    mark_writer_destroy(&scene->writer);
    tracker_free(scene->tracker);
    unlink(path);
    /* the next test has a file of its own */
    munmap(prof_marks_state_->head, PROF_MARKS_PAGE + PROF_MARKS_ROOM);
    memset(prof_marks_state_, 0, sizeof(*prof_marks_state_));
}

static void look(struct scene *scene, uint64_t now, bool is_end)
{
    assert_int_equal(mark_buffers_read(&scene->buffers, &scene->source, now, is_end, NULL), 0);
}

/* The marks of the spool as a text: "name=text;", by kind. */
static void read_spool(struct scene *scene, char *text, size_t size, uint64_t *marks, uint64_t *lost)
{
    static const char kinds[] = ".()-#";
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    char names[8][32] = {""};
    size_t used = 0;
    *marks = *lost = 0;
    text[0] = '\0';
    assert_int_equal(spool_writer_close(scene->writer.spool, NULL), 0);
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    while (spool_reader_next(reader, &event, &sample, NULL) > 0) {
        if (event.kind == SPOOL_MARK_NAME && event.number < 8)
            snprintf(names[event.number], sizeof(names[0]), "%s", event.name);
        if (event.kind == SPOOL_MARKS_LOST)
            *lost += event.count;
        if (event.kind != SPOOL_PROGRAM_MARK)
            continue;
        ++*marks;
        assert_int_equal(event.tid, syscall(SYS_gettid));
        assert_true(event.pid == (uint32_t)getpid());
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%c%s%s%s;", kinds[event.mark], names[event.number],
                                     event.value[0] ? "=" : "", event.value);
    }
    spool_reader_close(reader);
}

static void test_marks_come_with_their_names_and_texts(void **unused)
{
    (void)unused;
    struct scene scene;
    char text[512], changing[16] = "one";
    uint64_t marks, lost;
    start(&scene);
    prof_mark("instant");
    prof_mark_begin_text("interval", changing);
    snprintf(changing, sizeof(changing), "two");
    look(&scene, prof_marks_now(), false);
    prof_mark_end("interval");
    prof_mark_span("span", "seven b", 5, 7);
    prof_counter("counter", 1.5);
    prof_mark_text("instant", "eight bytes and more of a text");
    look(&scene, prof_marks_now() + SECOND, true);
    read_spool(&scene, text, sizeof(text), &marks, &lost);
    assert_string_equal(text, ".instant;(interval=one;)interval;-span=seven b;#counter;"
                              ".instant=eight bytes and more of a text;");
    assert_int_equal(lost, 0);
    stop(&scene);
}

static void test_what_has_no_room_is_counted(void **unused)
{
    (void)unused;
    enum { COUNT = 200000 };
    struct scene scene;
    char text[16];
    uint64_t marks, lost;
    start(&scene);
    prof_mark("x");
    look(&scene, prof_marks_now(), false);
    for (int i = 0; i < COUNT; i++)
        prof_mark("x");
    look(&scene, prof_marks_now() + SECOND, false);
    for (int i = 0; i < 100; i++) /* there is room again */
        prof_mark("x");
    look(&scene, prof_marks_now() + 2 * SECOND, true);
    read_spool(&scene, text, sizeof(text), &marks, &lost);
    assert_int_equal(marks + lost, COUNT + 101);
    assert_true(marks > PROF_MARKS_ROOM / 32 && lost > 0);
    stop(&scene);
}

static void test_the_ring_goes_around(void **unused)
{
    (void)unused;
    struct scene scene;
    char text[16], long_text[200];
    uint64_t marks, lost, written = 0, now = prof_marks_now();
    start(&scene);
    memset(long_text, 'a', sizeof(long_text));
    for (int i = 0; i < 60000; i++) {
        long_text[i % 199] = '\0'; /* of each length */
        prof_mark_text("x", long_text);
        long_text[i % 199] = 'a';
        long_text[199] = '\0';
        written++;
        if (i % 5000 == 0)
            look(&scene, now += SECOND, false);
    }
    look(&scene, now + SECOND, true);
    read_spool(&scene, text, sizeof(text), &marks, &lost);
    assert_int_equal(marks, written);
    assert_int_equal(lost, 0);
    stop(&scene);
}

static void test_a_hole_is_skipped_when_it_stays(void **unused)
{
    (void)unused;
    struct scene scene;
    char text[64];
    uint64_t marks, lost, now = prof_marks_now();
    start(&scene);
    prof_mark("before");
    prof_marks_state_->head->written += 48; /* a thread that never completes its record */
    prof_mark("behind");
    look(&scene, now += SECOND, false);
    assert_int_equal(scene.writer.count, 1);
    look(&scene, now += SECOND / 2, false);
    assert_int_equal(scene.writer.count, 1);
    look(&scene, now += 2 * SECOND, false); /* the thread may just have no CPU: there is room to wait for it */
    assert_int_equal(scene.writer.count, 1);
    look(&scene, now += 10 * SECOND, false);
    assert_int_equal(scene.writer.count, 2);
    prof_marks_state_->head->written += 16;
    prof_mark("last");
    look(&scene, now + 1, true); /* the process has ended: nobody will complete it */
    read_spool(&scene, text, sizeof(text), &marks, &lost);
    assert_string_equal(text, ".before;.behind;.last;");
    assert_int_equal(lost, 1); /* that of the thread that has stopped */
    stop(&scene);
}

static void test_a_hole_is_skipped_sooner_when_there_is_no_room_to_wait(void **unused)
{
    (void)unused;
    struct scene scene;
    char text[64];
    uint64_t marks, lost, now = prof_marks_now();
    const size_t behind = PROF_MARKS_ROOM / 2 / 32 + 1;
    start(&scene);
    prof_mark("before");
    prof_marks_state_->head->written += 48;
    for (size_t i = 0; i < behind; i++)
        prof_mark("behind");
    look(&scene, now += SECOND, false);
    assert_int_equal(scene.writer.count, 1);
    look(&scene, now += 2 * SECOND, false);
    assert_int_equal(scene.writer.count, 1 + behind);
    read_spool(&scene, text, sizeof(text), &marks, &lost);
    assert_int_equal(lost, 1);
    stop(&scene);
}

/* Bytes that this process has read so far. */
static uint64_t bytes_read_so_far(void)
{
    uint64_t count = 0;
    FILE *file = fopen("/proc/self/io", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "rchar: %" SCNu64, &count), 1);
    fclose(file);
    return count;
}

static void test_a_buffer_full_of_holes_is_read_once(void **unused)
{
    (void)unused;
    struct scene scene;
    char text[64];
    uint64_t marks, lost;
    const size_t holes = 40000;
    start(&scene);
    for (size_t i = 0; i < holes; i++) {
        prof_mark("mark");
        prof_marks_state_->head->written += 8;
    }
    uint64_t before = bytes_read_so_far();
    look(&scene, prof_marks_now() + 1, true); /* the process has ended */
    assert_true(bytes_read_so_far() - before < 3 * PROF_MARKS_ROOM);
    read_spool(&scene, text, sizeof(text), &marks, &lost);
    assert_int_equal(marks, holes);
    stop(&scene);
}

static void test_nonsense_in_a_buffer_does_no_harm(void **unused)
{
    (void)unused;
    srand(1);
    for (int round = 0; round < 300; round++) {
        struct scene scene;
        uint64_t now = prof_marks_now();
        start(&scene);
        prof_mark("first");
        look(&scene, now += SECOND, false);
        struct prof_marks_head *head = prof_marks_state_->head;
        uint64_t *words = (uint64_t *)((char *)head + PROF_MARKS_PAGE), count = 1 + (uint64_t)rand() % 3000;
        uint64_t at = head->written / 8;
        for (uint64_t i = 0; i < count; i++) /* words that look like the beginning of a record, or not */
            words[(at + i) % (PROF_MARKS_ROOM / 8)] =
                rand() % 4 ? ((at + i) & UINT32_MAX) | (uint64_t)(rand() % 8) << 32 | (uint64_t)(rand() % 9) << 40 |
                                 (uint64_t)(rand() % 40) << 48
                           : (uint64_t)rand() << 33 | (uint64_t)rand();
        head->written += rand() % 10 ? 8 * count : (uint64_t)rand();
        look(&scene, now += 2 * SECOND, false);
        look(&scene, now += 2 * SECOND, false);
        look(&scene, now + SECOND, true);
        assert_int_equal(spool_writer_close(scene.writer.spool, NULL), 0);
        stop(&scene);
    }
}

static void test_a_buffer_that_becomes_shorter_is_given_up(void **unused)
{
    (void)unused;
    struct scene scene;
    start(&scene);
    prof_mark("first");
    look(&scene, prof_marks_now() + SECOND, false);
    assert_int_equal(ftruncate(scene.buffers.buffers.data[0].fd, 100), 0);
    look(&scene, prof_marks_now() + 2 * SECOND, false);
    assert_int_equal(scene.buffers.buffers.length, 0);
    assert_int_equal(spool_writer_close(scene.writer.spool, NULL), 0);
    stop(&scene);
}

static void test_a_mapped_file_that_is_no_buffer_is_not_opened_for_writing(void **unused)
{
    (void)unused;
    struct scene scene;
    struct error err;
    struct stat info;
    char name[] = "/tmp/prof-marks-XXXXXX";
    start(&scene);
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, PROF_MARKS_PAGE + PROF_MARKS_ROOM), 0);
    assert_int_equal(fstat(fd, &info), 0);
    const struct perf_mapping mapping = {.inode = info.st_ino,
                                         .device_major = major(info.st_dev),
                                         .device_minor = minor(info.st_dev),
                                         .length = PROF_MARKS_PAGE,
                                         .path = name};
    static const mode_t modes[] = {0644, 0755, 0700, 0660};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(fchmod(fd, modes[i]), 0);
        assert_int_equal(mark_buffers_open_mapping(&scene.buffers, (uint32_t)getpid(), &mapping, 1, &err), 0);
        assert_int_equal(scene.buffers.buffers.length, 0);
    }
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_int_equal(ftruncate(fd, PROF_MARKS_PAGE), 0);
    assert_int_equal(mark_buffers_open_mapping(&scene.buffers, (uint32_t)getpid(), &mapping, 1, &err), 0);
    assert_int_equal(scene.buffers.buffers.length, 0);
    assert_int_equal(ftruncate(fd, PROF_MARKS_PAGE + PROF_MARKS_ROOM), 0);
    assert_int_equal(mark_buffers_open_mapping(&scene.buffers, (uint32_t)getpid(), &mapping, 1, &err), 0);
    assert_int_equal(scene.buffers.buffers.length, 1);
    close(fd);
    unlink(name);
    prof_mark("first"); /* stop() expects one */
    assert_int_equal(spool_writer_close(scene.writer.spool, NULL), 0);
    stop(&scene);
}

static void test_names_of_marker_files(void **unused)
{
    (void)unused;
    uint32_t tid;
    assert_true(mark_files_is_marker_file("/a/marker-12.txt", &tid) && tid == 0);
    assert_true(mark_files_is_marker_file("/marker-12-34.txt", &tid) && tid == 34);
    const char *const others[] = {"marker-12.txt",
                                  "/marker-.txt",
                                  "/marker-12-.txt",
                                  "/marker-12.text",
                                  "/marker-12.txt/x",
                                  "/amarker-12.txt",
                                  "/marker-12-3x.txt",
                                  "//anon",
                                  "",
                                  "/marker-1-2-3.txt",
                                  "/marker-99999999999999999999999.txt"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(mark_files_is_marker_file(others[i], &tid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_come_with_their_names_and_texts),
        cmocka_unit_test(test_what_has_no_room_is_counted),
        cmocka_unit_test(test_the_ring_goes_around),
        cmocka_unit_test(test_a_hole_is_skipped_when_it_stays),
        cmocka_unit_test(test_a_buffer_full_of_holes_is_read_once),
        cmocka_unit_test(test_a_hole_is_skipped_sooner_when_there_is_no_room_to_wait),
        cmocka_unit_test(test_nonsense_in_a_buffer_does_no_harm),
        cmocka_unit_test(test_a_buffer_that_becomes_shorter_is_given_up),
        cmocka_unit_test(test_a_mapped_file_that_is_no_buffer_is_not_opened_for_writing),
        cmocka_unit_test(test_names_of_marker_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

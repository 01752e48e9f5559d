/*
 * The profile of a running recording: the parts that a page gets step by step equal the profile of the whole recording.
 */
#include "assemble/live_assembly.h"
#include "base/text_buffer.h"
#include "profile/append.h"
#include "file/profile_file.h"
#include "profile/read.h"
#include "spool/info.h"
#include "spool/spool.h"
#include "process/wait_reason.h"
#include "support/directory.h"
#include "support/flat_records.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { STEPS = 12, THREADS = 3 };

static char spool_path[64], output_path[64];

static int make_paths(void **state)
{
    if (make_empty_directory(state) != 0)
        return -1;
    snprintf(spool_path, sizeof(spool_path), "%s/spool", directory);
    snprintf(output_path, sizeof(output_path), "%s/profile.json", directory);
    return 0;
}

/* ---- a recording ---- */

struct recording {
    struct spool_writer *spool;
    uint64_t now; /* ns */
    uint32_t threads, random;
};

static uint32_t next_random(struct recording *recording, uint32_t below)
{
    recording->random = recording->random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)recording->random * below >> 32);
}

static void add(struct recording *recording, struct spool_event event)
{
    assert_int_equal(spool_writer_event(recording->spool, &event, NULL), 0);
}

static void start_thread(struct recording *recording)
{
    add(recording, (struct spool_event){.kind = SPOOL_THREAD,
                                        .number = recording->threads,
                                        .tid = 10 + recording->threads,
                                        .time = recording->now,
                                        .name = recording->threads ? "worker" : "main"});
    recording->threads++;
}

static void start_recording(struct recording *recording, const char *waits)
{
    *recording = (struct recording){.now = 1000 * MS, .random = 7};
    assert_int_equal(spool_writer_new(&recording->spool, spool_path, NULL), 0);
    add(recording, (struct spool_event){.kind = SPOOL_INFO, .name = INFO_INTERVAL, .value = "1000000"});
    add(recording, (struct spool_event){.kind = SPOOL_INFO, .name = INFO_OFF_CPU, .value = waits});
    add(recording, (struct spool_event){.kind = SPOOL_INFO, .name = INFO_WAKERS, .value = waits});
    add(recording, (struct spool_event){.kind = SPOOL_INFO, .name = INFO_START_MONOTONIC, .value = "1000000000"});
    add(recording, (struct spool_event){.kind = SPOOL_OBJECT, .number = 1, .name = "who wakes"});
    add(recording, (struct spool_event){.kind = SPOOL_LIB, .number = 0, .lib = {.path = "/nowhere/lib.so"}});
    add(recording,
        (struct spool_event){
            .kind = SPOOL_PROCESS, .parent = SPOOL_NO_NUMBER, .pid = 10, .time = recording->now, .name = "main"});
    add(recording, (struct spool_event){.kind = SPOOL_MAP, .time = recording->now, .start = 0x1000, .end = 0x9000});
    start_thread(recording);
}

/* Half of the samples are at places where none was before. A wait is told of in parts now and then. */
static void add_sample(struct recording *recording, bool can_wait)
{
    const uint64_t frames[] = {0x1000 + next_random(recording, 0x200), 0x2010, 0x3010};
    bool waits = can_wait && next_random(recording, 3) == 0;
    recording->now += MS;
    struct sample sample = {.thread = next_random(recording, recording->threads),
                            .time = recording->now,
                            .cpu_time = waits ? 0 : MS,
                            .frame_count = 3,
                            .frames = frames};
    if (waits) {
        sample.wait = MS;
        sample.reason = REASON_LOCK;
        sample.waker = next_random(recording, 2);
        sample.flags = next_random(recording, 2) ? SAMPLE_WAIT_GOES_ON : 0;
    }
    assert_int_equal(spool_writer_sample(recording->spool, &sample, NULL), 0);
}

/* The slice of a thread that ran for the last 4 ms, with 1 ms off the CPU. */
static void add_slice(struct recording *recording)
{
    const struct spool_slice slice = {.thread = next_random(recording, recording->threads),
                                      .time_ns = recording->now,
                                      .cpu = next_random(recording, 8),
                                      .length_ns = 4 * MS,
                                      .off_cpu_ns = MS};
    assert_int_equal(spool_write_slice(recording->spool, &slice, NULL), 0);
}

static void record_step(struct recording *recording, bool can_wait)
{
    if (recording->threads < THREADS && next_random(recording, 2))
        start_thread(recording);
    for (int i = 0; i < 400; i++) {
        add_sample(recording, can_wait);
        if (i % 8 == 0)
            add_slice(recording);
    }
    assert_int_equal(spool_writer_flush(recording->spool, NULL), 0);
}

/* ---- what a page gets ---- */

static void append_file(struct text_buffer *text, int fd, uint64_t from, uint64_t end)
{
    char block[4096];
    while (from < end) {
        ssize_t got = pread(fd, block, end - from < sizeof(block) ? end - from : sizeof(block), (off_t)from);
        assert_true(got > 0);
        assert_true(text_append(text, block, (size_t)got));
        from += (uint64_t)got;
    }
}

/* The document that the server makes of a step for a page that has what was added up to `from`. */
static void read_part(struct profile *profile, int description, const struct live_assembly *live, uint64_t from,
                      uint64_t end)
{
    struct text_buffer text = {0};
    struct error err = {0};
    char added[64];
    append_file(&text, description, 0, (uint64_t)lseek(description, 0, SEEK_END));
    text.length--;
    snprintf(added, sizeof(added), ",\"addedFrom\":%d,\"addedNext\":\"1-2\",\"added\":[", (int)from);
    assert_true(text_append_z(&text, added));
    if (end > from)
        append_file(&text, live_assembly_get_fd(live), from + 1, end);
    assert_true(text_append_z(&text, "]}"));
    struct profile_reader *reader = profile_reader_new();
    assert_non_null(reader);
    assert_int_equal(profile_reader_feed(reader, text.data, text.length, &err), 0);
    *profile = (struct profile){0};
    if (profile_reader_finish(reader, profile, &err))
        fail_msg("%s", err.text);
    profile_reader_free(reader);
    array_free(&text);
}

/* Makes the part of the next step for a page that has what was added before it, or all for one that has nothing. */
static void next_part(struct profile *part, struct live_assembly *live, uint64_t from, uint64_t *end)
{
    struct assemble_result result;
    struct error err = {0};
    assert_int_equal(live_assembly_add_step(live, &result, end, &err), 0);
    read_part(part, result.memory_fd, live, from, *end);
    close(result.memory_fd);
}

/* Adds the newest part to what the page has. */
static void grow(struct profile *page, bool *has_page, struct live_assembly *live, uint64_t *end)
{
    struct profile part;
    struct error err = {0};
    next_part(&part, live, *has_page ? *end : 0, end);
    if (*has_page) {
        if (profile_continue(&part, page, &err))
            fail_msg("%s", err.text);
        profile_destroy(page);
        if (profile_check(&part, &err))
            fail_msg("%s", err.text);
    }
    *page = part;
    *has_page = true;
}

/* ---- comparing ---- */

static const char *leaf_of(const struct profile *profile, uint32_t stack)
{
    return stack == PROFILE_NONE
               ? ""
               : profile_text(profile, profile->funcs.name[profile->frames.func[profile->stacks.frame[stack]]]);
}

static double sum_of(const double *values, size_t length)
{
    double sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += values[i];
    return sum;
}

static void assert_same_slices(const struct slice_table *grown, const struct slice_table *whole)
{
    assert_int_equal(grown->length, whole->length);
    for (size_t i = 0; i < whole->length; i++) {
        assert_int_equal(grown->cpu[i], whole->cpu[i]);
        assert_true(fabs(grown->start[i] - whole->start[i]) < 1e-6);
        assert_true(fabs(grown->end[i] - whole->end[i]) < 1e-6);
        assert_true(fabs(grown->off_cpu[i] - whole->off_cpu[i]) < 1e-6);
    }
}

static void assert_same_samples(const struct profile *grown, const struct profile *whole)
{
    assert_int_equal(grown->threads.length, whole->threads.length);
    for (size_t t = 0; t < whole->threads.length; t++) {
        const struct sample_table *left = &grown->threads.data[t].samples, *right = &whole->threads.data[t].samples;
        assert_string_equal(profile_text(grown, grown->threads.data[t].tid),
                            profile_text(whole, whole->threads.data[t].tid));
        assert_int_equal(left->length, right->length);
        assert_int_equal(left->weight != NULL, right->weight != NULL);
        assert_int_equal(left->waker != NULL, right->waker != NULL);
        for (size_t i = 0; i < right->length; i++) {
            assert_string_equal(leaf_of(grown, left->stack[i]), leaf_of(whole, right->stack[i]));
            assert_true(left->time[i] - right->time[i] < 0.011 && right->time[i] - left->time[i] < 0.011);
            if (left->waker)
                assert_string_equal(profile_text(grown, left->waker[i]), profile_text(whole, right->waker[i]));
        }
        assert_same_slices(&grown->threads.data[t].slices, &whole->threads.data[t].slices);
        assert_true(whole->threads.data[t].slices.length > 0);
        double cpu = sum_of(left->cpu_delta, left->length) - sum_of(right->cpu_delta, right->length);
        assert_true(cpu < 1000 && cpu > -1000); /* us */
    }
}

static void check_growth(const char *waits)
{
    struct recording recording;
    struct stable_numbers numbers = {0};
    struct assemble_options options = {.threads = 1, .numbers = &numbers};
    struct assemble_result result;
    struct profile page, late, whole = {0};
    struct error err = {0};
    uint64_t end = 0;
    bool has_page = false;
    start_recording(&recording, waits);
    struct live_assembly *live = live_assembly_new(spool_path, &options);
    assert_non_null(live);
    for (int step = 0; step < STEPS; step++) {
        record_step(&recording, *waits == '1');
        grow(&page, &has_page, live, &end);
    }
    /* at the end a thread ran: nothing is left to be said of it */
    for (int i = 0; i < 50; i++)
        add_sample(&recording, false);
    assert_int_equal(spool_writer_flush(recording.spool, NULL), 0);
    uint64_t before = end;
    grow(&page, &has_page, live, &end);
    assert_true(end - before < end / 4); /* a part has what is new, not all */

    assert_int_equal(live_assembly_add_step(live, &result, &end, &err), 0);
    read_part(&late, result.memory_fd, live, 0, end);
    close(result.memory_fd);
    assert_same_samples(&page, &late);

    options.numbers = NULL;
    assert_int_equal(assemble_recording(spool_path, output_path, &options, &result, &err), 0);
    assert_int_equal(profile_load(output_path, &whole, &err), 0);
    assert_same_samples(&page, &whole);

    profile_destroy(&page);
    profile_destroy(&late);
    profile_destroy(&whole);
    live_assembly_free(live);
    stable_numbers_destroy(&numbers);
    assert_int_equal(spool_writer_close(recording.spool, NULL), 0);
    unlink(spool_path);
}

static void test_parts_add_up_to_the_whole(void **state)
{
    (void)state;
    check_growth("0");
}

static void test_parts_add_up_to_the_whole_where_waits_go_on(void **state)
{
    (void)state;
    check_growth("1");
}

static void test_a_part_of_stacks_has_the_new_ones_alone_and_follows_no_other_part(void **state)
{
    (void)state;
    struct recording recording;
    struct stable_numbers numbers = {0};
    const struct assemble_options options = {.threads = 1, .numbers = &numbers};
    struct profile page, second, third, again;
    struct error err = {0};
    uint64_t end = 0;
    start_recording(&recording, "0");
    struct live_assembly *live = live_assembly_new(spool_path, &options);
    assert_non_null(live);
    record_step(&recording, false);
    next_part(&page, live, 0, &end);
    size_t stacks = page.stacks.length;
    uint64_t first_end = end;
    record_step(&recording, false);
    next_part(&second, live, end, &end);
    assert_int_equal(second.meta.rows_before.stacks, stacks);
    assert_true(second.stacks.length > 0 && second.stacks.length < stacks);
    record_step(&recording, false);
    next_part(&third, live, end, &end);

    assert_int_equal(profile_continue(&third, &page, &err), -EINVAL);
    assert_int_equal(page.stacks.length, stacks);
    assert_true(page.threads.data[0].samples.length > 0);
    assert_int_equal(profile_continue(&second, &page, &err), 0);
    assert_int_equal(profile_continue(&third, &second, &err), 0);
    next_part(&again, live, end, &end); /* nothing is new */
    assert_int_equal(profile_continue(&again, &third, &err), 0);
    assert_int_equal(profile_check(&again, &err), 0);
    assert_true(first_end < end && again.stacks.length > stacks);

    struct profile *all[] = {&page, &second, &third, &again};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        profile_destroy(all[i]);
    live_assembly_free(live);
    stable_numbers_destroy(&numbers);
    assert_int_equal(spool_writer_close(recording.spool, NULL), 0);
    unlink(spool_path);
}

/* Samples at `count` places of a JIT compiler's code that had none before. */
static void add_jit_samples(struct recording *recording, uint32_t thread, int count)
{
    static uint64_t newest = 0x100000;
    for (int i = 0; i < count; i++) {
        uint64_t frame = newest += 0x10;
        recording->now += MS;
        struct sample sample = {
            .thread = thread, .time = recording->now, .cpu_time = MS, .frame_count = 1, .frames = &frame};
        assert_int_equal(spool_writer_sample(recording->spool, &sample, NULL), 0);
    }
    assert_int_equal(spool_writer_flush(recording->spool, NULL), 0);
}

static void test_code_without_a_name_begins_nothing_anew_before_a_file_may_name_it(void **state)
{
    (void)state;
    enum { PID = 4200000 }; /* more than any pid of Linux */
    static const char map_path[] = "/tmp/perf-4200000.map";
    struct recording recording;
    struct stable_numbers numbers = {0};
    const struct assemble_options options = {.threads = 1, .numbers = &numbers};
    struct profile part;
    uint64_t end = 0;
    start_recording(&recording, "0");
    add(&recording, (struct spool_event){.kind = SPOOL_INFO, .name = INFO_START_REALTIME, .value = "1000000000"});
    add(&recording, (struct spool_event){.kind = SPOOL_PROCESS,
                                         .number = 1,
                                         .parent = SPOOL_NO_NUMBER,
                                         .pid = PID,
                                         .time = recording.now,
                                         .name = "compiler"});
    add(&recording, (struct spool_event){.kind = SPOOL_MAP,
                                         .number = 1,
                                         .time = recording.now,
                                         .start = 0x100000,
                                         .end = 0x200000,
                                         .lib_number = SPOOL_NO_NUMBER});
    uint32_t thread = recording.threads++;
    add(&recording, (struct spool_event){.kind = SPOOL_THREAD,
                                         .number = thread,
                                         .process = 1,
                                         .tid = PID,
                                         .time = recording.now,
                                         .name = "compiler"});
    struct live_assembly *live = live_assembly_new(spool_path, &options);
    assert_non_null(live);
    add_jit_samples(&recording, thread, 5);
    next_part(&part, live, 0, &end);
    profile_destroy(&part);
    assert_false(live_assembly_is_outdated(live));
    add_jit_samples(&recording, thread, 5);
    next_part(&part, live, end, &end);
    profile_destroy(&part);
    assert_false(live_assembly_is_outdated(live)); /* more code, and nothing that names it */

    FILE *map = fopen(map_path, "we");
    assert_non_null(map);
    assert_true(fputs("100000 1000 compiled\n", map) >= 0);
    assert_int_equal(fclose(map), 0);
    assert_true(live_assembly_is_outdated(live));
    unlink(map_path);

    live_assembly_free(live);
    stable_numbers_destroy(&numbers);
    assert_int_equal(spool_writer_close(recording.spool, NULL), 0);
    unlink(spool_path);
}

/* ---- rows ---- */

static struct sample_table rows_of(size_t count, double first_time)
{
    struct sample_table rows = {
        .stack = calloc(count, sizeof(*rows.stack)), .time = calloc(count, sizeof(*rows.time)), .length = count};
    for (size_t i = 0; i < count; i++) {
        rows.stack[i] = (uint32_t)i;
        rows.time[i] = first_time + (double)i;
    }
    return rows;
}

static void test_rows_take_the_place_of_preliminary_ones_and_never_go_back_in_time(void **state)
{
    (void)state;
    struct sample_table table = rows_of(10, 0), rows = rows_of(20, 7.5);
    assert_int_equal(sample_table_append(&table, 9, &rows, NULL), 0);
    assert_int_equal(table.length, 29);
    assert_true(table.time[8] == 8 && table.time[9] == 8 && table.time[10] == 8.5);
    assert_null(rows.stack);
    sample_table_free(&table);
}

static struct slice_table slice_of(double start, double end, double off_cpu)
{
    struct slice_table slices = {malloc(sizeof(uint32_t)), malloc(sizeof(double)), malloc(sizeof(double)),
                                 malloc(sizeof(double)), .length = 1};
    assert_true(slices.cpu && slices.start && slices.end && slices.off_cpu);
    slices.cpu[0] = 3;
    slices.start[0] = start;
    slices.end[0] = end;
    slices.off_cpu[0] = off_cpu;
    return slices;
}

static void test_slices_follow_the_earlier_and_never_go_back_in_time(void **state)
{
    (void)state;
    struct slice_table table = {0}, first = slice_of(10, 20, 2), back = slice_of(5, 12, 4), next = slice_of(15, 30, 1);
    assert_int_equal(slice_table_append(&table, &first, NULL), 0);
    assert_int_equal(slice_table_append(&table, &back, NULL), 0);
    assert_int_equal(slice_table_append(&table, &next, NULL), 0);
    assert_int_equal(table.length, 3);
    assert_true(table.start[1] == 10 && table.end[1] == 12 && table.off_cpu[1] == 2);
    assert_true(table.start[2] == 15 && table.end[2] == 30 && table.off_cpu[2] == 1 && table.cpu[2] == 3);
    assert_null(next.cpu);
    slice_table_free(&table);
}

static void test_new_rows_leave_no_column_of_another_length(void **state)
{
    (void)state;
    struct sample_table table = rows_of(1, 0), rows = rows_of(20, 0);
    table.address = calloc(1, sizeof(*table.address));
    assert_int_equal(sample_table_append(&table, 0, &rows, NULL), 0);
    assert_int_equal(table.length, 20);
    assert_null(table.address);
    sample_table_free(&table);
}

static void test_missing_rows_and_missing_columns_are_errors(void **state)
{
    (void)state;
    struct error err = {0};
    struct sample_table table = rows_of(10, 0), rows = rows_of(20, 10);
    assert_int_equal(sample_table_append(&table, 11, &rows, &err), -EINVAL);
    rows.weight = calloc(20, sizeof(*rows.weight));
    assert_int_equal(sample_table_append(&table, 10, &rows, &err), -EINVAL);
    assert_int_equal(table.length, 10);
    sample_table_free(&table);
    sample_table_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_add_up_to_the_whole),
        cmocka_unit_test(test_parts_add_up_to_the_whole_where_waits_go_on),
        cmocka_unit_test(test_code_without_a_name_begins_nothing_anew_before_a_file_may_name_it),
        cmocka_unit_test(test_a_part_of_stacks_has_the_new_ones_alone_and_follows_no_other_part),
        cmocka_unit_test(test_rows_take_the_place_of_preliminary_ones_and_never_go_back_in_time),
        cmocka_unit_test(test_slices_follow_the_earlier_and_never_go_back_in_time),
        cmocka_unit_test(test_new_rows_leave_no_column_of_another_length),
        cmocka_unit_test(test_missing_rows_and_missing_columns_are_errors),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_directory);
}

/* The windows of a running recording add up to the profile of the whole: row by row, and in on-CPU and off-CPU time
 * of each thread. */
#include "assemble/assemble.h"
#include "file/profile_file.h"
#include "spool/info.h"
#include "process/wait_reason.h"
#include "support/directory.h"
#include "tree/weights.h"
#include "support/flat_records.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { THREADS = 3 };

static void add(struct spool_writer *spool, struct spool_event event)
{
    assert_int_equal(spool_writer_event(spool, &event, NULL), 0);
}

static void info(struct spool_writer *spool, const char *name, const char *value)
{
    add(spool, (struct spool_event){.kind = SPOOL_INFO, .name = name, .value = value});
}

static void begin(struct spool_writer *spool)
{
    info(spool, INFO_START_MONOTONIC, "1000000");
    info(spool, INFO_START_REALTIME, "1795692636000000000");
    info(spool, INFO_INTERVAL, "1000000");
    info(spool, INFO_OFF_CPU, "1");
    add(spool, (struct spool_event){
                   .kind = SPOOL_PROCESS, .parent = SPOOL_NO_NUMBER, .pid = 10, .time = 1 * MS, .name = "process"});
    for (uint32_t i = 0; i < THREADS; i++)
        add(spool, (struct spool_event){
                       .kind = SPOOL_THREAD, .number = i, .tid = 10 + i, .time = (1 + i) * MS, .name = "thread"});
    add(spool,
        (struct spool_event){.kind = SPOOL_SIGNAL, .pid = 10, .tid = 10, .time = 2 * MS, .number = 10, .name = ""});
}

/* What one thread does in `ms` from `start` on: it runs, then waits; the last thread waits all the time, in parts. */
static uint64_t live(struct spool_writer *spool, uint32_t thread, uint64_t start, uint64_t runs, uint64_t waits)
{
    const uint64_t frames[] = {0x1010 + thread};
    struct sample sample = {.thread = thread, .frame_count = 1, .frames = frames};
    for (uint64_t i = 1; i <= runs; i++) {
        sample.time = start + i * MS;
        sample.cpu_time = 9 * MS / 10;
        assert_int_equal(spool_writer_sample(spool, &sample, NULL), 0);
    }
    sample.time = start + (runs + waits) * MS;
    sample.wait = waits * MS - MS / 4;
    sample.cpu_time = MS / 4;
    sample.reason = REASON_SLEEP;
    sample.flags = runs ? 0 : SAMPLE_WAIT_GOES_ON;
    sample.cpu_time = runs ? sample.cpu_time : 0;
    sample.wait = runs ? sample.wait : waits * MS;
    if (waits)
        assert_int_equal(spool_writer_sample(spool, &sample, NULL), 0);
    return sample.time;
}

struct sums {
    size_t run_rows, wait_rows, markers;
    double cpu, off_cpu; /* ms */
};

static void add_rows(struct sums *sums, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->threads.length; i++) {
        const struct sample_table *samples = &profile->threads.data[i].samples;
        const struct thread_gaps gaps = find_sample_gaps(profile, i);
        const struct wait_rows waits = get_wait_rows(profile, i);
        sums->markers += profile->threads.data[i].markers.length;
        for (size_t row = 0; row < samples->length; row++) {
            sums->wait_rows += is_wait_row(&waits, row);
            sums->run_rows += !is_wait_row(&waits, row);
        }
        for (size_t gap = 0; gap <= samples->length; gap++) {
            struct gap_time time = measure_gap_in(&gaps, gap, whole_time);
            sums->cpu += time.cpu;
            sums->off_cpu += time.wait;
        }
    }
}

static void assemble(struct recording_window *window, struct sums *sums)
{
    struct assemble_options options = {.threads = 1, .window = window};
    struct assemble_result result;
    struct profile profile;
    struct error err = {""};
    if (assemble_recording(in_directory("spool"), NULL, &options, &result, &err))
        fail_msg("%s", err.text);
    profile_init(&profile);
    assert_int_equal(profile_load_fd(result.memory_fd, NULL, &profile, &err), 0);
    close(result.memory_fd);
    add_rows(sums, &profile);
    profile_destroy(&profile);
}

/* As for a window that found no room. */
static void assemble_and_go_back(struct recording_window *window)
{
    struct recording_window before;
    struct sums ignored = {0};
    assert_int_equal(recording_window_copy(&before, window, NULL), 0);
    assemble(window, &ignored);
    recording_window_destroy(window);
    *window = before;
}

/* A recording of 20 parts; a window after each that has bit `i` of `cuts`. */
static void check_windows(unsigned cuts, const struct spool_bounds *bounds)
{
    enum { PARTS = 20 };
    struct spool_writer *spool;
    struct recording_window window = {0};
    struct sums windows = {0}, whole = {0};
    uint64_t at[THREADS] = {1 * MS, 2 * MS, 3 * MS};
    size_t count = 1;
    assert_int_equal(spool_writer_new_bounded(&spool, in_directory("spool"), bounds, NULL), 0);
    begin(spool);
    for (unsigned part = 0; part < PARTS; part++) {
        at[0] = live(spool, 0, at[0], 5 + part % 3, 7);
        at[1] = live(spool, 1, at[1], part % 4 == 3 ? 0 : 3, part % 4 == 3 ? 0 : 9);
        at[2] = live(spool, 2, at[2], part == 0, 12);
        assert_int_equal(spool_writer_flush(spool, NULL), 0);
        if (cuts >> part & 1) {
            if (part % 3)
                assemble_and_go_back(&window);
            assemble(&window, &windows);
            count++;
        }
    }
    for (uint32_t i = 0; i < THREADS; i++) /* a recorder writes at its end what threads wait for then */
        live(spool, i, at[i], 0, 400 - at[i] / MS);
    assert_int_equal(spool_writer_close(spool, NULL), 0);
    window.is_last = true;
    assemble(&window, &windows);
    recording_window_destroy(&window);
    assemble(NULL, &whole);
    unlink(in_directory("spool"));

    assert_int_equal(windows.run_rows, whole.run_rows);
    assert_int_equal(windows.markers, 0); /* nobody is sent any */
    assert_int_not_equal(whole.markers, 0);
    /* a wait that goes on over the end of a window is one of both */
    assert_in_range(windows.wait_rows, whole.wait_rows, whole.wait_rows + 2 * count * THREADS);
    if (fabs(windows.cpu - whole.cpu) > 0.02 * (double)count ||
        fabs(windows.off_cpu - whole.off_cpu) > 0.02 * (double)count)
        fail_msg("cuts %x: %.3f and %.3f ms, wanted %.3f and %.3f", cuts, windows.cpu, windows.off_cpu, whole.cpu,
                 whole.off_cpu);
}

static void test_windows_add_up_to_the_whole(void **state)
{
    static const unsigned cuts[] = {0, 1, 0xfffff, 0x55555, 0x10000, 0x80000, 0x12345, 0xf000f};
    (void)state;
    for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
        check_windows(cuts[i], &(struct spool_bounds){0});
        check_windows(cuts[i], &(struct spool_bounds){.bytes = 4 << 20});
    }
}

static void map(struct spool_writer *spool, uint32_t lib, uint64_t time)
{
    static const char *const names[] = {"/no/early", "/no/late"};
    add(spool,
        (struct spool_event){.kind = SPOOL_LIB, .number = lib, .lib = {.kind = SPOOL_LIB_FILE, .path = names[lib]}});
    add(spool,
        (struct spool_event){.kind = SPOOL_MAP, .time = time, .start = 0x1000, .end = 0x2000, .lib_number = lib});
}

/* What is mapped at 8 s is in the spool before a sample of 6 s, as the recorder writes samples later. */
static void test_samples_of_a_window_have_the_mappings_of_their_time(void **state)
{
    (void)state;
    struct spool_writer *spool;
    struct recording_window window = {0};
    struct assemble_options options = {.threads = 1, .window = &window};
    struct assemble_result result;
    struct profile profile;
    assert_int_equal(spool_writer_new(&spool, in_directory("spool"), NULL), 0);
    begin(spool);
    map(spool, 0, 2 * MS);
    live(spool, 0, 3 * MS, 5, 0);
    assert_int_equal(spool_writer_flush(spool, NULL), 0);
    assemble(&window, &(struct sums){0});
    map(spool, 1, 8000 * MS);
    add(spool, (struct spool_event){.kind = SPOOL_NAME, .number = 1, .time = 9000 * MS, .name = "renamed"});
    live(spool, 0, 6000 * MS, 5, 0);
    assert_int_equal(spool_writer_close(spool, NULL), 0);
    window.is_last = true;
    assert_int_equal(assemble_recording(in_directory("spool"), NULL, &options, &result, NULL), 0);
    profile_init(&profile);
    assert_int_equal(profile_load_fd(result.memory_fd, NULL, &profile, NULL), 0);
    close(result.memory_fd);
    assert_int_equal(result.samples, 5);
    assert_int_not_equal(strings_find(&profile.strings, "early", strlen("early")), STRING_NONE);
    assert_int_equal(strings_find(&profile.strings, "late", strlen("late")), STRING_NONE);
    profile_destroy(&profile);
    recording_window_destroy(&window);
    unlink(in_directory("spool"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_add_up_to_the_whole),
        cmocka_unit_test(test_samples_of_a_window_have_the_mappings_of_their_time),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}

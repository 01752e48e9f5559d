/* Replaying a recording puts each address into the library that was mapped there at that time. */
#include "assemble/replay.h"
#include "assemble/replay_names.h"
#include "sample/event_list.h"

#include "spool/info.h"
#include "process/wait_reason.h"
#include "support/flat_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

struct recording {
    struct spool_writer *writer;
    struct replay replay;
};

static void start(struct recording *recording)
{
    snprintf(path, sizeof(path), "/tmp/prof-replay-%d", (int)getpid());
    unlink(path);
    *recording = (struct recording){0};
    assert_int_equal(spool_writer_new(&recording->writer, path, NULL), 0);
}

static void add(struct recording *recording, struct spool_event event)
{
    assert_int_equal(spool_writer_event(recording->writer, &event, NULL), 0);
}

static void add_sample(struct recording *recording, uint32_t thread, uint64_t time, uint32_t flags, uint32_t count,
                       const uint64_t *frames)
{
    struct sample sample = {.thread = thread, .time = time, .flags = flags, .frame_count = count, .frames = frames};
    assert_int_equal(spool_writer_sample(recording->writer, &sample, NULL), 0);
}

static void replay_it(struct recording *recording)
{
    assert_int_equal(spool_writer_close(recording->writer, NULL), 0);
    assert_int_equal(replay_spool(&recording->replay, path, NULL), 0);
    unlink(path);
}

static void add_lib(struct recording *recording, uint32_t number, const char *name)
{
    add(recording, (struct spool_event){.kind = SPOOL_LIB, .number = number, .lib = {.path = name}});
}

static void add_process(struct recording *recording, uint32_t number, uint32_t parent, bool exec, uint32_t pid,
                        uint64_t time)
{
    add(recording, (struct spool_event){.kind = SPOOL_PROCESS,
                                        .number = number,
                                        .parent = parent,
                                        .exec = exec,
                                        .pid = pid,
                                        .time = time,
                                        .name = "process"});
    add(recording,
        (struct spool_event){
            .kind = SPOOL_THREAD, .number = number, .process = number, .tid = pid, .time = time, .name = "main"});
}

static void add_map(struct recording *recording, uint32_t process, uint64_t time, uint64_t from, uint64_t to,
                    uint32_t lib)
{
    add(recording, (struct spool_event){.kind = SPOOL_MAP,
                                        .number = process,
                                        .time = time,
                                        .start = from,
                                        .end = to,
                                        .rva = 0x100,
                                        .lib_number = lib});
}

/* The stack of a thread's n-th sample as "lib+address" from the leaf out, for comparison. */
static const char *stack_text(const struct replay *replay, uint32_t thread, int n)
{
    static char text[1024];
    struct sample_cursor cursor = {0};
    struct stored_sample sample;
    assert_int_equal(sample_cursor_start(&cursor, replay->samples.store, thread, NULL), 0);
    for (int i = 0; i <= n; i++)
        assert_int_equal(sample_cursor_next(&cursor, &sample, NULL), 1);
    sample_cursor_destroy(&cursor);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t stack = sample.stack; stack != REPLAY_NONE; stack = replay->stacks.items.data[stack].prefix) {
        const struct replay_frame *frame = &replay->stacks.frames.data[replay->stacks.items.data[stack].frame];
        const char *lib = frame->lib < replay->libs.items.length           ? replay->libs.items.data[frame->lib].path
                          : frame->lib == (uint32_t)REPLAY_LIB_ANONYMOUS   ? "anonymous"
                          : frame->lib == (uint32_t)REPLAY_LIB_TRUNCATED   ? "truncated"
                          : frame->lib == (uint32_t)REPLAY_LIB_UNMAPPED    ? "nothing"
                          : frame->lib == (uint32_t)REPLAY_LIB_NOT_SAMPLED ? "not sampled"
                                                                           : "kernel?";
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s+%llx", used ? " " : "", lib,
                                 (unsigned long long)frame->address);
    }
    return text;
}

static void test_an_address_belongs_to_what_was_mapped_at_that_time(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "old.so");
    add_lib(&recording, 1, "new.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    uint64_t frames[] = {0x1010};
    add_sample(&recording, 0, 5, 0, 1, frames);
    add_map(&recording, 0, 10, 0x1000, 0x2000, 1); /* in the file before both samples: events are written first */
    add_sample(&recording, 0, 15, 0, 1, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "old.so+110");
    assert_string_equal(stack_text(&recording.replay, 0, 1), "new.so+110");
    replay_destroy(&recording.replay);
}

static void test_a_forked_child_has_the_mappings_of_its_parent(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_lib(&recording, 1, "b.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    add_process(&recording, 1, 0, false, 11, 5);
    add_map(&recording, 0, 6, 0x3000, 0x4000, 1); /* after the fork: the parent's alone */
    uint64_t frames[] = {0x3004, 0x1008};
    add_sample(&recording, 0, 7, 0, 2, frames);
    add_sample(&recording, 1, 8, 0, 2, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "b.so+104 a.so+108");
    assert_string_equal(stack_text(&recording.replay, 1, 0), "nothing+3004 a.so+108");
    assert_int_equal(recording.replay.processes.data[1].instance, 0);
    replay_destroy(&recording.replay);
}

static void test_exec_starts_with_no_mappings_and_a_new_instance(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    add_process(&recording, 1, 0, true, 10, 5);
    add_process(&recording, 2, 1, true, 10, 6);
    uint64_t frames[] = {0x1008};
    add_sample(&recording, 2, 8, 0, 1, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 2, 0), "nothing+1008");
    assert_int_equal(recording.replay.processes.data[1].instance, 1);
    assert_int_equal(recording.replay.processes.data[2].instance, 2);
    replay_destroy(&recording.replay);
}

/* The recorder reads the mappings of a process itself while records of earlier times are still in the rings. */
static void test_a_later_mapping_does_not_delay_a_process(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 9, 0x1000, 0x2000, 0);
    add_process(&recording, 1, 0, true, 10, 5);
    uint64_t frames[] = {0x1008};
    add_sample(&recording, 1, 8, 0, 1, frames);
    replay_it(&recording);
    assert_int_equal(recording.replay.samples.without_thread, 0);
    assert_string_equal(stack_text(&recording.replay, 1, 0), "nothing+1008");
    replay_destroy(&recording.replay);
}

/* The clocks of two CPUs may differ by some ns. */
static void test_a_mapping_follows_its_process_in_spite_of_an_earlier_time(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 5);
    add_map(&recording, 0, 4, 0x1000, 0x2000, 0);
    uint64_t frames[] = {0x1008};
    add_sample(&recording, 0, 8, 0, 1, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "a.so+108");
    replay_destroy(&recording.replay);
}

static void test_a_cut_stack_has_the_mark_as_its_root(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    uint64_t frames[] = {0x1010, 0x1020};
    add_sample(&recording, 0, 3, 0, 2, frames);
    add_sample(&recording, 0, 4, SAMPLE_TRUNCATED, 2, frames);
    add_sample(&recording, 0, 5, SAMPLE_TRUNCATED, 2, frames);
    add_sample(&recording, 0, 6, 0, 2, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "a.so+110 a.so+120");
    assert_string_equal(stack_text(&recording.replay, 0, 1), "a.so+110 a.so+120 truncated+0");
    assert_string_equal(stack_text(&recording.replay, 0, 2), "a.so+110 a.so+120 truncated+0");
    assert_string_equal(stack_text(&recording.replay, 0, 3), "a.so+110 a.so+120");
    assert_int_equal(recording.replay.threads.data[0].truncated, 2);
    replay_destroy(&recording.replay);
}

static void test_kernel_addresses_are_the_same_in_every_process(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "[kernel.kallsyms]");
    add(&recording, (struct spool_event){.kind = SPOOL_MAP,
                                         .number = SPOOL_NO_NUMBER,
                                         .start = UINT64_C(0xffffffff81000000),
                                         .end = UINT64_C(0xffffffff82000000),
                                         .lib_number = 0});
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    uint64_t frames[] = {UINT64_C(0xffffffff81000040), UINT64_C(0xffffffffc0000000), 0x5000};
    add_sample(&recording, 0, 3, 0, 3, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0),
                        "[kernel.kallsyms]+40 kernel?+ffffffffc0000000 nothing+5000");
    replay_destroy(&recording.replay);
}

static void test_code_that_the_kernel_makes_and_drops_has_each_name_in_its_time(void **unused)
{
    (void)unused;
    struct recording recording;
    const uint64_t start_of_code = UINT64_C(0xffffffffc0001000);
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    for (uint32_t i = 0; i < 2; i++)
        add(&recording, (struct spool_event){.kind = SPOOL_LIB,
                                             .number = i,
                                             .lib = {.kind = SPOOL_LIB_KERNEL_CODE, .path = i ? "second" : "first"}});
    const uint32_t libs[] = {0, SPOOL_NO_NUMBER, 1};
    for (uint32_t i = 0; i < 3; i++)
        add(&recording, (struct spool_event){.kind = SPOOL_MAP,
                                             .number = SPOOL_NO_NUMBER,
                                             .time = 10 * (i + 1),
                                             .start = start_of_code,
                                             .end = start_of_code + 0x100,
                                             .lib_number = libs[i]});
    uint64_t frames[] = {start_of_code + 0x40};
    for (uint64_t time = 5; time < 40; time += 10)
        add_sample(&recording, 0, time, 0, 1, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "kernel?+ffffffffc0001040");
    assert_string_equal(stack_text(&recording.replay, 0, 1), "first+40");
    assert_string_equal(stack_text(&recording.replay, 0, 2), "kernel?+ffffffffc0001040");
    assert_string_equal(stack_text(&recording.replay, 0, 3), "second+40");
    replay_destroy(&recording.replay);
}

static void test_equal_stacks_have_one_number(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    for (uint32_t process = 0; process < 2; process++) {
        add_process(&recording, process, SPOOL_NO_NUMBER, false, 10 + process, 1);
        add_map(&recording, process, 2, 0x1000 + process * 0x100000, 0x2000 + process * 0x100000, 0);
    }
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t process = i % 2;
        uint64_t at = 0x1000 + process * 0x100000, frames[] = {at + i % 10, at + 0x20, at + 0x30};
        add_sample(&recording, process, 3 + i, 0, 3, frames);
    }
    replay_it(&recording);
    assert_int_equal(recording.replay.stacks.frames.length, 12);
    assert_int_equal(recording.replay.stacks.items.length, 12);
    assert_int_equal(recording.replay.samples.count, 1000);
    replay_destroy(&recording.replay);
}

static void test_an_ended_process_frees_its_mappings(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    uint64_t frames[] = {0x1010};
    add_sample(&recording, 0, 3, 0, 1, frames);
    add(&recording, (struct spool_event){.kind = SPOOL_THREAD_END, .number = 0, .time = 9});
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "a.so+110");
    assert_int_equal(recording.replay.processes.data[0].end, 9);
    assert_int_equal(recording.replay.processes.data[0].space.count, 0);
    replay_destroy(&recording.replay);
}

static void test_a_short_life_between_two_others_keeps_its_samples(void **unused)
{
    (void)unused;
    /* In the file all events come first: the end of process 1 and the start of process 2 are read before the sample. */
    struct recording recording;
    start(&recording);
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    add_process(&recording, 1, 0, false, 11, 5);
    uint64_t frames[] = {0x1010};
    add_sample(&recording, 1, 6, 0, 1, frames);
    add(&recording, (struct spool_event){.kind = SPOOL_THREAD_END, .number = 1, .time = 7});
    add_process(&recording, 2, 0, false, 12, 8);
    add_sample(&recording, 2, 9, 0, 1, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 1, 0), "a.so+110");
    assert_string_equal(stack_text(&recording.replay, 2, 0), "a.so+110");
    replay_destroy(&recording.replay);
}

static void test_references_to_lost_events_are_counted_not_followed(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    uint64_t frames[] = {0x1010};
    add_sample(&recording, 77, 3, 0, 1, frames);
    add_map(&recording, 5, 2, 0x1000, 0x2000, 9);
    add(&recording, (struct spool_event){.kind = SPOOL_THREAD_END, .number = 12, .time = 9});
    add(&recording, (struct spool_event){.kind = SPOOL_THREAD, .number = 3, .process = 99, .tid = 4, .name = "x"});
    add(&recording, (struct spool_event){.kind = SPOOL_NAME, .number = 3, .name = "y"});
    replay_it(&recording);
    assert_int_equal(recording.replay.samples.count, 0);
    assert_int_equal(recording.replay.samples.without_thread, 1);
    assert_int_equal(recording.replay.spool.damaged_blocks, 0);
    replay_destroy(&recording.replay);
}

static void test_times_of_a_damaged_spool_do_not_run_backwards(void **unused)
{
    (void)unused;
    struct recording recording;
    struct sample_cursor cursor = {0};
    struct stored_sample first, second;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    uint64_t frames[] = {0x1010};
    add_sample(&recording, 0, UINT64_C(1) << 61, 0, 1, frames);
    add_sample(&recording, 0, UINT64_MAX, 0, 1, frames);
    replay_it(&recording);
    assert_int_equal(sample_cursor_start(&cursor, recording.replay.samples.store, 0, NULL), 0);
    assert_int_equal(sample_cursor_next(&cursor, &first, NULL), 1);
    assert_int_equal(sample_cursor_next(&cursor, &second, NULL), 1);
    assert_true(first.time == STORED_TIME_MAX && second.time == STORED_TIME_MAX);
    sample_cursor_destroy(&cursor);
    replay_destroy(&recording.replay);
}

static void test_a_library_whose_event_is_lost_is_not_looked_into(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_lib(&recording, 2, "c.so"); /* those of 0 and 1 were in a damaged block */
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 1);
    add_map(&recording, 0, 2, 0x2000, 0x3000, 2);
    uint64_t frames[] = {0x1010, 0x2010};
    add_sample(&recording, 0, 3, 0, 2, frames);
    replay_it(&recording);
    assert_string_equal(stack_text(&recording.replay, 0, 0), "anonymous+1010 c.so+110");
    replay_destroy(&recording.replay);
}

static void test_a_damaged_number_takes_no_memory_and_loses_nothing_else(void **unused)
{
    (void)unused;
    enum { DAMAGED = 5000000 };
    struct recording recording;
    start(&recording);
    uint64_t frame = 0x1010;
    add_lib(&recording, 0, "a.so");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_map(&recording, 0, 2, 0x1000, 0x2000, 0);
    add_lib(&recording, DAMAGED, "b.so");
    add_process(&recording, DAMAGED, SPOOL_NO_NUMBER, false, 11, 2); /* and its thread */
    add_sample(&recording, 0, 3, 0, 1, &frame);
    replay_it(&recording);
    assert_int_equal(recording.replay.spool.damaged_blocks, 3);
    assert_true(recording.replay.processes.capacity + recording.replay.threads.capacity +
                    recording.replay.libs.items.capacity <
                1000);
    assert_int_equal(recording.replay.samples.count, 1);
    replay_destroy(&recording.replay);
}

/* ---- CPU time without samples ---- */

#define MS UINT64_C(1000000)

static void add_number(struct recording *recording, const char *name, const char *value)
{
    add(recording, (struct spool_event){.kind = SPOOL_INFO, .name = name, .value = value});
}

static void end_thread(struct recording *recording, uint32_t number, uint64_t time)
{
    add(recording, (struct spool_event){.kind = SPOOL_THREAD_END, .number = number, .time = time});
}

static uint64_t cpu_time_of_all(const struct replay *replay)
{
    uint64_t sum = 0;
    for (uint32_t thread = 0; thread < replay->threads.length; thread++) {
        struct sample_cursor cursor = {0};
        struct stored_sample sample;
        assert_int_equal(sample_cursor_start(&cursor, replay->samples.store, thread, NULL), 0);
        while (sample_cursor_next(&cursor, &sample, NULL) == 1)
            sum += (uint64_t)stored_sample_get_cpu_time(&sample) * SAMPLE_CPU_UNIT;
        sample_cursor_destroy(&cursor);
    }
    return sum;
}

/* A parent with one sample, and 1,000 children of which each used 0.25 ms and was gone before its first sample. */
static void record_short_children(struct recording *recording, const char *cpu_time)
{
    start(recording);
    add_number(recording, "interval", "1000000");
    add_process(recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    uint64_t frames[] = {0x1000};
    struct sample sample = {.time = 2 * MS, .cpu_time = 2 * MS, .frame_count = 1, .frames = frames};
    assert_int_equal(spool_writer_sample(recording->writer, &sample, NULL), 0);
    for (uint32_t i = 1; i <= 1000; i++) {
        add_process(recording, i, 0, false, 10 + i, (2 + i) * MS);
        end_thread(recording, i, (2 + i) * MS + MS / 4);
    }
    end_thread(recording, 0, 2 * MS);
    if (cpu_time)
        add_number(recording, "cpu_time", cpu_time);
    replay_it(recording);
}

static void test_threads_that_end_before_their_first_sample_get_their_cpu_time(void **unused)
{
    (void)unused;
    struct recording recording;
    record_short_children(&recording, "252000000");
    const struct replay *replay = &recording.replay;
    assert_int_equal(cpu_time_of_all(replay), 252 * MS);
    assert_int_equal(replay->cpu_time.covered, 2 * MS);
    assert_int_equal(replay->samples.count, 1);
    assert_int_equal(replay->cpu_time.unsampled, 250);
    assert_int_equal(replay->threads.data[1].cpu_time.unsampled, 250); /* all in the row of the first of them */
    assert_int_equal(replay->threads.data[1].threads_in_row, 1000);
    assert_string_equal(stack_text(replay, 1, 0), "not sampled+0");
    replay_destroy(&recording.replay);
}

static void test_nothing_is_added_where_the_cpu_time_is_not_known(void **unused)
{
    (void)unused;
    struct recording recording;
    record_short_children(&recording, NULL);
    assert_int_equal(recording.replay.cpu_time.unsampled, 0);
    replay_destroy(&recording.replay);
}

static void test_a_cpu_time_that_cannot_be_adds_few_samples(void **unused)
{
    (void)unused;
    struct recording recording;
    record_short_children(&recording, "18446744073709551615");
    assert_in_range(recording.replay.cpu_time.unsampled, 1, 64 * 1001);
    replay_destroy(&recording.replay);
}

static void test_the_rest_of_a_period_is_the_threads_whose_it_was(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_number(&recording, "interval", "1000000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    add_process(&recording, 1, 0, true, 10, 5 * MS / 10); /* an exec: the counter goes on */
    uint64_t frames[] = {0x1000};
    for (uint64_t i = 1; i <= 3; i++) {
        struct sample sample = {.thread = 1, .time = i * MS, .cpu_time = MS, .frame_count = 1, .frames = frames};
        assert_int_equal(spool_writer_sample(recording.writer, &sample, NULL), 0);
    }
    end_thread(&recording, 1, 3 * MS + 7 * MS / 10);
    add_number(&recording, "cpu_time", "3700000");
    replay_it(&recording);
    assert_int_equal(cpu_time_of_all(&recording.replay), 3700000);
    assert_int_equal(recording.replay.threads.data[0].cpu_time.unsampled, 0);
    assert_int_equal(recording.replay.threads.data[1].cpu_time.unsampled, 1);
    assert_string_equal(stack_text(&recording.replay, 1, 3), "not sampled+0");
    replay_destroy(&recording.replay);
}

static void test_what_counters_have_too_much_is_taken_off_samples_of_more_than_a_period(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_number(&recording, "interval", "1000000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    uint64_t frames[] = {0x1000};
    for (uint64_t i = 1; i <= 10; i++) {
        struct sample sample = {.time = 2 * i * MS, .cpu_time = MS, .frame_count = 1, .frames = frames};
        sample.cpu_time += i % 2 ? MS / 2 : 0;
        assert_int_equal(spool_writer_sample(recording.writer, &sample, NULL), 0);
    }
    add_number(&recording, "cpu_time", "10500000"); /* of 12.5 ms in the samples, 2.5 of them beyond a period */
    replay_it(&recording);
    assert_float_equal(recording.replay.cpu_time.excess_removed, 0.8, 1e-9);
    assert_int_equal(recording.replay.cpu_time.covered, 10500000);
    assert_int_equal(recording.replay.cpu_time.unsampled, 0);
    replay_destroy(&recording.replay);
}

/* ---- waits ---- */

static void add_wait(struct recording *recording, uint64_t start, uint64_t end, uint32_t reason, uint32_t object,
                     uint32_t flags)
{
    static const uint64_t frames[] = {0x1004, 0x1008};
    struct sample sample = {.time = end,
                            .cpu_time = 300000,
                            .wait = end - start,
                            .reason = reason,
                            .object = object,
                            .flags = flags,
                            .frame_count = 2,
                            .frames = frames};
    assert_int_equal(spool_writer_sample(recording->writer, &sample, NULL), 0);
}

static struct stored_sample find_sample_at(const struct replay *replay, int n)
{
    struct sample_cursor cursor = {0};
    struct stored_sample sample;
    assert_int_equal(sample_cursor_start(&cursor, replay->samples.store, 0, NULL), 0);
    for (int i = 0; i <= n; i++)
        assert_int_equal(sample_cursor_next(&cursor, &sample, NULL), 1);
    sample_cursor_destroy(&cursor);
    return sample;
}

/* The row without a stack before it has the CPU time up to it. */
static void test_a_wait_is_two_samples_below_what_it_waited_for(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add(&recording, (struct spool_event){.kind = SPOOL_OBJECT, .number = 1, .name = "lock 0x10"});
    add_wait(&recording, 5000000, 9000000, REASON_LOCK, 1, 0);
    replay_it(&recording);
    const struct replay *replay = &recording.replay;
    struct stored_sample before = find_sample_at(replay, 0), first = find_sample_at(replay, 1),
                         second = find_sample_at(replay, 2);
    assert_int_equal(sample_store_count(replay->samples.store, 0), 3);
    assert_true(before.time == 5000000 && before.kind == STORED_CPU && before.stack == REPLAY_NONE);
    assert_int_equal(stored_sample_get_cpu_time(&before) * SAMPLE_CPU_UNIT, 300000);
    assert_true(first.time == 5000000 && second.time == 9000000);
    assert_true(stored_sample_is_wait(&first) && second.kind == STORED_WAIT_END && first.stack == second.stack);
    assert_int_equal(first.kind, STORED_WAIT_BEGIN);
    assert_int_equal(second.waker, 0);
    const struct replay_frame *leaf = &replay->stacks.frames.data[replay->stacks.items.data[first.stack].frame];
    assert_int_equal(leaf->lib, (uint32_t)REPLAY_LIB_WAIT);
    assert_int_equal(replay_decode_wait_reason(leaf->address), REASON_LOCK);
    assert_string_equal(replay_get_object(replay, replay_decode_wait_object(leaf->address)), "lock 0x10");
    assert_int_equal(replay->samples.count, 0);
    assert_int_equal(replay->samples.waits, 1);
    replay_destroy(&recording.replay);
}

static void test_the_parts_of_a_long_wait_are_one(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add_wait(&recording, 5000000, 9000000, REASON_SLEEP, 0, 0);
    add_wait(&recording, 9000000, 20000000, REASON_SLEEP, 0, SAMPLE_WAIT_GOES_ON);
    add_wait(&recording, 21000000, 30000000, REASON_SLEEP, 0, 0);
    replay_it(&recording);
    assert_int_equal(sample_store_count(recording.replay.samples.store, 0), 6);
    assert_true(find_sample_at(&recording.replay, 2).time == 20000000);
    assert_int_equal(recording.replay.samples.waits, 2);
    replay_destroy(&recording.replay);
}

/* No place is left for the sum of two waits after the second, which is in the spool. */
static void test_a_sum_of_unseen_waits_is_at_the_last_of_them(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    const struct spool_wait unseen = {.time_ns = 9000000,
                                      .cpu_time_ns = 300000,
                                      .wait_ns = 4000000,
                                      .reason = REASON_UNSEEN,
                                      .flags = SAMPLE_WITHOUT_WEIGHT};
    const struct spool_wait sum = {
        .time_ns = 9000000, .wait_ns = 4000000, .unseen_ns = 3000000, .reason = REASON_SLEEP};
    assert_int_equal(spool_write_wait(recording.writer, &unseen, NULL), 0);
    assert_int_equal(spool_write_wait(recording.writer, &sum, NULL), 0);
    assert_int_equal(spool_write_wait(recording.writer, &sum, NULL), 0); /* at no place */
    replay_it(&recording);
    struct stored_sample first = find_sample_at(&recording.replay, 1), second = find_sample_at(&recording.replay, 2);
    assert_true(first.time == 5000000 && second.time == 9000000 && first.stack == second.stack);
    assert_true(second.kind == STORED_WAIT_END && first.unseen * SAMPLE_CPU_UNIT == 3000000);
    first = find_sample_at(&recording.replay, 4), second = find_sample_at(&recording.replay, 5);
    assert_true(first.time == 9000000 && second.time == 9000000 && first.unseen * SAMPLE_CPU_UNIT == 7000000);
    replay_destroy(&recording.replay);
}

/* The stack of a waker belongs to the next wait of the woken thread only. */
static void test_who_ended_a_wait_is_known_at_its_end(void **unused)
{
    (void)unused;
    static const uint64_t frames[] = {0x1004};
    struct recording recording;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add(&recording, (struct spool_event){.kind = SPOOL_OBJECT, .number = 1, .name = "lock 0x10"});
    add(&recording, (struct spool_event){.kind = SPOOL_OBJECT, .number = 2, .name = "worker (7)"});
    add_wait(&recording, 5000000, 9000000, REASON_LOCK, 0, 0);
    const struct spool_waker_stack waker_stack = {.time_ns = 20000000, .frames = {frames, 1}};
    struct sample rest = {.time = 20000000,
                          .wait = 11000000,
                          .reason = REASON_LOCK,
                          .waker = 2,
                          .flags = SAMPLE_WAIT_GOES_ON,
                          .frame_count = 1,
                          .frames = frames};
    assert_int_equal(spool_write_waker_stack(recording.writer, &waker_stack, NULL), 0);
    assert_int_equal(spool_writer_sample(recording.writer, &rest, NULL), 0); /* with another stack */
    rest.time += rest.wait;
    assert_int_equal(spool_writer_sample(recording.writer, &rest, NULL), 0);
    replay_it(&recording);
    const struct replay_waker *wakers = recording.replay.wakers.all.data;
    assert_int_equal(recording.replay.wakers.all.length, 2);
    assert_true(wakers[0].stack != REPLAY_NONE && wakers[1].stack == REPLAY_NONE);
    assert_string_equal(replay_get_object(&recording.replay, wakers[0].object), "worker (7)");
    assert_int_equal(wakers[1].object, wakers[0].object);
    struct stored_sample first = find_sample_at(&recording.replay, 2), start = find_sample_at(&recording.replay, 3),
                         end = find_sample_at(&recording.replay, 4);
    assert_true(first.kind == STORED_WAIT_END && first.waker == 0);
    assert_true(start.kind == STORED_WAIT_BEGIN);
    assert_true(end.kind == STORED_WAIT_END && end.waker == 2); /* the part that goes on has its own waker */
    replay_destroy(&recording.replay);
}

static void test_an_object_that_is_not_known_has_no_name(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add(&recording, (struct spool_event){.kind = SPOOL_OBJECT, .number = 0, .name = "no number"});
    add(&recording, (struct spool_event){.kind = SPOOL_OBJECT, .number = UINT32_MAX, .name = "a damaged one"});
    add_wait(&recording, 5000000, 9000000, 77, 5, 0);
    replay_it(&recording);
    const struct replay *replay = &recording.replay;
    uint64_t address =
        replay->stacks.frames.data[replay->stacks.items.data[find_sample_at(replay, 1).stack].frame].address;
    assert_int_equal(replay_decode_wait_reason(address), REASON_UNKNOWN);
    assert_null(replay_get_object(replay, replay_decode_wait_object(address)));
    assert_int_equal(replay->spool.damaged_blocks, 2);
    replay_destroy(&recording.replay);
}

static void test_a_sample_of_an_impossible_event_is_damage(void **unused)
{
    (void)unused;
    static const uint64_t frames[] = {0x1004};
    struct recording recording;
    struct spool_event_sample sample = {.time_ns = 5000000, .frames = {frames, 1}};
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    for (sample.event = 0; sample.event <= EVENTS_MAX + 1; sample.event += EVENTS_MAX + 1)
        assert_int_equal(spool_write_event_sample(recording.writer, &sample, NULL), 0);
    replay_it(&recording);
    assert_int_equal(recording.replay.spool.damaged_blocks, 2);
    replay_destroy(&recording.replay);
}

static void test_where_waits_are_known_each_thread_has_its_own_rest(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_number(&recording, INFO_INTERVAL, "1000000");
    add_number(&recording, INFO_OFF_CPU, "1");
    add_number(&recording, INFO_CPU_TIME, "4000000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add_process(&recording, 1, SPOOL_NO_NUMBER, false, 101, 1000);
    add(&recording,
        (struct spool_event){.kind = SPOOL_UNSAMPLED_THREAD, .number = 1, .time = 50000000, .count = 4000000});
    end_thread(&recording, 0, 60000000);
    end_thread(&recording, 1, 60000000);
    replay_it(&recording);
    assert_int_equal(sample_store_count(recording.replay.samples.store, 0), 0);
    assert_int_equal(sample_store_count(recording.replay.samples.store, 1), 4);
    assert_true(recording.replay.processes.data[1].scale <= 1);
    replay_destroy(&recording.replay);
}

/* Short processes on a busy machine: they share one row, in which the preemptions of only one are shown. */
static void test_cpu_time_before_a_preemption_that_is_not_shown_is_not_lost(void **unused)
{
    (void)unused;
    enum { PROCESSES = 4 };
    struct recording recording;
    start(&recording);
    add_number(&recording, INFO_INTERVAL, "1000000");
    add_number(&recording, INFO_OFF_CPU, "1");
    add_number(&recording, INFO_CPU_TIME, "4000000");
    for (uint32_t i = 0; i < PROCESSES; i++)
        add_process(&recording, i, SPOOL_NO_NUMBER, false, 100 + i, 1000);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        uint64_t end = (20 + i) * MS;
        struct sample wait = {
            .thread = i, .time = end - MS, .cpu_time = 3 * MS / 10, .wait = 10 * MS, .reason = REASON_RUNNABLE};
        assert_int_equal(spool_writer_sample(recording.writer, &wait, NULL), 0);
        add(&recording,
            (struct spool_event){.kind = SPOOL_UNSAMPLED_THREAD, .number = i, .time = end, .count = 7 * MS / 10});
        end_thread(&recording, i, end);
    }
    replay_it(&recording);
    struct sample_cursor cursor = {0};
    struct stored_sample sample;
    uint64_t shown = 0;
    assert_int_equal(sample_cursor_start(&cursor, recording.replay.samples.store, 0, NULL), 0);
    while (sample_cursor_next(&cursor, &sample, NULL) == 1)
        shown += (uint64_t)stored_sample_get_cpu_time(&sample) * SAMPLE_CPU_UNIT;
    sample_cursor_destroy(&cursor);
    assert_int_equal(shown, 4 * MS);
    assert_int_equal(recording.replay.threads.data[0].threads_in_row, PROCESSES);
    assert_int_equal(recording.replay.cpu_time.covered, 0);
    replay_destroy(&recording.replay);
}

static void begin_with_switches(struct recording *recording, const char *cpu_time)
{
    start(recording);
    add_number(recording, INFO_INTERVAL, "1000000");
    add_number(recording, INFO_SWITCHES, "1");
    add_number(recording, INFO_OFF_CPU, "1");
    add_number(recording, INFO_CPU_TIME, cpu_time);
}

static void add_run(struct recording *recording, uint32_t thread, uint64_t time, uint64_t cpu_time)
{
    static const uint64_t frames[] = {0x1000};
    struct sample sample = {.thread = thread, .time = time, .cpu_time = cpu_time, .frame_count = 1, .frames = frames};
    assert_int_equal(spool_writer_sample(recording->writer, &sample, NULL), 0);
}

static void test_a_thread_that_waits_at_the_end_has_the_time_before_as_not_sampled(void **unused)
{
    (void)unused;
    struct recording recording;
    begin_with_switches(&recording, "1600000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add_run(&recording, 0, 3 * MS, MS);
    add_wait(&recording, 5 * MS, 9 * MS, REASON_SLEEP, 0, 0);
    add_wait(&recording, 10 * MS, 19 * MS, REASON_SLEEP, 0, 0);
    replay_it(&recording);
    const struct replay *replay = &recording.replay;
    assert_int_equal(cpu_time_of_all(replay), 16 * MS / 10);
    assert_int_equal(replay->cpu_time.covered, MS);
    assert_string_equal(stack_text(replay, 0, 7), "not sampled+0");
    assert_int_equal(find_sample_at(replay, 7).cpu_time,
                     0); /* the rows before the waits have it; this one has the weight */
    assert_int_equal(sample_store_count(replay->samples.store, 0), 8);
    replay_destroy(&recording.replay);
}

/* The spool of a recorder that was killed: the kernel's count is missing. */
static void test_without_the_count_of_the_kernel_threads_without_samples_keep_their_time(void **unused)
{
    (void)unused;
    enum { CHILDREN = 100 };
    struct recording recording;
    begin_with_switches(&recording, "0");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add_run(&recording, 0, 3 * MS, MS);
    for (uint32_t i = 1; i <= CHILDREN; i++) {
        uint64_t end = (3 + i) * MS;
        add_process(&recording, i, 0, false, 100 + i, end - MS);
        add(&recording,
            (struct spool_event){.kind = SPOOL_UNSAMPLED_THREAD, .number = i, .time = end, .count = 3 * MS / 10});
        end_thread(&recording, i, end);
    }
    replay_it(&recording);
    const struct replay *replay = &recording.replay;
    assert_int_equal(cpu_time_of_all(replay), MS + CHILDREN * (3 * MS / 10));
    assert_int_equal(replay->threads.data[1].threads_in_row, CHILDREN);
    replay_destroy(&recording.replay);
}

static void test_what_threads_ran_before_exec_is_not_lost(void **unused)
{
    (void)unused;
    enum { EXECS = 5 };
    struct recording recording;
    begin_with_switches(&recording, "5500000");
    for (uint32_t i = 0; i < EXECS; i++) {
        uint64_t end = (2 + i) * MS;
        add_process(&recording, i, i ? i - 1 : SPOOL_NO_NUMBER, i > 0, 100, end - MS);
        struct sample wait = {
            .thread = i, .time = end - MS / 4, .cpu_time = MS / 4, .wait = MS / 4, .reason = REASON_RUNNABLE};
        assert_int_equal(spool_writer_sample(recording.writer, &wait, NULL), 0);
        add(&recording,
            (struct spool_event){.kind = SPOOL_UNSAMPLED_THREAD, .number = i, .time = end, .count = 3 * MS / 4});
        end_thread(&recording, i, end);
    }
    replay_it(&recording);
    uint64_t shown = 0;
    for (size_t i = 0; i < EXECS; i++)
        shown += recording.replay.threads.data[i].cpu_time.unsampled;
    assert_int_equal(shown, recording.replay.threads.data[0].cpu_time.unsampled); /* all in one row */
    assert_int_equal(recording.replay.threads.data[0].threads_in_row, EXECS);
    assert_in_range(cpu_time_of_all(&recording.replay) - (EXECS - 1) * MS / 4, 55 * MS / 10 - 2000, 55 * MS / 10);
    replay_destroy(&recording.replay);
}

/* Two processes of which the kernel counted more than their switches show, and one that ended. */
static void record_unseen(struct recording *recording, const char *cpu_time, uint64_t unseen)
{
    begin_with_switches(recording, cpu_time);
    for (uint32_t i = 0; i < 3; i++)
        add_process(recording, i, SPOOL_NO_NUMBER, false, 100 + i, 1000);
    for (uint64_t at = 2; at < 6; at++)
        for (uint32_t i = 0; i < 3; i++)
            add_run(recording, i, at * 2 * MS + i, MS);
    add(recording,
        (struct spool_event){.kind = SPOOL_UNSAMPLED_PROCESS, .number = 1, .time = 20 * MS, .count = unseen});
    end_thread(recording, 0, 20 * MS);
    add_number(recording, INFO_END_MONOTONIC, "20000000");
    replay_it(recording);
}

static void test_time_of_switching_makes_the_samples_of_its_process_longer(void **unused)
{
    (void)unused;
    struct recording recording;
    record_unseen(&recording, "13900000", MS); /* 12 ms in samples, 0.1 after an end, 1 of process 1, and 0.8 more */
    const struct replay *replay = &recording.replay;
    assert_float_equal(replay->processes.data[0].scale, 1.1, 1e-9);
    assert_float_equal(replay->processes.data[1].scale, 1.25, 1e-9);
    assert_float_equal(replay->processes.data[2].scale, 1.1, 1e-9);
    assert_int_equal(sample_store_count(replay->samples.store, 0), 5);
    assert_in_range(find_sample_at(replay, 4).cpu_time * 1.1 * SAMPLE_CPU_UNIT, MS / 10 - 2000, MS / 10 + 2000);
    assert_int_equal(replay->threads.data[1].cpu_time.unsampled, 0);
    assert_in_range(replay->cpu_time.covered, 138 * MS / 10 - 2000, 138 * MS / 10 + 2000);
    replay_destroy(&recording.replay);
}

static void test_what_is_too_much_for_switching_is_not_sampled(void **unused)
{
    (void)unused;
    struct recording recording;
    record_unseen(&recording, "22100000", 10 * MS);
    const struct replay *replay = &recording.replay;
    assert_in_range(cpu_time_of_all(replay), 221 * MS / 10 - 2000, 221 * MS / 10);
    assert_int_equal(replay->cpu_time.covered, 12 * MS);
    assert_int_equal(replay->threads.data[1].cpu_time.unsampled, 10);
    assert_int_equal(replay->threads.data[2].cpu_time.unsampled, 0);
    replay_destroy(&recording.replay);
}

static void test_time_that_the_kernel_did_not_count_is_taken_off_all_samples(void **unused)
{
    (void)unused;
    struct recording recording;
    begin_with_switches(&recording, "1600000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add_run(&recording, 0, 3 * MS, MS);
    add_run(&recording, 0, 4 * MS, MS);
    replay_it(&recording);
    assert_float_equal(recording.replay.processes.data[0].scale, 0.8, 1e-9);
    assert_int_equal(recording.replay.cpu_time.covered, 16 * MS / 10);
    assert_int_equal(recording.replay.cpu_time.unsampled, 0);
    replay_destroy(&recording.replay);
}

/* On a busy machine the recorder may write more tens of ms later. */
static void test_what_the_recorder_notes_after_the_recording_makes_no_thread_last_longer(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add(&recording, (struct spool_event){.kind = SPOOL_WORK, .time = 20 * MS, .end = 30 * MS, .name = "Flush"});
    replay_it(&recording);
    assert_true(replay_get_stop(&recording.replay) == recording.replay.range.last);
    replay_destroy(&recording.replay);
    start(&recording);
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 100, 1000);
    add(&recording, (struct spool_event){.kind = SPOOL_WORK, .time = 20 * MS, .end = 30 * MS, .name = "Flush"});
    add_number(&recording, INFO_END_MONOTONIC, "10000000");
    replay_it(&recording);
    assert_true(recording.replay.range.last >= 20 * MS);
    assert_true(replay_get_stop(&recording.replay) == 10 * MS);
    replay_destroy(&recording.replay);
}

static void test_a_rest_below_half_a_period_counts_for_the_last_sample(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_number(&recording, "interval", "1000000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    uint64_t frames[] = {0x1000};
    struct sample sample = {.time = MS, .cpu_time = MS, .frame_count = 1, .frames = frames};
    assert_int_equal(spool_writer_sample(recording.writer, &sample, NULL), 0);
    end_thread(&recording, 0, 3 * MS / 2);
    add_number(&recording, "cpu_time", "1300000");
    replay_it(&recording);
    assert_int_equal(cpu_time_of_all(&recording.replay), 1300000);
    assert_int_equal(recording.replay.cpu_time.unsampled, 0);
    replay_destroy(&recording.replay);
}

/* The end of a wait has a waker, and no CPU time. */
static void test_a_rest_after_a_wait_has_a_sample_and_the_wait_keeps_its_waker(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    add_number(&recording, "interval", "1000000");
    add_process(&recording, 0, SPOOL_NO_NUMBER, false, 10, 1);
    uint64_t frames[] = {0x1000};
    struct sample sample = {.time = MS, .cpu_time = MS, .frame_count = 1, .frames = frames};
    assert_int_equal(spool_writer_sample(recording.writer, &sample, NULL), 0);
    struct sample wait = {.time = 9 * MS, .wait = 7 * MS, .reason = REASON_LOCK, .frame_count = 1, .frames = frames};
    assert_int_equal(spool_writer_sample(recording.writer, &wait, NULL), 0);
    end_thread(&recording, 0, 10 * MS);
    add_number(&recording, "cpu_time", "1300000");
    replay_it(&recording);
    struct stored_sample end = find_sample_at(&recording.replay, 2);
    assert_true(end.kind == STORED_WAIT_END && end.waker == 0);
    assert_int_equal(cpu_time_of_all(&recording.replay), 1300000);
    replay_destroy(&recording.replay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_belongs_to_what_was_mapped_at_that_time),
        cmocka_unit_test(test_a_forked_child_has_the_mappings_of_its_parent),
        cmocka_unit_test(test_exec_starts_with_no_mappings_and_a_new_instance),
        cmocka_unit_test(test_a_later_mapping_does_not_delay_a_process),
        cmocka_unit_test(test_a_mapping_follows_its_process_in_spite_of_an_earlier_time),
        cmocka_unit_test(test_a_cut_stack_has_the_mark_as_its_root),
        cmocka_unit_test(test_kernel_addresses_are_the_same_in_every_process),
        cmocka_unit_test(test_code_that_the_kernel_makes_and_drops_has_each_name_in_its_time),
        cmocka_unit_test(test_equal_stacks_have_one_number),
        cmocka_unit_test(test_a_damaged_number_takes_no_memory_and_loses_nothing_else),
        cmocka_unit_test(test_an_ended_process_frees_its_mappings),
        cmocka_unit_test(test_a_short_life_between_two_others_keeps_its_samples),
        cmocka_unit_test(test_references_to_lost_events_are_counted_not_followed),
        cmocka_unit_test(test_times_of_a_damaged_spool_do_not_run_backwards),
        cmocka_unit_test(test_a_library_whose_event_is_lost_is_not_looked_into),
        cmocka_unit_test(test_threads_that_end_before_their_first_sample_get_their_cpu_time),
        cmocka_unit_test(test_nothing_is_added_where_the_cpu_time_is_not_known),
        cmocka_unit_test(test_a_cpu_time_that_cannot_be_adds_few_samples),
        cmocka_unit_test(test_the_rest_of_a_period_is_the_threads_whose_it_was),
        cmocka_unit_test(test_what_counters_have_too_much_is_taken_off_samples_of_more_than_a_period),
        cmocka_unit_test(test_what_the_recorder_notes_after_the_recording_makes_no_thread_last_longer),
        cmocka_unit_test(test_a_rest_below_half_a_period_counts_for_the_last_sample),
        cmocka_unit_test(test_a_rest_after_a_wait_has_a_sample_and_the_wait_keeps_its_waker),
        cmocka_unit_test(test_a_wait_is_two_samples_below_what_it_waited_for),
        cmocka_unit_test(test_the_parts_of_a_long_wait_are_one),
        cmocka_unit_test(test_a_sum_of_unseen_waits_is_at_the_last_of_them),
        cmocka_unit_test(test_who_ended_a_wait_is_known_at_its_end),
        cmocka_unit_test(test_an_object_that_is_not_known_has_no_name),
        cmocka_unit_test(test_a_sample_of_an_impossible_event_is_damage),
        cmocka_unit_test(test_where_waits_are_known_each_thread_has_its_own_rest),
        cmocka_unit_test(test_without_the_count_of_the_kernel_threads_without_samples_keep_their_time),
        cmocka_unit_test(test_cpu_time_before_a_preemption_that_is_not_shown_is_not_lost),
        cmocka_unit_test(test_a_thread_that_waits_at_the_end_has_the_time_before_as_not_sampled),
        cmocka_unit_test(test_what_threads_ran_before_exec_is_not_lost),
        cmocka_unit_test(test_time_of_switching_makes_the_samples_of_its_process_longer),
        cmocka_unit_test(test_what_is_too_much_for_switching_is_not_sampled),
        cmocka_unit_test(test_time_that_the_kernel_did_not_count_is_taken_off_all_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

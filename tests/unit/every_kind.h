/* One record of each kind, with a value of its own in each field. */
#pragma once

#include "spool/counter_kinds.h"
#include "spool/spool.h"

static const unsigned char every_kind_build_id[] = {0x12, 0x34, 0x56, 0x00, 0x9a};
static const unsigned char every_kind_image[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

static const uint64_t every_kind_frames[] = {0xffffffff81000010, 0x1100, 0x1200};
static const uint64_t every_kind_values[COUNTER_KINDS] = {21, 22, 23, 24, 25, 26, COUNTER_UNKNOWN, 28, 29, 30, 31, 32};

static const struct spool_record every_record[] = {
    {SPOOL_INFO, .metadata = {"recorder", "prof 0.1.0"}},
    {SPOOL_PROCESS,
     .process = {.process = 0, .parent = SPOOL_NO_NUMBER, .pid = 4711, .time_ns = 1001, .name = "sleep"}},
    {SPOOL_PROCESS,
     .process = {.process = 1, .parent = 0, .exec = true, .pid = 4711, .time_ns = 1002, .name = "a\"b\n\xff"}},
    {SPOOL_THREAD, .thread = {.thread = 2, .process = 1, .tid = 4712, .time_ns = 1003, .name = "worker"}},
    {SPOOL_NAME, .thread_name = {.thread = 2, .time_ns = 1004, .name = "idler"}},
    {SPOOL_THREAD_END, .thread_end = {.thread = 2, .time_ns = 1005}},
    {SPOOL_LIB, .library = {.library = 3,
                            .library_kind = SPOOL_LIB_FILE,
                            .path = "/bin/sleep",
                            .build_id = {every_kind_build_id, sizeof(every_kind_build_id)},
                            .device = 10,
                            .inode = 11,
                            .size_bytes = 12,
                            .mtime_ns = 13}},
    {SPOOL_LIB, .library = {.library = 4,
                            .library_kind = SPOOL_LIB_VDSO,
                            .path = "[vdso]",
                            .image_bytes = {every_kind_image, sizeof(every_kind_image)}}},
    {SPOOL_MAP, .mapping = {.process = 1, .time_ns = 1006, .start = 0x1000, .end = 0x2000, .rva = 0x400, .library = 3}},
    {SPOOL_MAP,
     .mapping = {.process = SPOOL_NO_NUMBER, .time_ns = 1007, .end = UINT64_MAX, .library = SPOOL_NO_NUMBER}},
    {SPOOL_LOST, .lost = {.time_ns = 1008, .start_ns = 1007, .cpu = 5, .count = 17}},
    {SPOOL_PAUSED, .paused = {.time_ns = 1009}},
    {SPOOL_RESUMED, .resumed = {.time_ns = 1010}},
    {SPOOL_MARK, .user_mark = {.time_ns = 1011, .text = "here"}},
    {SPOOL_RUN, .run = {.time_ns = 1012, .run = 2}},
    {SPOOL_UNSAMPLED_THREAD, .unsampled_thread_time = {.thread = 2, .time_ns = 1013, .cpu_time_ns = 170}},
    {SPOOL_OBJECT, .object = {.object = 6, .name = "lock 0x10"}},
    {SPOOL_MARK_NAME, .mark_name = {.mark_name = 7, .name = "load"}},
    {SPOOL_PROGRAM_MARK,
     .program_mark = {.mark = SPOOL_MARK_INSTANT, .mark_name = 7, .pid = 1, .tid = 2, .time_ns = 1014, .text = ""}},
    {SPOOL_PROGRAM_MARK,
     .program_mark = {.mark = SPOOL_MARK_BEGIN, .mark_name = 7, .pid = 1, .tid = 3, .time_ns = 1015, .text = ""}},
    {SPOOL_PROGRAM_MARK,
     .program_mark = {.mark = SPOOL_MARK_END, .mark_name = 7, .pid = 1, .tid = 3, .time_ns = 1016, .text = ""}},
    {SPOOL_PROGRAM_MARK, .program_mark = {.mark = SPOOL_MARK_SPAN,
                                          .mark_name = 7,
                                          .pid = 1,
                                          .tid = 4,
                                          .time_ns = 1017,
                                          .end_ns = 1018,
                                          .text = "x.png"}},
    {SPOOL_PROGRAM_MARK,
     .program_mark =
         {.mark = SPOOL_MARK_COUNTER, .mark_name = 7, .pid = 1, .tid = 5, .time_ns = 1019, .value = 1.5, .text = ""}},
    {SPOOL_MARKS_LOST, .marks_lost = {.pid = 4711, .start_ns = 1020, .time_ns = 1021, .count = 3}},
    {SPOOL_COMMAND, .command_line = {.process = 1, .command = "sleep '1 m'"}},
    {SPOOL_EXIT, .process_exit = {.pid = 4711, .time_ns = 1022, .status = 256}},
    {SPOOL_WORK, .recorder_work = {.time_ns = 1023, .end_ns = 1024, .name = "snapshot"}},
    {SPOOL_PYTHON_FUNCTION, .python_function = {.function = 8, .name = "f", .file = "f.py", .line = 9}},
    {SPOOL_SIGNAL, .signal = {.pid = 4711, .tid = 4712, .time_ns = 1025, .signal = 11, .sender = "sh (1)"}},
    {SPOOL_OOM_KILL, .oom_kill = {.pid = 4711, .time_ns = 1026, .count = 1}},
    {SPOOL_UNSAMPLED_PROCESS, .unsampled_process_time = {.process = 1, .time_ns = 1027, .cpu_time_ns = 33}},

    {SPOOL_SAMPLE, .sample = {.thread = 2,
                              .cpu = 1,
                              .time_ns = 2001,
                              .cpu_time_ns = 900,
                              .kernel_frames = 1,
                              .frames = {every_kind_frames, 3}}},
    {SPOOL_WAIT, .wait = {.thread = 2,
                          .cpu = 2,
                          .time_ns = 2002,
                          .cpu_time_ns = 5,
                          .wait_ns = 700,
                          .unseen_ns = 70000,
                          .reason = 1,
                          .object = 6,
                          .waker = 4,
                          .goes_on = true,
                          .flags = SAMPLE_TRUNCATED,
                          .frames = {every_kind_frames + 1, 2}}},
    {SPOOL_EVENT_SAMPLE,
     .event_sample = {.thread = 2, .cpu = 2, .time_ns = 2003, .event = 1, .period = 64, .flags = SAMPLE_WITHOUT_CFI}},
    {SPOOL_WAKER_STACK, .waker_stack = {.thread = 2,
                                        .cpu = 1,
                                        .time_ns = 2004,
                                        .woken = 3,
                                        .flags = SAMPLE_TRUNCATED,
                                        .frames = {every_kind_frames, 2}}},
    {SPOOL_COUNTERS,
     .counters =
         {.of = 1, .time_ns = 3001, .since_ns = 2999, .is_base = true, .values = {every_kind_values, COUNTER_KINDS}}},
    {SPOOL_COUNTERS, .counters = {.of = COUNTERS_OF_CPUS, .time_ns = 3002, .values = {every_kind_values, 2}}},
    {SPOOL_COUNTERS, .counters = {.of = COUNTERS_OF_POWER, .time_ns = 3003, .values = {every_kind_values, 1}}},
    {SPOOL_SLICE, .slice = {.thread = 2, .time_ns = 3004, .cpu = 3, .length_ns = 900, .off_cpu_ns = 200}},
};
enum { EVERY_RECORD = sizeof(every_record) / sizeof(*every_record) };

/* 0 or a negative errno value. */
static int write_every_kind(struct spool_writer *writer)
{
    int code = 0;
    for (size_t i = 0; !code && i < EVERY_RECORD; i++)
        code = spool_writer_append(writer, every_record[i].kind, &every_record[i].metadata, NULL);
    return code;
}

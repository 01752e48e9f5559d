/* One record of each kind, with a value of its own in each field. */
#pragma once

#include "spool/counter_reading.h"
#include "spool/counter_writer.h"
#include "spool/spool.h"

static const unsigned char every_kind_build_id[] = {0x12, 0x34, 0x56, 0x00, 0x9a};
static const unsigned char every_kind_image[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

static const struct spool_event every_event[] = {
    {.kind = SPOOL_INFO, .name = "recorder", .value = "prof 0.1.0"},
    {.kind = SPOOL_PROCESS, .number = 0, .parent = SPOOL_NO_NUMBER, .pid = 4711, .time = 1001, .name = "sleep"},
    {.kind = SPOOL_PROCESS, .number = 1, .parent = 0, .exec = true, .pid = 4711, .time = 1002, .name = "a\"b\n\xff"},
    {.kind = SPOOL_THREAD, .number = 2, .process = 1, .tid = 4712, .time = 1003, .name = "worker"},
    {.kind = SPOOL_NAME, .number = 2, .time = 1004, .name = "idler"},
    {.kind = SPOOL_THREAD_END, .number = 2, .time = 1005},
    {.kind = SPOOL_LIB,
     .number = 3,
     .lib = {.kind = SPOOL_LIB_FILE,
             .path = "/bin/sleep",
             .build_id = every_kind_build_id,
             .build_id_size = sizeof(every_kind_build_id),
             .device = 10,
             .inode = 11,
             .size = 12,
             .mtime_ns = 13}},
    {.kind = SPOOL_LIB,
     .number = 4,
     .lib =
         {.kind = SPOOL_LIB_VDSO, .path = "[vdso]", .image = every_kind_image, .image_size = sizeof(every_kind_image)}},
    {.kind = SPOOL_MAP, .number = 1, .time = 1006, .start = 0x1000, .end = 0x2000, .rva = 0x400, .lib_number = 3},
    {.kind = SPOOL_MAP, .number = SPOOL_NO_NUMBER, .time = 1007, .end = UINT64_MAX, .lib_number = SPOOL_NO_NUMBER},
    {.kind = SPOOL_LOST, .time = 1008, .start = 1007, .cpu = 5, .count = 17},
    {.kind = SPOOL_PAUSED, .time = 1009},
    {.kind = SPOOL_RESUMED, .time = 1010},
    {.kind = SPOOL_MARK, .time = 1011, .value = "here"},
    {.kind = SPOOL_RUN, .time = 1012, .count = 2},
    {.kind = SPOOL_UNSAMPLED, .number = 2, .time = 1013, .count = 170},
    {.kind = SPOOL_OBJECT, .number = 6, .name = "lock 0x10"},
    {.kind = SPOOL_MARK_NAME, .number = 7, .name = "load"},
    {.kind = SPOOL_PROGRAM_MARK,
     .mark = SPOOL_MARK_INSTANT,
     .number = 7,
     .pid = 1,
     .tid = 2,
     .time = 1014,
     .value = ""},
    {.kind = SPOOL_PROGRAM_MARK, .mark = SPOOL_MARK_BEGIN, .number = 7, .pid = 1, .tid = 3, .time = 1015, .value = ""},
    {.kind = SPOOL_PROGRAM_MARK, .mark = SPOOL_MARK_END, .number = 7, .pid = 1, .tid = 3, .time = 1016, .value = ""},
    {.kind = SPOOL_PROGRAM_MARK,
     .mark = SPOOL_MARK_SPAN,
     .number = 7,
     .pid = 1,
     .tid = 4,
     .time = 1017,
     .end = 1018,
     .value = "x.png"},
    {.kind = SPOOL_PROGRAM_MARK,
     .mark = SPOOL_MARK_COUNTER,
     .number = 7,
     .pid = 1,
     .tid = 5,
     .time = 1019,
     .end = 0x3ff8000000000000, /* 1.5 */
     .value = ""},
    {.kind = SPOOL_MARKS_LOST, .pid = 4711, .start = 1020, .time = 1021, .count = 3},
    {.kind = SPOOL_COMMAND, .number = 1, .value = "sleep '1 m'"},
    {.kind = SPOOL_EXIT, .pid = 4711, .time = 1022, .count = 256},
    {.kind = SPOOL_WORK, .time = 1023, .end = 1024, .name = "snapshot"},
    {.kind = SPOOL_PYTHON_FUNCTION, .number = 8, .name = "f", .value = "f.py", .count = 9},
    {.kind = SPOOL_SIGNAL, .pid = 4711, .tid = 4712, .time = 1025, .number = 11, .name = "sh (1)"},
    {.kind = SPOOL_OOM_KILL, .pid = 4711, .time = 1026, .count = 1},
    {.kind = SPOOL_UNSEEN, .number = 1, .time = 1027, .count = 33},
};
enum { EVERY_EVENT = sizeof(every_event) / sizeof(*every_event) };

static const uint64_t every_kind_frames[] = {0xffffffff81000010, 0x1100, 0x1200};

static const struct sample every_sample[] = {
    {.thread = 2,
     .cpu = 1,
     .time = 2001,
     .cpu_time = 900,
     .kernel_frame_count = 1,
     .frame_count = 3,
     .frames = every_kind_frames},
    {.thread = 2,
     .cpu = 2,
     .time = 2002,
     .cpu_time = 5,
     .wait = 700,
     .reason = 1,
     .object = 6,
     .waker = 4,
     .flags = SAMPLE_TRUNCATED | SAMPLE_WAIT_GOES_ON,
     .frame_count = 2,
     .frames = every_kind_frames + 1},
    {.thread = 2, .cpu = 2, .time = 2003, .event = 1, .period = 64, .flags = SAMPLE_WITHOUT_CFI},
};
enum { EVERY_SAMPLE = sizeof(every_sample) / sizeof(*every_sample) };

static const uint64_t every_kind_values[COUNTER_KINDS] = {21, 22, 23, 24, 25, 26, COUNTER_UNKNOWN, 28, 29, 30, 31, 32};

static const struct counter_reading every_reading[] = {
    {.whose = 1, .time = 3001, .since = 2999, .is_base = true, .count = COUNTER_KINDS, .values = every_kind_values},
    {.whose = COUNTERS_OF_CPUS, .time = 3002, .count = 2, .values = every_kind_values},
    {.whose = COUNTERS_OF_POWER, .time = 3003, .count = 1, .values = every_kind_values},
};
enum { EVERY_READING = sizeof(every_reading) / sizeof(*every_reading) };

/* 0 or a negative errno value. */
static int write_every_kind(struct spool_writer *writer)
{
    int code = 0;
    for (size_t i = 0; !code && i < EVERY_EVENT; i++)
        code = spool_writer_event(writer, &every_event[i], NULL);
    for (size_t i = 0; !code && i < EVERY_SAMPLE; i++)
        code = spool_writer_sample(writer, &every_sample[i], NULL);
    for (size_t i = 0; !code && i < EVERY_READING; i++)
        code = counter_writer_write(writer, &every_reading[i], NULL);
    return code;
}

/*
 * Writes a recording of processes that compile code, as a spool in a directory of its own, and replays it. The files of
 * their compilers lie in the same directory, in place of /tmp.
 */
#pragma once

#include "assemble/process_perf_map.h"
#include "assemble/replay.h"
#include "spool/info.h"
#include "support/flat_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The recording starts at second 1000 of the Unix epoch, which is second 1 of the monotonic clock. */
#define SECOND UINT64_C(1000000000)
enum { EPOCH_START = 1000 };

struct scene {
    char directory[64], spool[96];
    struct spool_writer *writer;
    struct replay replay;
};

static inline void scene_start(struct scene *scene)
{
    *scene = (struct scene){.directory = "/tmp/prof-code-scene-XXXXXX"};
    assert_non_null(mkdtemp(scene->directory));
    snprintf(scene->spool, sizeof(scene->spool), "%s/spool", scene->directory);
    assert_int_equal(spool_writer_new(&scene->writer, scene->spool, NULL), 0);
    assert_int_equal(info_write_number(scene->writer, INFO_START_MONOTONIC, SECOND, NULL), 0);
    assert_int_equal(info_write_number(scene->writer, INFO_START_REALTIME, EPOCH_START * SECOND, NULL), 0);
}

static inline void scene_add(struct scene *scene, struct spool_event event)
{
    assert_int_equal(spool_writer_event(scene->writer, &event, NULL), 0);
}

/* Processes have the number of their thread. Times are in ns of the monotonic clock. */
static inline void scene_add_process(struct scene *scene, uint32_t number, uint32_t parent, bool exec, uint32_t pid,
                                     uint64_t time)
{
    scene_add(scene, (struct spool_event){.kind = SPOOL_PROCESS,
                                          .number = number,
                                          .parent = parent,
                                          .exec = exec,
                                          .pid = pid,
                                          .time = time,
                                          .name = "process"});
    scene_add(scene,
              (struct spool_event){
                  .kind = SPOOL_THREAD, .number = number, .process = number, .tid = pid, .time = time, .name = "main"});
}

static inline void scene_add_sample(struct scene *scene, uint32_t thread, uint64_t time, uint64_t pc)
{
    struct sample sample = {.thread = thread, .time = time, .frame_count = 1, .frames = &pc};
    assert_int_equal(spool_writer_sample(scene->writer, &sample, NULL), 0);
}

static inline void scene_replay(struct scene *scene)
{
    assert_int_equal(spool_writer_close(scene->writer, NULL), 0);
    scene->replay.input.perf_map_directory = scene->directory;
    assert_int_equal(replay_spool(&scene->replay, scene->spool, NULL), 0);
}

/* The frame of the n-th sample of a thread, as an index in replay.frames. */
static inline uint32_t scene_frame(const struct scene *scene, uint32_t thread, int n)
{
    struct sample_cursor cursor = {0};
    struct stored_sample sample;
    assert_int_equal(sample_cursor_start(&cursor, scene->replay.samples.store, thread, NULL), 0);
    for (int i = 0; i <= n; i++)
        assert_int_equal(sample_cursor_next(&cursor, &sample, NULL), 1);
    sample_cursor_destroy(&cursor);
    return scene->replay.stacks.items.data[sample.stack].frame;
}

static inline void scene_finish(struct scene *scene)
{
    char command[128];
    replay_destroy(&scene->replay);
    snprintf(command, sizeof(command), "rm -r '%s'", scene->directory);
    assert_int_equal(system(command), 0);
}

/*
 * Collects events about the recording itself during the replay: lost samples, pauses, marks of the user.
 * recording_markers.h turns them into markers.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "spool/records.h"

enum replay_mark_kind {
    REPLAY_MARK_LOST,   /* `count` samples of `cpu` */
    REPLAY_MARK_PAUSED, /* nothing was recorded */
    REPLAY_MARK_USER,   /* `text`: prof ctl mark */
    REPLAY_MARK_RUN,    /* run number `count` of the command: prof record --iterations */
};

struct replay_mark {
    enum replay_mark_kind kind;
    uint64_t start, end; /* ns; equal: an instant; end 0: until the end of the recording */
    uint64_t count;
    uint32_t cpu;  /* SPOOL_NO_NUMBER: unknown */
    uint32_t text; /* index of a string, or STRING_NONE for none */
};

/* Starts zeroed. */
struct replay_marks {
    struct strings texts;
    ARRAY(struct replay_mark) items;
    ARRAY(uint64_t) last_on_cpu; /* ns: time of the last sample of each CPU so far, or 0 for none */
    uint64_t lost;               /* lost samples in REPLAY_MARK_LOST marks so far */
};

/* Handle a record of their kind. Losses must be in order of time among the samples. */
int replay_marks_add_lost(struct replay_marks *marks, const struct spool_lost *lost, struct error *err);
int replay_marks_start_pause(struct replay_marks *marks, const struct spool_paused *paused, struct error *err);
void replay_marks_end_pause(struct replay_marks *marks, const struct spool_resumed *resumed);
int replay_marks_add_user_mark(struct replay_marks *marks, const struct spool_user_mark *user, struct error *err);
int replay_marks_add_run(struct replay_marks *marks, const struct spool_run *run, struct error *err);

/* Stores the time of a CPU's last sample, which is the start of the next loss on the CPU. */
int replay_marks_store_sample(struct replay_marks *marks, uint32_t cpu, uint64_t time, struct error *err);

/* Adds the lost samples that the kernel counted without a record, at the end. `lost`: all lost samples. */
int replay_marks_end(struct replay_marks *marks, uint64_t lost, uint64_t end, struct error *err);

/* Drops marks that ended before `time`. */
void replay_marks_drop_before(struct replay_marks *marks, uint64_t time);

void replay_marks_destroy(struct replay_marks *marks);

/*
 * What happened to a recording itself while it ran: samples were lost, it was paused, the user marked a moment. The
 * replay notes it here, and recording_markers.h makes markers of it.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "spool/chunk.h"
#include "spool/spool.h"

#include <stdint.h>

enum replay_mark_kind {
    REPLAY_MARK_LOST,   /* `count` samples of `cpu` */
    REPLAY_MARK_PAUSED, /* nothing was recorded */
    REPLAY_MARK_USER,   /* `text`: prof ctl mark */
    REPLAY_MARK_RUN,    /* run number `count` of the command: prof record --iterations */
};

struct replay_mark {
    enum replay_mark_kind kind;
    uint64_t start, end; /* ns; equal: a moment; end 0: until the end of the recording */
    uint64_t count;
    uint32_t cpu;  /* SPOOL_NO_NUMBER: not known */
    uint32_t text; /* index of a string; STRING_NONE: none */
};

/* Zero it. */
struct replay_marks {
    struct strings texts;
    ARRAY(struct replay_mark) items;
    ARRAY(uint64_t) last_on_cpu; /* ns: the last sample of each CPU so far; 0: none */
    uint64_t lost;               /* samples of REPLAY_MARK_LOST so far */
};

/* Notes an event, SPOOL_LOST in order of time among the samples. Ignores other kinds of events. */
int replay_marks_event(struct replay_marks *marks, const struct spool_event *event, struct error *err);

/* Notes when a CPU was sampled last: samples that it loses from then on are lost after that. */
int replay_marks_sample(struct replay_marks *marks, const struct sample *sample, struct error *err);

/* Adds the rest of `lost` samples that the kernel counted, of which no record tells, at the end. */
int replay_marks_end(struct replay_marks *marks, uint64_t lost, uint64_t end, struct error *err);

/* Drops what ended before `time`. */
void replay_marks_drop_before(struct replay_marks *marks, uint64_t time);

void replay_marks_destroy(struct replay_marks *marks);

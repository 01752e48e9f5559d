/*
 * Shared by the parts of the Chrome trace importer. trace_events.c reads the events; the parts that depend on the order
 * of time collect them, and build the profile at the end: V8's samples (trace_profiles.c), slices (trace_slices.c), and
 * the samples beside the list of events (trace_samples.c).
 */
#pragma once

#include "import/json_tree.h"
#include "import/profile_builder.h"

/* An event that holds samples of V8, which the importer reads again in the order of time. */
struct trace_profile_event {
    enum { TRACE_PROFILE, TRACE_CHUNK, TRACE_WHOLE_PROFILE } kind;
    double ts;             /* µs */
    uint64_t pid, tid, id; /* id: 0 if it has none */
    size_t number;         /* number of the event among all events */
    uint64_t at, size;     /* of its text */
};

struct trace_slice {
    uint64_t track; /* key of a stack of nested slices: the thread, or TRACE_ASYNC and the hash of the async id */
    uint32_t thread, name;
    enum { SLICE_OPENS, SLICE_CLOSES, SLICE_WHOLE } kind;
    double start, end; /* ms */
    size_t place;      /* number of the slice among all slices */
};

struct trace_part {
    uint64_t at, size; /* bytes of the text */
};

#define TRACE_ASYNC (UINT64_C(1) << 63)

struct trace {
    struct json_tree tree; /* the JSON of one event, or of another part of the text */
    struct profile_builder *builder;
    struct error *err;
    const char *text;
    ARRAY(struct trace_profile_event) profiles;
    ARRAY(struct trace_slice) slices;
    struct trace_part samples, frames; /* positions of the texts of samples and stack frames; size 0: none */
    struct hash process_names;         /* pid -> string */
    size_t number;                     /* of the event */
    size_t without_time;               /* number of events that the importer omits */
    double end;                        /* ms: of the last event */
    bool is_cut;
};

/* Reads a pid or tid, which may be a quoted text. */
uint64_t trace_read_id(const struct json_tree *tree, uint32_t node);
uint64_t trace_parse_id(const char *text, size_t length);

/* Reads a part of the text into trace->tree. */
int trace_read_part(struct trace *trace, uint64_t at, uint64_t size);

/* Adds the samples of Profile, ProfileChunk and CpuProfile events. Sets `*found` if the trace has such samples. */
int trace_add_profiles(struct trace *trace, bool *found);

/* Adds the samples of the members "samples" and "stackFrames" of the outer object. */
int trace_add_samples(struct trace *trace, bool *found);

/* Adds slices as markers, and as stacks if the trace has no samples. */
int trace_add_slices(struct trace *trace, bool are_samples);

/*
 * Collects the markers of a profile: rows of any thread in any order, which become the marker tables of the threads,
 * sorted by start.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/json_write.h"
#include "base/text_buffer.h"
#include "profile/profile.h"

/* Phases of a marker, as numbered by the format. */
enum marker_phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

struct marker_entry {
    uint32_t thread, name, category, data; /* data: JSON text, a string of the profile, or PROFILE_NONE */
    uint8_t phase;                         /* enum marker_phase */
    double start, end;                     /* ms, or NAN for none */
};

struct marker_rows {
    struct profile *profile;
    uint64_t start_ns, end_ns; /* ns of CLOCK_MONOTONIC: time 0 of the profile, and end of the profile */
    ARRAY(struct marker_entry) entries;
    struct json_writer *json; /* for payloads */
    struct text_buffer text;
    struct byte_sink sink;
    bool failed; /* memory ran out */
};

/* Starts a payload of this type. The caller writes its members, and the next marker_rows_add() uses it. Returns NULL if
 * memory ran out. */
struct json_writer *marker_rows_start_payload(struct marker_rows *rows, const char *type);

/* Adds a marker with the started payload. `name`: a string of the profile. Times: ns of CLOCK_MONOTONIC; a phase
 * without a start or an end ignores that time. */
void marker_rows_add(struct marker_rows *rows, uint32_t thread, uint32_t name, uint32_t category,
                     enum marker_phase phase, uint64_t start, uint64_t end);

/* Returns the category of this name; adds a missing category. */
uint32_t marker_rows_add_category(struct marker_rows *rows, const char *name, const char *color);

/* Converts a time of the recording (ns) to ms of the profile. */
double marker_rows_convert_to_ms(const struct marker_rows *rows, uint64_t time);

/* Fills the empty marker tables of the profile's threads. */
int marker_rows_fill(struct marker_rows *rows, struct error *err);

void marker_rows_destroy(struct marker_rows *rows);

#include "assemble/recording_markers.h"

#include "base/json_write.h"
#include "base/search.h"
#include "base/text_buffer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASE_INSTANT, PHASE_INTERVAL };

/* As JSON, because the schema of a profile is kept as its text. Only those in the timeline are seen without a click. */
static const char schema[] =
    "[{\"name\":\"SamplesLost\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"tooltipLabel\":\"{marker.data.samples} samples lost\",\"chartLabel\":\"{marker.data.samples}\","
    "\"tableLabel\":\"{marker.data.samples} samples, CPU {marker.data.cpu}\","
    "\"description\":\"The buffer of this CPU was full: what ran on it has too few samples here.\","
    "\"fields\":[{\"key\":\"samples\",\"label\":\"Samples\",\"format\":\"integer\"},"
    "{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"string\"}]},"
    "{\"name\":\"RecordingPaused\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"description\":\"Nothing was recorded.\",\"fields\":[]},"
    "{\"name\":\"Mark\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"tooltipLabel\":\"{marker.data.text}\",\"tableLabel\":\"{marker.data.text}\","
    "\"chartLabel\":\"{marker.data.text}\",\"fields\":[{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"}]},"
    "{\"name\":\"Run\",\"display\":[\"marker-chart\",\"marker-table\"],\"tooltipLabel\":\"Run {marker.data.number}\","
    "\"tableLabel\":\"{marker.data.number}\",\"chartLabel\":\"{marker.data.number}\","
    "\"fields\":[{\"key\":\"number\",\"label\":\"Number\",\"format\":\"integer\"}]}]";

struct filling {
    struct profile *profile;
    struct marker_table *table;
    const struct strings *texts;
    uint64_t start_ns, end_ns;
    uint32_t category;
};

static double to_ms(const struct filling *filling, uint64_t time)
{
    return time > filling->start_ns ? (double)(time - filling->start_ns) / 1e6 : 0;
}

static void write_payload(struct json_writer *json, const struct replay_mark *mark, const struct strings *texts)
{
    static const char *const types[] = {[REPLAY_MARK_LOST] = "SamplesLost",
                                        [REPLAY_MARK_PAUSED] = "RecordingPaused",
                                        [REPLAY_MARK_USER] = "Mark",
                                        [REPLAY_MARK_RUN] = "Run"};
    json_open(json, '{');
    json_member_text(json, "type", types[mark->kind]);
    if (mark->kind == REPLAY_MARK_LOST)
        json_member_unsigned(json, "samples", mark->count);
    if (mark->kind == REPLAY_MARK_LOST && mark->cpu == SPOOL_NO_NUMBER)
        json_member_text(json, "cpu", "unknown");
    else if (mark->kind == REPLAY_MARK_LOST) {
        char cpu[16];
        snprintf(cpu, sizeof(cpu), "%" PRIu32, mark->cpu);
        json_member_text(json, "cpu", cpu);
    }
    if (mark->kind == REPLAY_MARK_USER)
        json_member_text(json, "text", strings_text(texts, mark->text));
    if (mark->kind == REPLAY_MARK_RUN)
        json_member_unsigned(json, "number", mark->count);
    json_close(json, '}');
}

/* The payload as a string of the profile; STRING_NONE if memory ran out. */
static uint32_t payload_of(struct filling *filling, const struct replay_mark *mark)
{
    struct text_buffer text = {0};
    struct byte_sink sink = text_sink(&text);
    struct json_writer *json = malloc(sizeof(*json));
    if (!json)
        return STRING_NONE;
    json_writer_init(json, &sink, NULL);
    write_payload(json, mark, filling->texts);
    uint32_t string =
        json_writer_finish(json) == 0 ? strings_add(&filling->profile->strings, text.data, text.length) : STRING_NONE;
    free(json);
    array_free(&text);
    return string;
}

static bool add_marker(struct filling *filling, const struct replay_mark *mark)
{
    static const char *const names[] = {[REPLAY_MARK_LOST] = "Samples lost",
                                        [REPLAY_MARK_PAUSED] = "Recording paused",
                                        [REPLAY_MARK_USER] = "Mark",
                                        [REPLAY_MARK_RUN] = "Run"};
    struct marker_table *table = filling->table;
    size_t i = table->length;
    uint64_t end = mark->end ? mark->end : filling->end_ns;
    bool is_interval = end > mark->start;
    table->name[i] = strings_add_z(&filling->profile->strings, names[mark->kind]);
    table->start[i] = to_ms(filling, mark->start);
    table->end[i] = is_interval ? to_ms(filling, end) : NAN;
    table->phase[i] = is_interval ? PHASE_INTERVAL : PHASE_INSTANT;
    table->category[i] = filling->category;
    table->data[i] = payload_of(filling, mark);
    table->length++;
    return table->name[i] != STRING_NONE && table->data[i] != STRING_NONE;
}

static bool make_room(struct marker_table *table, size_t count)
{
    table->name = calloc(count, sizeof(*table->name));
    table->start = calloc(count, sizeof(*table->start));
    table->end = calloc(count, sizeof(*table->end));
    table->phase = calloc(count, sizeof(*table->phase));
    table->category = calloc(count, sizeof(*table->category));
    table->data = calloc(count, sizeof(*table->data));
    return table->name && table->start && table->end && table->phase && table->category && table->data;
}

static int compare_starts(const void *a, const void *b)
{
    const struct replay_mark *left = a, *right = b;
    return left->start != right->start ? ORDER(left->start, right->start) : ORDER(left->kind, right->kind);
}

/* Pauses are of all threads. */
static bool add_pauses(struct filling *filling, const struct replay_mark *marks, size_t count)
{
    struct profile *profile = filling->profile;
    uint32_t reason = PROFILE_NONE;
    for (size_t i = 0; i < count; i++) {
        if (marks[i].kind != REPLAY_MARK_PAUSED)
            continue;
        reason = strings_add_z(&profile->strings, "profiler-paused");
        struct paused_range range = {to_ms(filling, marks[i].start),
                                     to_ms(filling, marks[i].end ? marks[i].end : filling->end_ns), reason};
        for (size_t k = 0; k < profile->threads.length; k++)
            if (reason == STRING_NONE ||
                (range.start < range.end && !array_push(&profile->threads.data[k].paused, range)))
                return false;
    }
    return true;
}

int recording_markers_fill(struct profile *profile, const struct replay_marks *marks, uint64_t start_ns,
                           uint64_t end_ns, struct error *err)
{
    size_t count = marks->items.length;
    if (!count)
        return 0;
    struct filling filling = {.profile = profile,
                              .table = &profile->threads.data[0].markers,
                              .texts = &marks->texts,
                              .start_ns = start_ns,
                              .end_ns = end_ns,
                              .category = profile_default_category(profile)};
    struct replay_mark *sorted = malloc(count * sizeof(*sorted));
    bool ok = sorted && make_room(filling.table, count);
    if (ok) {
        memcpy(sorted, marks->items.data, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), compare_starts);
    }
    for (size_t i = 0; i < count && ok; i++)
        ok = add_marker(&filling, &sorted[i]);
    ok = ok && add_pauses(&filling, sorted, count);
    free(sorted);
    profile->meta.marker_schema = ok ? strings_add_z(&profile->strings, schema) : PROFILE_NONE;
    return ok && profile->meta.marker_schema != PROFILE_NONE ? 0 : error_no_memory(err);
}

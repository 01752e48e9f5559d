/*
 * Markers and counters for large made-up profiles: intervals that nest and overlap, instants, pairs of starts and ends,
 * payloads with fields of several formats; memory that grows and shrinks, and power.
 */
#pragma once

#include "../support/marker_rows.h"
#include "synthetic.h"

#include <math.h>

static const char synthetic_schema[] =
    "[{\"name\":\"Request\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"chartLabel\":\"{marker.data.url}\",\"tableLabel\":\"{marker.data.url} ({marker.data.size})\",\"tooltipLabel\":"
    "\"Request {marker.data.url}\",\"fields\":[{\"key\":\"url\",\"label\":\"URL\",\"format\":\"unique-string\"},"
    "{\"key\":\"size\",\"label\":\"Size\",\"format\":\"bytes\"},{\"key\":\"share\",\"label\":\"From the "
    "cache\",\"format\":\"percentage\"}],\"description\":\"A request that was answered.\"},"
    "{\"name\":\"Lock\",\"display\":[\"marker-chart\",\"marker-table\"],\"tableLabel\":\"waited for "
    "{marker.data.lock}\","
    "\"chartLabel\":\"{marker.data.lock}\",\"fields\":[{\"key\":\"lock\",\"label\":\"Lock\",\"format\":\"string\"},"
    "{\"key\":\"owner\",\"label\":\"Owner\",\"format\":\"tid\"}]},"
    "{\"name\":\"Log\",\"display\":[\"marker-table\",\"marker-chart\"],\"fields\":[{\"key\":\"message\",\"label\":"
    "\"Message\",\"format\":\"string\"}]}]";

static uint32_t make_payload(struct maker *maker, uint32_t kind)
{
    struct profile *profile = maker->profile;
    char text[200];
    switch (kind) {
    case 0:
        snprintf(text, sizeof(text), "https://example.org/part/%u", below(maker, 500));
        snprintf(text, sizeof(text), "{\"type\":\"Request\",\"url\":%u,\"size\":%u,\"share\":0.%u}",
                 strings_add_z(&profile->strings, text), below(maker, 1u << 22), below(maker, 1000));
        break;
    case 1:
        snprintf(text, sizeof(text), "{\"type\":\"Lock\",\"lock\":\"table %u\",\"owner\":%u}", below(maker, 40),
                 1000 + below(maker, 200));
        break;
    case 2:
        snprintf(text, sizeof(text), "{\"type\":\"Log\",\"message\":\"the cache has %u entries\"}",
                 below(maker, 100000));
        break;
    default:
        return PROFILE_NONE;
    }
    return strings_add_z(&profile->strings, text);
}

/* Of one thread, over the time of its samples. */
static bool make_thread_markers(struct maker *maker, struct thread *thread, uint32_t count)
{
    static const char *const names[] = {"Request", "Lock wait", "Log", "Frame", "Collect garbage"};
    struct marker_table *markers = &thread->markers;
    const struct sample_table *samples = &thread->samples;
    double length = samples->length ? samples->time[samples->length - 1] : 1000;
    if (!marker_rows_make(markers, count))
        return false;
    double time = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = below(maker, 5);
        double step = length / count, duration = step * (0.2 + below(maker, 300) / 100.0);
        time = i * step;
        markers->name[i] = strings_add_z(&maker->profile->strings, names[kind]);
        markers->category[i] = kind % CATEGORIES == 2 ? 3 : kind % CATEGORIES;
        markers->data[i] = make_payload(maker, kind);
        markers->phase[i] = kind == 2 ? 0 : 1;
        markers->start[i] = time;
        markers->end[i] = kind == 2 ? NAN : time + duration;
        if (kind == 4 && i + 1 < count) { /* a start, and at once its end */
            markers->phase[i] = 2;
            markers->end[i] = NAN;
            markers->name[i + 1] = markers->name[i];
            markers->category[i + 1] = markers->category[i];
            markers->data[i + 1] = PROFILE_NONE;
            markers->phase[++i] = 3;
            markers->start[i] = NAN;
            markers->end[i] = time + step;
        }
    }
    return true;
}

static bool make_counter(struct maker *maker, uint32_t index, uint32_t samples)
{
    struct profile *profile = maker->profile;
    bool is_memory = index % 2 == 0;
    struct counter *counter = array_push_zero(&profile->counters);
    if (!counter)
        return false;
    counter->name = strings_add_z(&profile->strings, is_memory ? "malloc" : "CPU package");
    counter->category = strings_add_z(&profile->strings, is_memory ? "Memory" : "power");
    counter->description = strings_add_z(&profile->strings, is_memory ? "Memory that is allocated" : "Power used");
    counter->pid = profile->threads.data[0].pid;
    counter->json = PROFILE_NONE;
    counter->time = malloc((samples + 1) * sizeof(double));
    counter->count = malloc((samples + 1) * sizeof(double));
    counter->length = samples;
    if (!counter->time || !counter->count)
        return false;
    const struct sample_table *rows = &profile->threads.data[0].samples;
    double length = rows->length ? rows->time[rows->length - 1] : 1000;
    for (uint32_t i = 0; i < samples; i++) {
        counter->time[i] = length * i / samples;
        counter->count[i] = is_memory ? (i % 500 < 400 ? below(maker, 60000) : -1.0 * below(maker, 220000))
                                      : below(maker, 4000) * (i % 900 < 300 ? 8.0 : 2.0);
    }
    return true;
}

/* Spreads `markers` over the threads of a synthetic profile, and adds counters. */
static int synthetic_markers(struct profile *profile, uint32_t markers, uint32_t counters, uint64_t seed,
                             struct error *err)
{
    enum { COUNTER_SAMPLES = 10000 };
    struct maker maker = {.profile = profile, .random = seed * 2 + UINT64_C(88172645463325252)};
    uint32_t threads = (uint32_t)profile->threads.length;
    bool done = threads > 0;
    profile->meta.marker_schema = strings_add_z(&profile->strings, synthetic_schema);
    for (uint32_t i = 0; done && markers && i < threads; i++)
        done = make_thread_markers(&maker, &profile->threads.data[i], markers / threads + (i < markers % threads));
    for (uint32_t i = 0; done && i < counters; i++)
        done = make_counter(&maker, i, COUNTER_SAMPLES);
    profile->meta.kept_strings = (uint32_t)profile->strings.entries.length;
    return done ? 0 : error_no_memory(err);
}

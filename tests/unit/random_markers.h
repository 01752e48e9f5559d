/*
 * Random markers for the threads of a random profile, with two kinds that have a schema and one that has none.
 * Everything follows from the seed; few names and times, so that pairs, ties and overlaps are frequent.
 */
#pragma once

#include "random_profile.h"
#include "support/marker_rows.h"

static const char random_schema[] =
    "[{\"name\":\"Work\",\"display\":[\"marker-chart\",\"marker-table\"],\"tableLabel\":\"{marker.data.what} took "
    "{marker.duration}\",\"fields\":[{\"key\":\"what\",\"label\":\"What\",\"format\":\"unique-string\"},"
    "{\"key\":\"size\",\"format\":\"bytes\",\"hidden\":true}]},"
    "{\"name\":\"Note\",\"display\":[\"marker-table\",\"timeline-overview\"],\"fields\":[{\"key\":\"text\"},"
    "{\"key\":\"count\",\"label\":\"Count\",\"format\":\"integer\"}],\"graphs\":[{\"key\":\"count\",\"type\":\"bar\"},"
    "{\"key\":\"count\",\"type\":\"line\",\"color\":\"red\"},{\"type\":\"bar\"}]}]";

static inline uint32_t random_payload(struct random *random, struct profile *profile)
{
    char text[200];
    static const char *const words[] = {"alpha", "Beta", "gamma,delta", "x"};
    const char *word = words[random_below(random, 4)];
    unsigned number = random_below(random, 5000);
    switch (random_below(random, 6)) {
    case 0:
        return PROFILE_NONE;
    case 1:
        snprintf(text, sizeof(text), "{\"type\":\"Note\",\"text\":\"%s\",\"count\":%u}", word, number);
        break;
    case 2:
        snprintf(text, sizeof(text), "{\"other\":\"%s\",\"type\":\"Unknown\",\"size\":%u}", word, number);
        break;
    case 3:
        snprintf(text, sizeof(text), "{\"text\":\"%s\",\"more\":{\"type\":\"Work\"}}", word);
        break;
    default:
        snprintf(text, sizeof(text), "{\"type\":\"Work\",\"what\":%u,\"size\":%u}",
                 strings_add_z(&profile->strings, word), number);
    }
    return strings_add_z(&profile->strings, text);
}

static inline void random_marker_table(struct random *random, struct profile *profile, struct marker_table *markers,
                                       size_t length)
{
    static const char *const names[] = {"paint", "GC", "io", "Layout"};
    if (!marker_rows_make(markers, length))
        abort();
    for (size_t i = 0; i < length; i++) {
        markers->name[i] = strings_add_z(&profile->strings, names[random_below(random, 4)]);
        markers->phase[i] = (uint8_t)random_below(random, 4);
        markers->start[i] = random_below(random, 12) ? random_below(random, 40) * 0.5 : NAN;
        markers->end[i] = random_below(random, 12) ? fmax(0, markers->start[i]) + random_below(random, 12) * 0.25 : NAN;
        markers->category[i] = random_below(random, (uint32_t)profile->categories.length);
        markers->data[i] = random_payload(random, profile);
    }
}

static inline void random_marker_profile(struct profile *profile, uint64_t seed)
{
    struct random random = {seed * 2 + 77};
    random_profile(profile, seed);
    profile->meta.marker_schema = strings_add_z(&profile->strings, random_schema);
    for (size_t i = 0; i < profile->threads.length; i++)
        random_marker_table(&random, profile, &profile->threads.data[i].markers, random_below(&random, 60));
}

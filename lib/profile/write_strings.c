#include "profile/write_strings.h"

static void mark_string(uint32_t *used, uint32_t string)
{
    if (string != PROFILE_NONE)
        used[string] = 1;
}

static void mark_used_strings(uint32_t *used, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->meta.kept_strings; i++)
        mark_string(used, i);
    for (size_t i = 0; i < profile->funcs.length; i++)
        mark_string(used, profile->funcs.name[i]);
    for (size_t i = 0; i < profile->resources.length; i++) {
        mark_string(used, profile->resources.data[i].name);
        mark_string(used, profile->resources.data[i].host);
    }
    for (size_t i = 0; i < profile->native_symbols.length; i++)
        mark_string(used, profile->native_symbols.data[i].name);
    for (size_t i = 0; i < profile->sources.length; i++) {
        mark_string(used, profile->sources.data[i].filename);
        mark_string(used, profile->sources.data[i].source_map_url);
    }
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct marker_table *markers = &profile->threads.data[i].markers;
        for (size_t k = 0; k < markers->length; k++)
            mark_string(used, markers->name[k]);
    }
}

bool string_map_init(struct string_map *map, const struct profile *profile)
{
    size_t length = profile->strings.entries.length;
    map->count = 0;
    map->number = calloc(length + 1, sizeof(*map->number));
    if (!map->number)
        return false;
    mark_used_strings(map->number, profile);
    for (size_t i = 0; i < length; i++)
        map->number[i] = map->number[i] ? map->count++ : PROFILE_NONE;
    return true;
}

void string_map_destroy(struct string_map *map)
{
    free(map->number);
    *map = (struct string_map){0};
}

void write_string(struct json_writer *json, const struct profile *profile, uint32_t string)
{
    if (string == PROFILE_NONE)
        json_null(json);
    else
        json_text(json, strings_text(&profile->strings, string), profile->strings.entries.data[string].length);
}

void write_string_member(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string)
{
    json_key(json, key);
    write_string(json, profile, string);
}

void write_json_string(struct json_writer *json, const struct profile *profile, uint32_t string)
{
    if (string == PROFILE_NONE)
        json_null(json);
    else
        json_raw(json, strings_text(&profile->strings, string), profile->strings.entries.data[string].length);
}

/*
 * Any bytes as a profile that is exported in every format, by a query that the first four bytes choose. Every writer
 * succeeds; JSON formats are valid JSON, and profiles can be read back.
 */
#include "base/json.h"
#include "export/exporters.h"
#include "support/profile_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { CHOICES = 4, INVERTED = 1, SEARCHED = 2, ONE_WEIGHT = 4, PART = 8 };

static void check_json(const struct memory *memory)
{
    struct json json;
    enum json_type type;
    json_init_whole(&json, memory->data, memory->length);
    if (json_next(&json) != JSON_OBJECT_OPEN)
        abort();
    while ((type = json_next(&json)) > JSON_END)
        ;
    if (type != JSON_END)
        abort();
    json_destroy(&json);
}

static void check_profile(const struct memory *memory)
{
    struct profile back = {0};
    struct error err;
    if (read_bytes(memory->data, memory->length, 4096, &back, &err) != 0)
        abort();
    profile_destroy(&back);
}

static void write_all(const struct export_view *view)
{
    for (size_t i = 0; i < exporter_count; i++) {
        struct memory memory = {0};
        struct byte_sink sink = memory_sink(&memory);
        struct error err = {""};
        if (exporter_write(&exporters[i], view, &sink, &err) != 0)
            abort();
        if (exporters[i].write == export_speedscope || exporters[i].write == export_chrome_trace)
            check_json(&memory);
        if (!strcmp(exporters[i].name, "profile") || exporters[i].write == export_jslb)
            check_profile(&memory);
        array_free(&memory);
    }
}

static void write_query(struct engine *engine, const uint8_t *choices)
{
    const struct profile *profile = engine_get_profile(engine);
    struct weight_list weights = {0};
    struct error err;
    uint32_t one = profile->threads.length ? choices[0] % (uint32_t)profile->threads.length : 0, *all = NULL;
    all = calloc(profile->threads.length + 1, sizeof(*all));
    if (!all || list_weights(&weights, profile, &err) != 0 || !weights.length)
        abort();
    for (uint32_t i = 0; i < profile->threads.length; i++)
        all[i] = i;
    bool is_part = choices[3] & PART && profile->threads.length;
    struct weight weight = weights.data[choices[1] % weights.length];
    struct tree_query query = {.threads = is_part ? &one : all,
                               .thread_count = is_part ? 1 : profile->threads.length,
                               .range = engine_get_full_range(engine),
                               .search = "a",
                               .search_length = choices[3] & SEARCHED ? 1 : 0,
                               .inverted = choices[3] & INVERTED,
                               .weight = weight.kind,
                               .table = weight.table};
    if (is_part)
        query.range.to = query.range.from + (query.range.to - query.range.from) * choices[0] / 256;
    if (engine_set_query(engine, &query, &err) != 0)
        abort();
    const struct export_view view = {.engine = engine,
                                     .threads = query.threads,
                                     .thread_count = query.thread_count,
                                     .range = query.range,
                                     .is_whole = !is_part && !query.search_length,
                                     .is_inverted = query.inverted,
                                     .weight = weight,
                                     .has_one_weight = choices[3] & ONE_WEIGHT,
                                     .search = query.search_length ? "a" : "",
                                     .table = choices[2] % EXPORT_TABLES};
    write_all(&view);
    array_free(&weights);
    free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct profile profile = {0};
    struct error err = {""};
    if (size < CHOICES || read_bytes((const char *)bytes + CHOICES, size - CHOICES, 4096, &profile, &err))
        return 0;
    struct engine *engine = engine_new(&profile, &err);
    if (!engine)
        abort();
    write_query(engine, bytes);
    engine_free(engine);
    return 0;
}

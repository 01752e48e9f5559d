/*
 * Exports a sanitized query in any format. prof makes a profile of the query, sanitizes it, writes it and reads it
 * back. The writer of the format then exports this profile, so writers need no code for sanitizing.
 */
#include "export/export_profile.h"
#include "export/exporters.h"

#include "profile/read.h"

static int feed_reader(void *context, const void *bytes, size_t size, struct error *err)
{
    return profile_reader_feed(context, bytes, size, err);
}

static int export_to_reader(const struct export_view *view, struct profile *profile, struct error *err)
{
    struct profile_reader *reader = profile_reader_new();
    const struct byte_sink sink = {.write = feed_reader, .context = reader};
    if (!reader)
        return error_no_memory(err);
    int code = export_profile_json(view, &sink, err);
    if (!code)
        code = profile_reader_finish(reader, profile, err);
    profile_reader_free(reader);
    return code;
}

/* Finds a weight of the original in the copy. An event may have another name in the copy, because the names of probes
 * contain paths. */
static int find_weight(const struct profile *profile, const struct weight *wanted, struct weight *weight,
                       struct error *err)
{
    struct weight_list weights = {0};
    int code = list_weights(&weights, profile, err);
    const struct weight *found = NULL;
    for (size_t i = 0; !code && !found && i < weights.length; i++)
        if (weights.data[i].kind == wanted->kind && weights.data[i].table == wanted->table)
            found = &weights.data[i];
    if (!code && !found)
        code = error_set(err, ENOENT, "the remaining samples have no weight '%s'", wanted->id);
    if (found)
        *weight = *found;
    array_free(&weights);
    return code;
}

static int write_copy(const struct exporter *exporter, const struct export_view *view, struct engine *engine,
                      const struct byte_sink *sink, struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    struct export_view copy = *view;
    ARRAY(uint32_t) threads = {0};
    int code = find_weight(profile, &view->weight, &copy.weight, err);
    for (uint32_t i = 0; !code && i < profile->threads.length; i++)
        if (!array_push(&threads, i))
            code = error_no_memory(err);
    const struct tree_query query = {.threads = threads.data,
                                     .thread_count = threads.length,
                                     .range = view->range,
                                     .search = "",
                                     .inverted = view->is_inverted,
                                     .weight = copy.weight.kind,
                                     .table = copy.weight.table};
    copy.engine = engine;
    copy.threads = threads.data;
    copy.thread_count = threads.length;
    copy.sanitize = NULL;
    copy.is_whole = true;
    if (!code)
        code = engine_set_query(engine, &query, err);
    if (!code)
        code = exporter->write(&copy, sink, err);
    array_free(&threads);
    return code;
}

int exporter_write(const struct exporter *exporter, const struct export_view *view, const struct byte_sink *sink,
                   struct error *err)
{
    if (!view->sanitize || exporter->write == export_profile_json || exporter->write == export_jslb)
        return exporter->write(view, sink, err);
    struct profile profile;
    profile_init(&profile);
    int code = export_to_reader(view, &profile, err);
    if (code) {
        profile_destroy(&profile);
        return code;
    }
    struct engine *engine = engine_new(&profile, err);
    if (!engine)
        return -ENOMEM;
    code = write_copy(exporter, view, engine, sink, err);
    engine_free(engine);
    return code;
}

#include "push/push_profile.h"

#include "file/gzip.h"

static int export_compressed(struct engine *engine, const uint32_t *threads, size_t thread_count,
                             const struct otlp_sending *sending, struct text_buffer *out, struct error *err)
{
    const struct tree_query query = {
        .threads = threads, .thread_count = thread_count, .range = whole_time, .search = ""};
    struct gzip_packer *packer;
    int code = engine_set_query(engine, &query, err);
    if (!code)
        code = gzip_packer_new(&packer, text_sink(out), err);
    if (code)
        return code;
    const struct byte_sink sink = gzip_packer_make_sink(packer);
    const struct export_view view = {.engine = engine,
                                     .threads = threads,
                                     .thread_count = thread_count,
                                     .range = engine_get_full_range(engine),
                                     .is_whole = true,
                                     .search = ""};
    code = export_otlp_for_sending(&view, sending, &sink, err);
    if (!code)
        code = gzip_packer_finish(packer, err);
    gzip_packer_free(packer);
    return code;
}

int push_profile_pack(struct profile *profile, const struct otlp_sending *sending, struct text_buffer *out,
                      struct error *err)
{
    struct engine *engine = engine_new(profile, err);
    if (!engine)
        return -1;
    size_t count = engine_get_profile(engine)->threads.length;
    uint32_t *threads = malloc((count + 1) * sizeof(*threads));
    for (size_t i = 0; threads && i < count; i++)
        threads[i] = (uint32_t)i;
    int code = threads ? export_compressed(engine, threads, count, sending, out, err) : error_no_memory(err);
    free(threads);
    engine_free(engine);
    return code;
}

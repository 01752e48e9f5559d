/*
 * Exports for web/src/engine/exports.ts: files of other formats.
 */
#include "export/export_profile.h"
#include "export/exporters.h"
#include "export/sanitize.h"
#include "export/html_page.h"
#include "tree/engine_state.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* Which samples a file contains; without flags, all samples of the profile. */
enum export_scope {
    SCOPE_THREADS = 1,    /* only the threads of the query */
    SCOPE_RANGE = 2,      /* only the time range of the query */
    SCOPE_TRANSFORMS = 4, /* only the samples that the query counts, after its transforms and search */
};

enum { MOST_LIBRARIES = 64 };

/* An export request, and the engine that answers it. */
struct request {
    const struct exporter *exporter;
    struct export_view view;
    struct sanitize_options sanitize;
    const char *libraries[MOST_LIBRARIES];
    struct engine *own; /* an engine with a query without transforms, or NULL (use the page's engine) */
    ARRAY(uint32_t) threads;
};

static void request_end(struct request *request)
{
    engine_free(request->own);
    array_free(&request->threads);
}

/* Returns the next NUL-terminated text in the input, or NULL for none. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at, *nul = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    *at = nul ? nul + 1 : end;
    return nul ? text : NULL;
}

/* Queries the requested threads and range, without transforms and search, in an engine of its own. */
static int run_query_without_transforms(struct session *session, struct request *request, struct engine *engine,
                                        uint32_t scope)
{
    struct export_view *view = &request->view;
    size_t count = scope & SCOPE_THREADS ? engine->threads.length : engine_get_profile(engine)->threads.length;
    for (uint32_t i = 0; i < count; i++)
        if (!array_push(&request->threads, scope & SCOPE_THREADS ? engine->threads.data[i] : i))
            return error_no_memory(&session->err);
    request->own = engine_share(engine, &session->err);
    if (!request->own)
        return -ENOMEM;
    view->engine = request->own;
    view->threads = request->threads.data;
    view->thread_count = request->threads.length;
    view->search = "";
    view->is_whole = !(scope & (SCOPE_THREADS | SCOPE_RANGE));
    if (!(scope & SCOPE_RANGE))
        view->range = engine_get_full_range(engine);
    const struct tree_query query = {.threads = view->threads,
                                     .thread_count = view->thread_count,
                                     .range = view->range,
                                     .search = "",
                                     .weight = view->weight.kind,
                                     .table = view->weight.table};
    return engine_set_query(request->own, &query, &session->err);
}

/* Reads the input, an export_request. */
static int request_begin(struct session *session, struct request *request)
{
    const struct export_request *input = (const void *)session->input.data;
    struct engine *engine = session_get_engine(session, input->query);
    const struct weight *weighed;
    if (!engine || session_find_weight(session, (int)input->weight, &weighed))
        return -EINVAL;
    const char *at = input->texts, *end = at + input->text_length;
    const char *format = next_text(&at, end), *search = next_text(&at, end);
    if (!search || input->table >= EXPORT_TABLES)
        return error_set(&session->err, EINVAL, "invalid export request");
    request->exporter = exporter_find(format);
    if (!request->exporter)
        return error_set(&session->err, EINVAL, "unknown format '%s'", format);
    struct time_range full = engine_get_full_range(engine);
    request->view = (struct export_view){
        .engine = engine,
        .threads = engine->threads.data,
        .thread_count = engine->threads.length,
        .range = {isfinite(input->from) ? input->from : full.from, isfinite(input->to) ? input->to : full.to},
        .is_inverted = engine->is_inverted,
        .weight = *weighed,
        .search = search,
        .table = (enum export_table)input->table,
        .wait_grouping = WAITS_BY_OBJECT};
    int code =
        input->scope & SCOPE_TRANSFORMS ? 0 : run_query_without_transforms(session, request, engine, input->scope);
    request->sanitize = (struct sanitize_options){
        .parts = input->parts & SANITIZE_ALL, .libraries = request->libraries, .is_part = !request->view.is_whole};
    for (const char *name; request->sanitize.library_count < MOST_LIBRARIES && (name = next_text(&at, end)) != NULL;)
        request->libraries[request->sanitize.library_count++] = name;
    if (request->sanitize.parts || request->sanitize.library_count)
        request->view.sanitize = &request->sanitize;
    return code;
}

/* Returns one column: the bytes of the file, before compression. */
const struct view *session_export(struct session *session)
{
    struct request request = {0};
    int code = request_begin(session, &request);
    session->text.length = 0;
    session->text_sink = text_sink(&session->text);
    if (!code)
        code = exporter_write(request.exporter, &request.view, &session->text_sink, &session->err);
    request_end(&request);
    return code ? NULL : ANSWER_ARRAY(session, &session->text);
}

/* Returns a summary of the kept and removed data of a sanitized export: see sanitize_describe(). */
const struct view *session_export_preview(struct session *session)
{
    struct request request = {0};
    struct sanitize_summary summary;
    struct arena memory = {0};
    int code = request_begin(session, &request);
    request.view.sanitize = &request.sanitize; /* summarize even if no part is removed */
    session->text.length = 0;
    if (!code)
        code = export_preview(&request.view, &memory, &summary, &session->err);
    if (!code && !sanitize_describe(&summary, &request.sanitize, &session->text))
        code = error_no_memory(&session->err);
    arena_destroy(&memory);
    request_end(&request);
    return code ? NULL : ANSWER_ARRAY(session, &session->text);
}

/* Returns a self-contained page: html_page_write(). The input holds the view with a NUL, the template, and the
 * packed profile. With `has_sources`, the page includes the texts of source files of the open profile. */
const struct view *session_html_page(struct session *session, uint32_t view_length, uint32_t template_length,
                                     uint32_t gzip_length, int has_sources)
{
    const char *input = (const char *)session_get_words(session);
    const struct html_page page = {.text = input + view_length,
                                   .length = template_length,
                                   .gzip = (const unsigned char *)input + view_length + template_length,
                                   .gzip_size = gzip_length,
                                   .view = input,
                                   .has_editor = has_sources && html_needs_editor(engine_get_profile(session->engine))};
    if (!view_length || input[view_length - 1]) {
        error_set(&session->err, EINVAL, "invalid page request");
        return NULL;
    }
    session->text.length = 0;
    session->text_sink = text_sink(&session->text);
    return html_page_write(&page, &session->text_sink, &session->err) ? NULL : ANSWER_ARRAY(session, &session->text);
}

/*
 * The door of the WebAssembly build: what web/src/engine/wasm.ts calls. A session is one profile being loaded and then
 * looked at. Bytes come in through session_input(), a buffer that the caller fills; numbers go out as pointers to
 * columns, valid until the next call. Functions that can fail return 0 or a negative errno value; session_error() has
 * the sentence.
 *
 * Built with clang for wasm32-wasi (the Makefile has the command); nothing is imported but the few functions of wasi
 * that the C library links for its error paths, which wasm.ts answers with "not supported".
 */
#include "base/json_write.h"
#include "profile/read.h"
#include "tree/engine.h"
#include "tree/func_names.h"
#include "tree/info.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

enum { VIEW_COLUMNS = 8 };

/* What a call answers with: a length and columns of that many entries. wasm.ts reads it as 32-bit words. */
struct view {
    uint32_t length;
    const void *columns[VIEW_COLUMNS];
};

struct session {
    struct profile_reader *reader;
    struct engine *engine;
    struct error err;
    ARRAY(unsigned char) input;
    ARRAY(char) text; /* the answer of session_info() */
    struct view view;
    struct tree_rows rows;
    struct node_path path;
    struct node_details details;
    struct func_timings functions;
    ARRAY(uint32_t) function_funcs;
    ARRAY(double) function_totals, function_selfs;
    struct activity activity;
    double sample_time, sample_cpu;
    uint32_t sample_category;
    uint8_t sample_dropped;
    struct func_names names;
    ARRAY(struct transform) transforms; /* of the last query; their paths are in the input */
};

struct session *EXPORT(session_new)(void);
unsigned char *EXPORT(session_input)(struct session *session, uint32_t size);
int EXPORT(session_feed)(struct session *session, uint32_t size);
int EXPORT(session_finish)(struct session *session);
const char *EXPORT(session_error)(const struct session *session);
const struct view *EXPORT(session_info)(struct session *session);
const struct view *EXPORT(session_string)(struct session *session, uint32_t string);
int EXPORT(session_query)(struct session *session, uint32_t thread_count, uint32_t transform_words, double from,
                          double to, uint32_t search_length, int inverted);
const struct view *EXPORT(session_rewrite_path)(struct session *session, uint32_t transform_words, uint32_t length);
int EXPORT(session_recursion)(const struct session *session, uint32_t func);
double EXPORT(session_root_total)(const struct session *session);
double EXPORT(session_samples)(const struct session *session);
uint32_t EXPORT(session_node_count)(const struct session *session);
const struct view *EXPORT(session_children)(struct session *session, uint32_t node);
const struct view *EXPORT(session_descendants)(struct session *session, uint32_t node, uint32_t limit);
const struct view *EXPORT(session_row)(struct session *session, uint32_t node);
const struct view *EXPORT(session_path)(struct session *session, uint32_t node);
const struct view *EXPORT(session_heaviest_path)(struct session *session, uint32_t depth);
uint32_t EXPORT(session_find)(struct session *session, uint32_t length, int nearest);
const struct view *EXPORT(session_functions)(struct session *session, int by_total);
const struct view *EXPORT(session_func)(struct session *session, uint32_t func);
int EXPORT(session_details)(struct session *session, uint32_t node);
const struct view *EXPORT(session_categories)(struct session *session, int self);
const struct view *EXPORT(session_lines)(struct session *session);
int EXPORT(session_inlining)(const struct session *session);
uint32_t EXPORT(session_inlined_into)(const struct session *session);
const struct view *EXPORT(session_activity)(struct session *session, uint32_t thread, double from, double to,
                                            uint32_t width);
const struct view *EXPORT(session_activity_kept)(struct session *session, uint32_t thread, double from, double to,
                                                 uint32_t width, uint32_t path_length, int inverted,
                                                 uint32_t search_length);
const struct view *EXPORT(session_sample_at)(struct session *session, uint32_t thread, double time);

struct session *session_new(void)
{
    struct session *session = calloc(1, sizeof(*session));
    if (session)
        session->reader = profile_reader_new();
    return session;
}

/* A buffer of `size` bytes to write the next input into; NULL if memory ran out. */
unsigned char *session_input(struct session *session, uint32_t size)
{
    session->input.length = 0;
    return array_reserve(&session->input, size) ? session->input.data : NULL;
}

const char *session_error(const struct session *session)
{
    return session->err.text;
}

/* ---- loading ---- */

int session_feed(struct session *session, uint32_t size)
{
    if (!session->reader)
        return error_no_memory(&session->err);
    return profile_reader_feed(session->reader, session->input.data, size, &session->err);
}

int session_finish(struct session *session)
{
    struct profile profile;
    if (!session->reader)
        return error_no_memory(&session->err);
    profile_init(&profile);
    int code = profile_reader_finish(session->reader, &profile, &session->err);
    profile_reader_free(session->reader);
    session->reader = NULL;
    if (code) {
        profile_destroy(&profile);
        return code;
    }
    session->engine = engine_new(&profile, &session->err);
    return session->engine ? 0 : -ENOMEM;
}

/* ---- what the profile is ---- */

static int append_text(void *context, const void *bytes, size_t size, struct error *err)
{
    struct session *session = context;
    if (!array_reserve(&session->text, size))
        return error_no_memory(err);
    memcpy(session->text.data + session->text.length, bytes, size);
    session->text.length += size;
    return 0;
}

static void put_string(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string)
{
    json_key(json, key);
    bool known = string < profile->strings.entries.length;
    const struct string_entry *entry = known ? &profile->strings.entries.data[string] : NULL;
    json_text(json, known ? entry->text : "", known ? entry->length : 0);
}

static void put_number(struct json_writer *json, const char *key, double value)
{
    json_key(json, key);
    json_double(json, value); /* null if it is not known */
}

static void put_facts(struct json_writer *json, const char *key, const struct fact_list *facts)
{
    json_key(json, key);
    json_open(json, '[');
    for (size_t i = 0; i < facts->length; i++) {
        json_open(json, '{');
        json_key(json, "label");
        json_text_z(json, facts->data[i].label);
        json_key(json, "value");
        json_text_z(json, facts->data[i].value);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int put_all_facts(struct json_writer *json, const struct profile *profile, struct error *err)
{
    struct arena arena = {0};
    struct fact_list facts = {0};
    int code = facts_of_profile(&facts, &arena, profile, err);
    put_facts(json, "facts", &facts);
    json_key(json, "extra");
    json_open(json, '[');
    for (size_t i = 0; !code && i < profile->meta.extra.length; i++) {
        const struct extra_section *section = &profile->meta.extra.data[i];
        facts.length = 0;
        code = facts_of_section(&facts, &arena, profile, section, err);
        json_open(json, '{');
        put_string(json, "label", profile, section->label);
        put_facts(json, "entries", &facts);
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&facts);
    arena_destroy(&arena);
    return code;
}

static void put_thread(struct json_writer *json, const struct engine *engine, uint32_t index)
{
    const struct profile *profile = engine_profile(engine);
    const struct thread *thread = &profile->threads.data[index];
    json_open(json, '{');
    put_number(json, "index", index);
    put_string(json, "name", profile, thread->name);
    put_string(json, "processName", profile, thread->process_name);
    put_string(json, "pid", profile, thread->pid);
    put_string(json, "tid", profile, thread->tid);
    json_key(json, "isMain");
    json_bool(json, thread->is_main);
    put_number(json, "start", thread->start);
    put_number(json, "end", thread->end);
    put_number(json, "sampleCount", (double)thread->samples.length);
    put_number(
        json, "activity",
        thread_activity(&thread->samples, engine_stacks(engine), engine_idle_category(engine), profile->meta.interval));
    json_close(json, '}');
}

static void put_tables(struct json_writer *json, const struct engine *engine)
{
    const struct profile *profile = engine_profile(engine);
    json_key(json, "categories");
    json_open(json, '[');
    for (size_t i = 0; i < profile->categories.length; i++) {
        json_open(json, '{');
        put_string(json, "name", profile, profile->categories.data[i].name);
        put_string(json, "color", profile, profile->categories.data[i].color);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_key(json, "threads");
    json_open(json, '[');
    for (uint32_t i = 0; i < profile->threads.length; i++)
        put_thread(json, engine, i);
    json_close(json, ']');
    json_key(json, "libs");
    json_open(json, '[');
    for (size_t i = 0; i < profile->libs.length; i++) {
        json_open(json, '{');
        put_string(json, "name", profile, profile->libs.data[i].name);
        put_string(json, "path", profile, profile->libs.data[i].path);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static const char *weight_unit(const struct profile *profile)
{
    static const char *const names[] = {
        [WEIGHT_SAMPLES] = "samples", [WEIGHT_TRACING_MS] = "ms", [WEIGHT_BYTES] = "bytes"};
    return profile->threads.length ? names[profile->threads.data[0].samples.weight_type] : "samples";
}

static double count_samples(const struct profile *profile)
{
    double count = 0;
    for (size_t i = 0; i < profile->threads.length; i++)
        count += (double)profile->threads.data[i].samples.length;
    return count;
}

/* ProfileInfo of api.ts as JSON text. */
const struct view *session_info(struct session *session)
{
    const struct profile *profile = engine_profile(session->engine);
    struct byte_sink sink = {append_text, session};
    struct json_writer *json = malloc(sizeof(*json));
    struct time_range range = engine_full_range(session->engine);
    session->text.length = 0;
    if (!json) {
        error_no_memory(&session->err);
        return NULL;
    }
    json_writer_init(json, &sink, &session->err);
    json_open(json, '{');
    put_string(json, "product", profile, profile->meta.product);
    put_number(json, "interval", profile->meta.interval);
    put_number(json, "startTime", profile->meta.start_time);
    put_number(json, "rangeStart", range.from);
    put_number(json, "rangeEnd", range.to);
    put_number(json, "sampleCount", count_samples(profile));
    put_number(json, "funcCount", (double)profile->funcs.length);
    json_key(json, "weightUnit");
    json_text_z(json, weight_unit(profile));
    json_key(json, "symbolicated");
    json_bool(json, profile->meta.symbolicated != 0);
    int code = put_all_facts(json, profile, &session->err);
    put_tables(json, session->engine);
    json_close(json, '}');
    int written = json_writer_finish(json);
    free(json);
    if (code || written)
        return NULL;
    session->view = (struct view){(uint32_t)session->text.length, {session->text.data}};
    return &session->view;
}

/* The bytes of a string of the profile, UTF-8. */
const struct view *session_string(struct session *session, uint32_t string)
{
    const struct strings *strings = &engine_profile(session->engine)->strings;
    const struct string_entry *entry = string < strings->entries.length ? &strings->entries.data[string] : NULL;
    session->view = (struct view){entry ? entry->length : 0, {entry ? entry->text : ""}};
    return &session->view;
}

/* Strings and numbers of a func, as one column: name, library, library path, file, line, resource. */
const struct view *session_func(struct session *session, uint32_t func)
{
    _Static_assert(sizeof(struct func_names) == 6 * sizeof(uint32_t), "layout");
    session->names = func_names_of(engine_profile(session->engine), func);
    session->view = (struct view){sizeof(session->names) / sizeof(uint32_t), {&session->names}};
    return &session->view;
}

/* ---- the query ---- */

/* A transform is written as the words kind (enum transform_kind), index, inverted, length of the path, path. */
static int read_transforms(struct session *session, const uint32_t *words, size_t count)
{
    enum { HEAD = 4 };
    session->transforms.length = 0;
    for (size_t at = 0; at < count;) {
        const uint32_t *item = words + at;
        if (count - at < HEAD || item[0] >= TRANSFORM_KINDS || item[3] > count - at - HEAD)
            return error_set(&session->err, EINVAL, "this is no list of transforms");
        struct transform transform = {(enum transform_kind)item[0], item[1], item[2] != 0, item + HEAD, item[3]};
        if (!array_push(&session->transforms, transform))
            return error_no_memory(&session->err);
        at += HEAD + item[3];
    }
    return 0;
}

/* The input holds `thread_count` thread indexes, the words of the transforms, and the bytes of the search. */
int session_query(struct session *session, uint32_t thread_count, uint32_t transform_words, double from, double to,
                  uint32_t search_length, int inverted)
{
    const uint32_t *words = (const uint32_t *)(const void *)session->input.data;
    int code = read_transforms(session, words + thread_count, transform_words);
    if (code)
        return code;
    struct tree_query query = {.threads = words,
                               .thread_count = thread_count,
                               .range = {from, to},
                               .transforms = session->transforms.data,
                               .transform_count = session->transforms.length,
                               .search = (const char *)(words + thread_count + transform_words),
                               .search_length = search_length,
                               .inverted = inverted != 0};
    return engine_query(session->engine, &query, &session->err);
}

double session_root_total(const struct session *session)
{
    return engine_timings(session->engine)->root_total;
}

double session_samples(const struct session *session)
{
    return (double)engine_timings(session->engine)->samples;
}

uint32_t session_node_count(const struct session *session)
{
    return (uint32_t)engine_node_count(session->engine);
}

static const struct view *view_rows(struct session *session, int code)
{
    const struct tree_rows *rows = &session->rows;
    if (code)
        return NULL;
    session->view = (struct view){
        (uint32_t)rows->length,
        {rows->node, rows->depth, rows->func, rows->category, rows->total, rows->self, rows->has_children}};
    return &session->view;
}

const struct view *session_children(struct session *session, uint32_t node)
{
    return view_rows(session, engine_children(session->engine, node, &session->rows, &session->err));
}

const struct view *session_descendants(struct session *session, uint32_t node, uint32_t limit)
{
    return view_rows(session, engine_descendants(session->engine, node, limit, &session->rows, &session->err));
}

const struct view *session_row(struct session *session, uint32_t node)
{
    return view_rows(session, engine_row(session->engine, node, &session->rows, &session->err));
}

static const struct view *view_path(struct session *session, int code)
{
    if (code)
        return NULL;
    session->view = (struct view){(uint32_t)session->path.length, {session->path.data}};
    return &session->view;
}

const struct view *session_path(struct session *session, uint32_t node)
{
    return view_path(session, engine_path(session->engine, node, &session->path, &session->err));
}

const struct view *session_heaviest_path(struct session *session, uint32_t depth)
{
    return view_path(session, engine_heaviest_path(session->engine, depth, &session->path, &session->err));
}

/* The input holds the funcs of the path. NODE_NONE if there is no such node. */
uint32_t session_find(struct session *session, uint32_t length, int nearest)
{
    const uint32_t *path = (const uint32_t *)(const void *)session->input.data;
    uint32_t node = NODE_NONE;
    int code = engine_find(session->engine, path, length, nearest != 0, &node, &session->err);
    return code ? NODE_NONE : node;
}

/* The input holds the words of one transform and the funcs of a path of the current tree. */
const struct view *session_rewrite_path(struct session *session, uint32_t transform_words, uint32_t length)
{
    const uint32_t *words = (const uint32_t *)(const void *)session->input.data;
    size_t left = length;
    session->path.length = 0;
    int code = read_transforms(session, words, transform_words);
    if (!code && (session->transforms.length != 1 || !array_reserve(&session->path, left)))
        code = error_set(&session->err, EINVAL, "this is not one transform");
    if (code)
        return NULL;
    if (left)
        memcpy(session->path.data, words + transform_words, left * sizeof(*words));
    code = engine_rewrite_path(session->engine, session->transforms.data, session->path.data, &left, &session->err);
    session->path.length = left;
    return view_path(session, code);
}

/* enum recursion */
int session_recursion(const struct session *session, uint32_t func)
{
    return engine_recursion(session->engine, func);
}

/* ---- functions ---- */

const struct view *session_functions(struct session *session, int by_total)
{
    func_timings_destroy(&session->functions);
    enum func_order order = by_total ? FUNCS_BY_TOTAL : FUNCS_BY_SELF;
    if (engine_functions(session->engine, order, &session->functions, &session->err))
        return NULL;
    size_t length = session->functions.length;
    session->function_funcs.length = session->function_totals.length = session->function_selfs.length = 0;
    if (!array_reserve(&session->function_funcs, length) || !array_reserve(&session->function_totals, length) ||
        !array_reserve(&session->function_selfs, length)) {
        error_no_memory(&session->err);
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        session->function_funcs.data[i] = session->functions.rows[i].func;
        session->function_totals.data[i] = session->functions.rows[i].total;
        session->function_selfs.data[i] = session->functions.rows[i].self;
    }
    session->view = (struct view){
        (uint32_t)length, {session->function_funcs.data, session->function_totals.data, session->function_selfs.data}};
    return &session->view;
}

/* ---- details: session_details() first, then its parts ---- */

int session_details(struct session *session, uint32_t node)
{
    node_details_destroy(&session->details);
    session->details = (struct node_details){0};
    return engine_details(session->engine, node, &session->details, &session->err);
}

/* One column of struct category_weight (16 bytes: u32 category, f64 weight at 8). */
const struct view *session_categories(struct session *session, int self)
{
    _Static_assert(sizeof(struct category_weight) == 16 && offsetof(struct category_weight, weight) == 8, "layout");
    const struct category_weights *weights =
        self ? &session->details.categories_self : &session->details.categories_total;
    session->view = (struct view){(uint32_t)weights->length, {weights->data}};
    return &session->view;
}

/* One column of struct line_weight (24 bytes: u32 line, f64 total at 8, f64 self at 16). */
const struct view *session_lines(struct session *session)
{
    _Static_assert(sizeof(struct line_weight) == 24 && offsetof(struct line_weight, self) == 16, "layout");
    session->view = (struct view){(uint32_t)session->details.lines.length, {session->details.lines.data}};
    return &session->view;
}

int session_inlining(const struct session *session)
{
    return session->details.inlining;
}

uint32_t session_inlined_into(const struct session *session)
{
    return session->details.inlined_into;
}

/* ---- the timeline ---- */

/* Of all samples. Columns: categories, shares (length * width). */
const struct view *session_activity(struct session *session, uint32_t thread, double from, double to, uint32_t width)
{
    activity_destroy(&session->activity);
    if (engine_activity_of_all(session->engine, thread, from, to, width, &session->activity, &session->err))
        return NULL;
    session->view =
        (struct view){session->activity.row_count, {session->activity.categories, session->activity.shares}};
    return &session->view;
}

/* Of what transforms, a search and a path (of length 0: any) leave. The input holds the funcs of the path, then the
 * bytes of the search. Columns as those of session_activity(). */
const struct view *session_activity_kept(struct session *session, uint32_t thread, double from, double to,
                                         uint32_t width, uint32_t path_length, int inverted, uint32_t search_length)
{
    const uint32_t *funcs = (const uint32_t *)(const void *)session->input.data;
    const struct tree_path path = {funcs, path_length, inverted != 0};
    activity_destroy(&session->activity);
    if (engine_activity_of_path(session->engine, thread, from, to, width, (const char *)(funcs + path_length),
                                search_length, path_length ? &path : NULL, &session->activity, &session->err))
        return NULL;
    session->view =
        (struct view){session->activity.row_count, {session->activity.categories, session->activity.shares}};
    return &session->view;
}

/* Columns: the path (length funcs), then of one entry each: time, CPU percent (NAN unknown), category, whether a
 * transform has dropped it (then the path is empty). NULL if there is no sample there (session_error() is then empty).
 */
const struct view *session_sample_at(struct session *session, uint32_t thread, double time)
{
    const struct profile *profile = engine_profile(session->engine);
    const struct stack_view *stacks = engine_stacks(session->engine);
    session->err.text[0] = '\0';
    if (thread >= profile->threads.length)
        return NULL;
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    size_t sample = sample_at(samples, profile->meta.interval, time, &session->sample_cpu);
    if (sample == SIZE_MAX)
        return NULL;
    uint32_t stack = samples->stack[sample];
    session->sample_time = samples->time[sample];
    session->sample_category = stack == PROFILE_NONE ? stacks->default_category : stacks->category[stack];
    uint32_t node = stack == PROFILE_NONE ? NODE_NONE : engine_nodes(session->engine)->of_sample[stack];
    session->sample_dropped = stack != PROFILE_NONE && node == NODE_NONE;
    session->path.length = 0;
    for (; node != NODE_NONE; node = engine_nodes(session->engine)->prefix[node])
        if (!array_push(&session->path, engine_nodes(session->engine)->func[node])) {
            error_no_memory(&session->err);
            return NULL;
        }
    for (size_t i = 0, j = session->path.length; i + 1 < j; i++) {
        uint32_t swap = session->path.data[--j];
        session->path.data[j] = session->path.data[i];
        session->path.data[i] = swap;
    }
    session->view = (struct view){(uint32_t)session->path.length,
                                  {session->path.data, &session->sample_time, &session->sample_cpu,
                                   &session->sample_category, &session->sample_dropped}};
    return &session->view;
}

/*
 * speedscope's native format (https://www.speedscope.app/file-format-schema.json): a list of functions, and for each
 * thread its samples in time order: lists of functions starting at the root, and their weights. Adjacent samples with
 * the same stack are merged. Consecutive samples share most callers, so the writer changes only the end of the previous
 * stack's text.
 */
#include "export/exporters.h"

#include "base/json_write.h"
#include "base/text_buffer.h"

struct run {
    uint32_t node;
    double weight;
};

struct speedscope {
    const struct export_view *view;
    const struct profile *profile;
    const struct call_nodes *nodes;
    struct json_writer *json;
    uint32_t *frame; /* for each func, index in the file, in the order of first use, or PROFILE_NONE if not used */
    uint32_t frame_count;
    ARRAY(struct run) runs; /* of one thread */
    ARRAY(uint32_t) path;   /* nodes of the last written stack */
    ARRAY(size_t) ends;     /* end of each function's text in `text` */
    struct text_buffer text;
    bool failed;
};

static void add_run(void *context, uint32_t stack, double weight, double time)
{
    struct speedscope *speedscope = context;
    uint32_t node = speedscope->nodes->of_stack[stack];
    (void)time;
    if (weight == 0)
        return;
    size_t length = speedscope->runs.length;
    if (length && speedscope->runs.data[length - 1].node == node)
        speedscope->runs.data[length - 1].weight += fabs(weight);
    else if (!array_push(&speedscope->runs, (struct run){node, fabs(weight)}))
        speedscope->failed = true;
}

static void collect_runs(struct speedscope *speedscope, uint32_t thread)
{
    const struct weight *weight = &speedscope->view->weight;
    speedscope->runs.length = 0;
    engine_weigh_thread(speedscope->view->engine, thread, weight->kind, weight->table, add_run, speedscope);
}

/* ---- functions ---- */

static void write_frame(struct speedscope *speedscope, uint32_t func)
{
    struct func_names names = get_func_names(speedscope->profile, func);
    const char *name = profile_text(speedscope->profile, names.name);
    uint32_t file = names.file != PROFILE_NONE ? names.file : names.lib;
    json_open(speedscope->json, '{');
    json_member_text(speedscope->json, "name", *name ? name : "(no name)");
    if (file != PROFILE_NONE)
        json_member_text(speedscope->json, "file", profile_text(speedscope->profile, file));
    if (names.file != PROFILE_NONE && names.line)
        json_member_unsigned(speedscope->json, "line", names.line);
    json_close(speedscope->json, '}');
}

/* Writes the functions of the query's tree. */
static void write_frames(struct speedscope *speedscope)
{
    const struct timings *timings = engine_get_timings(speedscope->view->engine);
    json_member_open(speedscope->json, "shared", '{');
    json_member_open(speedscope->json, "frames", '[');
    for (size_t node = 0; node < speedscope->nodes->length; node++) {
        uint32_t func = speedscope->nodes->func[node];
        if (!timings->alive[node] || speedscope->frame[func] != PROFILE_NONE)
            continue;
        speedscope->frame[func] = speedscope->frame_count++;
        write_frame(speedscope, func);
    }
    json_close(speedscope->json, ']');
    json_close(speedscope->json, '}');
}

/* ---- threads ---- */

static bool append_node(struct speedscope *speedscope, uint32_t node)
{
    char number[NUMBER_MAX + 1];
    char *end = number_put_unsigned(number, speedscope->frame[speedscope->nodes->func[node]]);
    *end++ = ',';
    return array_push(&speedscope->path, node) && text_append(&speedscope->text, number, (size_t)(end - number)) &&
           array_push(&speedscope->ends, speedscope->text.length);
}

/* Sets the path and the text to the path and the text of a node. */
static bool move_to_node(struct speedscope *speedscope, uint32_t node)
{
    const struct call_nodes *nodes = speedscope->nodes;
    size_t depth = nodes->depth[node], shared = depth + 1;
    if (!array_reserve(&speedscope->path, depth + 1))
        return false;
    for (uint32_t at = node; shared > 0; at = nodes->prefix[at], shared--)
        if (shared <= speedscope->path.length && speedscope->path.data[shared - 1] == at)
            break;
    speedscope->path.length = speedscope->ends.length = shared;
    speedscope->text.length = shared ? speedscope->ends.data[shared - 1] : 1;
    /* Fills the path from the leaf to the root. */
    uint32_t *places = speedscope->path.data;
    uint32_t at = node;
    for (size_t i = depth + 1; i > shared; i--, at = nodes->prefix[at])
        places[i - 1] = at;
    for (size_t i = shared; i <= depth; i++)
        if (!append_node(speedscope, places[i]))
            return false;
    return true;
}

static void write_samples(struct speedscope *speedscope)
{
    speedscope->path.length = speedscope->ends.length = speedscope->text.length = 0;
    if (!text_append(&speedscope->text, "[", 1))
        speedscope->failed = true;
    json_member_open(speedscope->json, "samples", '[');
    for (size_t i = 0; i < speedscope->runs.length && !speedscope->failed; i++) {
        if (!move_to_node(speedscope, speedscope->runs.data[i].node)) {
            speedscope->failed = true;
            break;
        }
        char *last = &speedscope->text.data[speedscope->text.length - 1];
        *last = ']';
        json_raw(speedscope->json, speedscope->text.data, speedscope->text.length);
        *last = ',';
    }
    json_close(speedscope->json, ']');
}

static void write_weights(struct speedscope *speedscope)
{
    double scale = export_get_weight_scale(&speedscope->view->weight), carry = 0;
    uint64_t total = 0;
    json_member_open(speedscope->json, "weights", '[');
    for (size_t i = 0; i < speedscope->runs.length; i++) {
        int64_t value = export_round_with_carry(speedscope->runs.data[i].weight * scale, &carry);
        total += value > 0 ? (uint64_t)value : 0;
        json_unsigned(speedscope->json, value > 0 ? (uint64_t)value : 0);
    }
    json_close(speedscope->json, ']');
    json_member_unsigned(speedscope->json, "startValue", 0);
    json_member_unsigned(speedscope->json, "endValue", total);
}

static void write_name(struct speedscope *speedscope, const struct thread *thread)
{
    const char *name = profile_text(speedscope->profile, thread->name);
    const char *tid = profile_text(speedscope->profile, thread->tid);
    struct text_buffer text = {0};
    bool enough = text_append_z(&text, name) && text_append_z(&text, " (tid ") && text_append_z(&text, tid) &&
                  text_append(&text, ")", 1);
    json_key(speedscope->json, "name");
    json_text(speedscope->json, enough ? text.data : "", enough ? text.length : 0);
    speedscope->failed |= !enough;
    array_free(&text);
}

static void write_thread(struct speedscope *speedscope, uint32_t index)
{
    const char *unit = export_get_weight_unit(&speedscope->view->weight);
    json_open(speedscope->json, '{');
    json_member_text(speedscope->json, "type", "sampled");
    write_name(speedscope, &speedscope->profile->threads.data[index]);
    json_member_text(speedscope->json, "unit", strcmp(unit, "count") == 0 ? "none" : unit);
    write_samples(speedscope);
    write_weights(speedscope);
    json_close(speedscope->json, '}');
}

static void write_file(struct speedscope *speedscope)
{
    json_open(speedscope->json, '{');
    json_member_text(speedscope->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    write_frames(speedscope);
    json_member_open(speedscope->json, "profiles", '[');
    size_t count = 0, heaviest = 0;
    double most = -1;
    for (size_t i = 0; i < speedscope->view->thread_count && !speedscope->failed; i++) {
        double weight = 0;
        collect_runs(speedscope, speedscope->view->threads[i]);
        if (!speedscope->runs.length)
            continue;
        for (size_t j = 0; j < speedscope->runs.length; j++)
            weight += speedscope->runs.data[j].weight;
        if (weight > most) {
            most = weight;
            heaviest = count;
        }
        write_thread(speedscope, speedscope->view->threads[i]);
        count++;
    }
    json_close(speedscope->json, ']');
    const struct profile_meta *meta = &speedscope->profile->meta;
    json_member_text(speedscope->json, "name", profile_text(speedscope->profile, meta->product));
    if (count)
        json_member_unsigned(speedscope->json, "activeProfileIndex", heaviest);
    json_member_text(speedscope->json, "exporter", "prof");
    json_close(speedscope->json, '}');
}

int export_speedscope(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct speedscope speedscope = {
        .view = view, .profile = engine_get_profile(view->engine), .nodes = engine_get_nodes(view->engine)};
    size_t funcs = (size_t)speedscope.nodes->func_count + 1;
    speedscope.json = malloc(sizeof(*speedscope.json));
    speedscope.frame = malloc(funcs * sizeof(*speedscope.frame));
    int code = speedscope.json && speedscope.frame ? 0 : error_no_memory(err);
    if (!code) {
        memset(speedscope.frame, 0xff, funcs * sizeof(*speedscope.frame)); /* PROFILE_NONE */
        json_writer_init(speedscope.json, sink, err);
        write_file(&speedscope);
        code = speedscope.failed ? error_no_memory(err) : json_writer_finish(speedscope.json);
    }
    array_free(&speedscope.runs);
    array_free(&speedscope.path);
    array_free(&speedscope.ends);
    array_free(&speedscope.text);
    free(speedscope.json);
    free(speedscope.frame);
    return code;
}

/*
 * The "samples" member of Chrome traces, which Hermes (React Native) and perf's converters write:
 *
 *     "samples": [{"ts": 1000, "tid": 7, "sf": 2, "weight": 1}, ...],
 *     "stackFrames": {"1": {"name": "main"}, "2": {"name": "work", "parent": 1}, ...}
 *
 * Numbers may be texts. The weight is a count. (The "JSON Object Format" of the Trace Event Format.)
 */
#include "import/trace_events.h"

struct stack_frames {
    struct trace *trace;
    struct json_tree tree;
    struct hash by_id, stacks; /* maps from an id to a node, and from an id to 1 + stack */
    struct hash pid_of;        /* tid -> thread of the builder */
    uint32_t javascript;       /* category */
    size_t without_frame, without_time;
};

static uint64_t hash_key(const struct json_tree *tree, uint32_t node)
{
    const struct string_entry *key = &tree->texts.entries.data[tree->nodes.data[node].key];
    return trace_parse_id(key->text, key->length);
}

static int index_frames(struct stack_frames *frames)
{
    const struct json_tree *tree = &frames->tree;
    if (!json_tree_has_type(tree, 0, JSON_OBJECT_OPEN))
        return error_set(frames->trace->err, EINVAL, "stackFrames is not an object");
    for (uint32_t node = json_tree_get_first(tree, 0); node != JSON_TREE_NONE; node = json_tree_get_next(tree, 0, node))
        if (!hash_set(&frames->by_id, hash_key(tree, node), node))
            return error_no_memory(frames->trace->err);
    return 0;
}

static uint32_t read_position(const struct json_tree *tree, uint32_t node, const char *key)
{
    double number = json_tree_get_number_or_text(tree, json_tree_get(tree, node, key));
    return number >= 1 && number < INT32_MAX ? (uint32_t)number : 0;
}

static uint32_t add_frame(const struct stack_frames *frames, uint32_t node)
{
    const struct json_tree *tree = &frames->tree;
    const struct string_entry *name = json_tree_get_text(tree, json_tree_get(tree, node, "name"));
    struct builder_frame frame = {.name = name ? (struct builder_text){name->text, name->length}
                                               : builder_text("(no name)")};
    if (json_tree_equals_text(tree, json_tree_get(tree, node, "category"), "JavaScript")) {
        frame.category = frames->javascript + 1;
        frame.flags = FUNC_IS_JS;
    }
    builder_split_script(&frame);
    frame.line = read_position(tree, node, "line");
    frame.column = read_position(tree, node, "column");
    if (!frame.func_line) {
        frame.func_line = read_position(tree, node, "funcLine");
        frame.func_column = read_position(tree, node, "funcColumn");
    }
    return builder_add_frame(frames->trace->builder, &frame);
}

/* Makes the stacks of a frame and its parents: collects the parents up to the root, then adds their stacks, root
 * first. */
static int make_stack(struct stack_frames *frames, uint64_t id, uint32_t *stack)
{
    struct trace *trace = frames->trace;
    ARRAY(uint64_t) path = {0};
    int code = 0;
    *stack = PROFILE_NONE;
    while (!code) {
        uint32_t known = hash_get(&frames->stacks, id), node = hash_get(&frames->by_id, id);
        if (known != HASH_MISSING)
            *stack = known - 1;
        if (known != HASH_MISSING || node == HASH_MISSING)
            break;
        if (path.length > frames->tree.nodes.length)
            code = error_set(trace->err, EINVAL, "the parents of stackFrames form a cycle");
        else if (!array_push(&path, id))
            code = error_no_memory(trace->err);
        uint32_t parent = json_tree_get(&frames->tree, node, "parent");
        if (parent == JSON_TREE_NONE || json_tree_has_type(&frames->tree, parent, JSON_NULL))
            break;
        id = trace_read_id(&frames->tree, parent);
    }
    while (!code && path.length) {
        id = path.data[--path.length];
        *stack = builder_add_stack(trace->builder, *stack, add_frame(frames, hash_get(&frames->by_id, id)));
        if (!hash_set(&frames->stacks, id, *stack + 1))
            code = error_no_memory(trace->err);
    }
    array_free(&path);
    return code;
}

/* Finds the thread of a sample. A sample may have only a tid, and events of the thread have the pid. */
static uint32_t find_thread(struct stack_frames *frames)
{
    struct trace *trace = frames->trace;
    uint64_t tid = trace_read_id(&trace->tree, json_tree_get(&trace->tree, 0, "tid"));
    uint32_t pid = json_tree_get(&trace->tree, 0, "pid");
    uint32_t known = pid == JSON_TREE_NONE ? hash_get(&frames->pid_of, tid) : HASH_MISSING;
    return known != HASH_MISSING
               ? known
               : builder_add_thread(trace->builder, trace_read_id(&trace->tree, pid), tid, PROFILE_NONE);
}

static int add_sample(struct stack_frames *frames, bool *found)
{
    struct trace *trace = frames->trace;
    uint32_t frame = json_tree_get(&trace->tree, 0, "sf"), stack = PROFILE_NONE;
    double time = json_tree_get_number_or_text(&trace->tree, json_tree_get(&trace->tree, 0, "ts")) / 1000;
    double weight = json_tree_get_number_or_text(&trace->tree, json_tree_get(&trace->tree, 0, "weight"));
    if (!isfinite(time)) {
        frames->without_time++;
        return 0;
    }
    int code = frame == JSON_TREE_NONE ? 0 : make_stack(frames, trace_read_id(&trace->tree, frame), &stack);
    frames->without_frame += frame != JSON_TREE_NONE && stack == PROFILE_NONE;
    if (code)
        return code;
    uint32_t thread = find_thread(frames);
    *found = true;
    trace->end = fmax(trace->end, time);
    builder_add_sample(trace->builder, thread, 0, stack, time, isfinite(weight) ? weight : 1);
    return 0;
}

static int add_samples(struct stack_frames *frames, bool *found)
{
    struct trace *trace = frames->trace;
    struct json json;
    json_init_whole(&json, trace->text + trace->samples.at, trace->samples.size);
    json.allows_last_comma = true;
    enum json_type type = json_next(&json);
    int code = type == JSON_ARRAY_OPEN ? 0 : error_set(trace->err, EINVAL, "samples is not a list");
    while (!code && (type = json_next(&json)) > JSON_END && type != JSON_ARRAY_CLOSE) {
        code = json_tree_read_value(&trace->tree, &json, type, trace->err);
        if (!code)
            code = add_sample(frames, found);
    }
    json_destroy(&json);
    return code;
}

static void warn_of_losses(const struct stack_frames *frames)
{
    struct trace *trace = frames->trace;
    char text[160];
    snprintf(text, sizeof(text), "The trace lacks the stackFrames of %zu samples, which appear without a stack.",
             frames->without_frame);
    if (frames->without_frame)
        builder_warn(trace->builder, text);
    snprintf(text, sizeof(text), "prof ignored %zu samples without a time (ts).", frames->without_time);
    if (frames->without_time)
        builder_warn(trace->builder, text);
}

int trace_add_samples(struct trace *trace, bool *found)
{
    struct stack_frames frames = {.trace = trace};
    if (trace->samples.size == 0)
        return 0;
    frames.javascript = builder_add_category(trace->builder, "JavaScript", "yellow");
    int code = 0;
    for (size_t i = 0; !code && i < trace->builder->threads.length; i++)
        if (!hash_set(&frames.pid_of, trace->builder->threads.data[i].tid, (uint32_t)i))
            code = error_no_memory(trace->err);
    if (!code && trace->frames.size)
        code = json_tree_read(&frames.tree, trace->text + trace->frames.at, trace->frames.size, trace->err);
    if (!code && trace->frames.size)
        code = index_frames(&frames);
    if (!code)
        code = add_samples(&frames, found);
    if (!code)
        warn_of_losses(&frames);
    hash_destroy(&frames.by_id);
    hash_destroy(&frames.stacks);
    hash_destroy(&frames.pid_of);
    json_tree_destroy(&frames.tree);
    return code;
}

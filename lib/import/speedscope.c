/*
 * speedscope's file format (https://www.speedscope.app/file-format-schema.json): frames in one list, and profiles that
 * refer to frames by index. A sampled profile has a stack and a weight for each sample; an evented profile has the
 * times at which frames open and close, and becomes one sample for the time between two events. Every profile is a
 * thread.
 */
#include "import/importers.h"
#include "import/json_tree.h"

struct speedscope {
    struct json_tree tree;
    struct profile_builder *builder;
    struct error *err;
    ARRAY(uint32_t) frames; /* frame of the list -> frame of the profile */
    uint32_t thread;
    size_t number; /* of the profile */
    double scale;  /* factor from the file's unit to ms, bytes or samples */
};

static int read_frames(struct speedscope *file)
{
    const struct json_tree *tree = &file->tree;
    uint32_t list = json_tree_get(tree, json_tree_get(tree, 0, "shared"), "frames");
    if (!json_tree_has_type(tree, list, JSON_ARRAY_OPEN))
        return error_set(file->err, EINVAL, "the file has no shared.frames");
    for (uint32_t node = json_tree_get_first(tree, list); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, list, node)) {
        struct builder_frame frame = {
            .name = builder_get_json_text(tree, json_tree_get(tree, node, "name")),
            .file = builder_get_json_text(tree, json_tree_get(tree, node, "file")),
            .func_line = (uint32_t)json_tree_get_integer(tree, json_tree_get(tree, node, "line"), INT32_MAX, 0),
            .func_column = (uint32_t)json_tree_get_integer(tree, json_tree_get(tree, node, "col"), INT32_MAX, 0)};
        if (!frame.name.length)
            return error_set(file->err, EINVAL, "shared.frames[%zu] has no name", file->frames.length);
        frame.line = frame.func_line;
        if (!array_push(&file->frames, builder_add_frame(file->builder, &frame)))
            return error_no_memory(file->err);
    }
    return 0;
}

static uint32_t find_frame(const struct speedscope *file, uint32_t node)
{
    uint64_t index = json_tree_get_integer(&file->tree, node, UINT32_MAX, UINT64_MAX);
    return index < file->frames.length ? file->frames.data[index] : PROFILE_NONE;
}

static int fail_profile(struct speedscope *file, const char *list, size_t index, const char *problem)
{
    return error_set(file->err, EINVAL, "profiles[%zu].%s[%zu] %s", file->number, list, index, problem);
}

static int read_sampled_profile(struct speedscope *file, uint32_t profile, double time)
{
    const struct json_tree *tree = &file->tree;
    uint32_t samples = json_tree_get(tree, profile, "samples"), weights = json_tree_get(tree, profile, "weights");
    uint32_t weight = json_tree_get_first(tree, weights);
    size_t row = 0;
    for (uint32_t node = json_tree_get_first(tree, samples); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, samples, node), row++) {
        uint32_t stack = PROFILE_NONE;
        for (uint32_t item = json_tree_get_first(tree, node); item != JSON_TREE_NONE;
             item = json_tree_get_next(tree, node, item)) {
            uint32_t frame = find_frame(file, item);
            if (frame == PROFILE_NONE)
                return fail_profile(file, "samples", row, "has a frame that is missing in shared.frames");
            stack = builder_add_stack(file->builder, stack, frame);
        }
        double value = weight == JSON_TREE_NONE ? NAN : json_tree_get_number(tree, weight) * file->scale;
        if (!isfinite(value))
            return fail_profile(file, "samples", row, "has no weight");
        builder_add_sample(file->builder, file->thread, 0, stack, time, value);
        time += fmax(value, 0);
        weight = json_tree_get_next(tree, weights, weight);
    }
    return 0;
}

struct open_frame {
    uint32_t frame, stack;
};

ARRAY_TYPE(struct open_frames, struct open_frame);

static int read_events(struct speedscope *file, uint32_t events, struct open_frames *open, double time)
{
    const struct json_tree *tree = &file->tree;
    size_t row = 0;
    for (uint32_t node = json_tree_get_first(tree, events); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, events, node), row++) {
        double at = json_tree_get_number(tree, json_tree_get(tree, node, "at")) * file->scale;
        uint32_t kind = json_tree_get(tree, node, "type"), frame = find_frame(file, json_tree_get(tree, node, "frame"));
        uint32_t stack = open->length ? open->data[open->length - 1].stack : PROFILE_NONE;
        if (!isfinite(at) || (row && at < time))
            return fail_profile(file, "events", row, "is earlier than the previous event");
        if (frame == PROFILE_NONE)
            return fail_profile(file, "events", row, "has a frame that is missing in shared.frames");
        if (at > time && row)
            builder_add_sample(file->builder, file->thread, 0, stack, time, stack == PROFILE_NONE ? 0 : at - time);
        time = at;
        if (json_tree_equals_text(tree, kind, "O")) {
            stack = builder_add_stack(file->builder, stack, frame);
            if (!array_push(open, (struct open_frame){frame, stack}))
                return error_no_memory(file->err);
        } else if (!json_tree_equals_text(tree, kind, "C"))
            return fail_profile(file, "events", row, "neither opens nor closes a frame");
        else if (open->length == 0 || open->data[open->length - 1].frame != frame)
            return fail_profile(file, "events", row, "closes a frame that is not the innermost open one");
        else
            open->length--;
    }
    if (open->length)
        return error_set(file->err, EINVAL, "profiles[%zu].events leave %zu frames open", file->number, open->length);
    return 0;
}

static int read_evented(struct speedscope *file, uint32_t profile)
{
    struct open_frames open = {0};
    int code = read_events(file, json_tree_get(&file->tree, profile, "events"), &open, 0);
    array_free(&open);
    return code;
}

/* Sets the unit of the file's numbers. Returns false if the unit is unknown. */
static bool set_unit(struct speedscope *file, uint32_t unit)
{
    static const struct {
        const char *name;
        enum weight_type type;
        double scale;
    } units[] = {{"none", WEIGHT_SAMPLES, 1},
                 {"nanoseconds", WEIGHT_TRACING_MS, 1e-6},
                 {"microseconds", WEIGHT_TRACING_MS, 1e-3},
                 {"milliseconds", WEIGHT_TRACING_MS, 1},
                 {"seconds", WEIGHT_TRACING_MS, 1e3},
                 {"bytes", WEIGHT_BYTES, 1}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (json_tree_equals_text(&file->tree, unit, units[i].name)) {
            file->builder->weight_type = units[i].type;
            file->scale = units[i].scale;
            return true;
        }
    return false;
}

static int read_profile(struct speedscope *file, uint32_t profile)
{
    const struct json_tree *tree = &file->tree;
    if (!set_unit(file, json_tree_get(tree, profile, "unit")))
        return error_set(file->err, EINVAL, "profiles[%zu] has an unknown unit", file->number);
    uint32_t name =
        builder_add_string(file->builder, builder_get_json_text(tree, json_tree_get(tree, profile, "name")));
    file->thread = builder_add_thread(file->builder, 0, file->number, name);
    if (json_tree_equals_text(tree, json_tree_get(tree, profile, "type"), "evented"))
        return read_evented(file, profile);
    double start = json_tree_get_number(tree, json_tree_get(tree, profile, "startValue")) * file->scale;
    return read_sampled_profile(file, profile, isfinite(start) ? start : 0);
}

static int read_all(struct speedscope *file)
{
    const struct json_tree *tree = &file->tree;
    int code = read_frames(file);
    uint32_t profiles = json_tree_get(tree, 0, "profiles");
    for (uint32_t node = json_tree_get_first(tree, profiles); !code && node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, profiles, node), file->number++)
        code = read_profile(file, node);
    file->builder->has_no_times = file->builder->weight_type != WEIGHT_TRACING_MS;
    return code;
}

int speedscope_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct speedscope file = {.builder = builder, .err = err};
    int code = json_tree_read(&file.tree, text, size, err);
    if (!code)
        code = read_all(&file);
    array_free(&file.frames);
    json_tree_destroy(&file.tree);
    return code;
}

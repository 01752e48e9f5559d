/*
 * The output of valgrind --tool=dhat and of the Rust crate dhat (dhat.out.PID, dhat-heap.json; valgrind's
 * dhat/dh_main.c defines the format): program points, each with a stack, innermost frame first. A program point has its
 * allocated bytes and blocks (tb, tbk), the bytes and blocks at the peak of the heap (gb, gbk), and the bytes and
 * blocks at the end (eb, ebk). The allocated bytes are the weight, the other numbers are events. A frame is a text:
 * "0x109154: leafy (h.c:2)" or "0x4876: ??? (in /lib/libc.so.6)". Addresses are absolute addresses of the process, and
 * the file lacks its mappings.
 */
#include "import/importers.h"
#include "import/json_tree.h"

static const struct {
    const char *key, *name;
} events[] = {{"tbk", "blocks"},
              {"gb", "at peak (bytes)"},
              {"gbk", "blocks at peak"},
              {"eb", "at end (bytes)"},
              {"ebk", "blocks at end"}};

enum { EVENTS = sizeof(events) / sizeof(*events) };

struct dhat {
    struct profile_builder *builder;
    struct error *err;
    struct json_tree tree;
    ARRAY(uint32_t) frames; /* of ftbl */
    ARRAY(uint32_t) stack;  /* frames of the current program point */
    uint32_t thread, tables[EVENTS];
};

static bool begins_with(const char *text, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

/* Splits "file.c:12" or "file.rs:12:5". */
static void split_source_place(const char *text, size_t length, struct builder_frame *frame)
{
    uint32_t numbers[2] = {0};
    unsigned count = 0;
    while (count < 2) {
        size_t at = length;
        uint32_t number = 0, digit = 1;
        for (; at && text[at - 1] >= '0' && text[at - 1] <= '9' && length - at < 9; at--, digit *= 10)
            number += (uint32_t)(text[at - 1] - '0') * digit;
        if (at == length || !at || text[at - 1] != ':')
            break;
        numbers[count++] = number;
        length = at - 1;
    }
    frame->file = (struct builder_text){text, length};
    frame->line = count ? numbers[count - 1] : 0;
    frame->column = count == 2 ? numbers[0] : 0;
}

/* A row of ftbl. */
static uint32_t add_frame(struct dhat *dhat, const struct string_entry *entry)
{
    struct builder_frame frame = {0};
    const char *text = entry->text, *colon = memchr(text, ':', entry->length);
    size_t length = entry->length, skipped = colon && begins_with(text, length, "0x") ? (size_t)(colon - text) + 1 : 0;
    struct builder_text address = {text, skipped ? skipped - 1 : 0};
    while (skipped < length && text[skipped] == ' ')
        skipped++;
    text += skipped;
    length -= skipped;
    frame.name = (struct builder_text){text, length};
    for (size_t at = length; length && text[length - 1] == ')' && at > 1; at--) {
        if (text[at - 1] != '(' || text[at - 2] != ' ')
            continue;
        frame.name.length = at - 2;
        const char *place = text + at;
        size_t rest = length - at - 1;
        if (!begins_with(place, rest, "in ")) {
            split_source_place(place, rest, &frame);
            break;
        }
        uint32_t resource;
        builder_add_lib(dhat->builder, (struct builder_text){place + 3, rest - 3}, builder_text(""), &resource);
        frame.resource = resource + 1;
        break;
    }
    if (!frame.name.length || (address.length && begins_with(frame.name.text, frame.name.length, "???")))
        frame.name = address.length ? address : builder_text("(unknown)");
    return builder_add_frame(dhat->builder, &frame);
}

static int read_frames(struct dhat *dhat, uint32_t list)
{
    const struct json_tree *tree = &dhat->tree;
    if (!json_tree_has_type(tree, list, JSON_ARRAY_OPEN))
        return error_set(dhat->err, EINVAL, "the file has no ftbl (table of frames)");
    for (uint32_t row = json_tree_get_first(tree, list); row != JSON_TREE_NONE;
         row = json_tree_get_next(tree, list, row)) {
        const struct string_entry *text = json_tree_get_text(tree, row);
        if (!text)
            return error_set(dhat->err, EINVAL, "ftbl[%zu] is not a string", dhat->frames.length);
        if (!array_push(&dhat->frames, add_frame(dhat, text)))
            return error_no_memory(dhat->err);
    }
    return 0;
}

static int add_value(struct dhat *dhat, uint32_t point, const char *key, uint32_t table, uint32_t stack, size_t number)
{
    const struct json_tree *tree = &dhat->tree;
    uint32_t node = json_tree_get(tree, point, key);
    if (node == JSON_TREE_NONE && table) /* false if the file has no lifetimes of blocks */
        return 0;
    double value = json_tree_get_number(tree, node);
    if (!isfinite(value) || value < 0)
        return error_set(dhat->err, EINVAL, "pps[%zu].%s is missing, or not a count", number, key);
    if (value > 0)
        builder_add_sample(dhat->builder, dhat->thread, table, stack, 0, value);
    return 0;
}

static int read_point(struct dhat *dhat, uint32_t point, size_t number)
{
    const struct json_tree *tree = &dhat->tree;
    uint32_t list = json_tree_get(tree, point, "fs"), stack = PROFILE_NONE;
    if (!json_tree_has_type(tree, list, JSON_ARRAY_OPEN))
        return error_set(dhat->err, EINVAL, "pps[%zu] has no fs (stack)", number);
    dhat->stack.length = 0;
    for (uint32_t row = json_tree_get_first(tree, list); row != JSON_TREE_NONE;
         row = json_tree_get_next(tree, list, row)) {
        uint64_t index = json_tree_get_integer(tree, row, UINT32_MAX, UINT64_MAX);
        if (index >= dhat->frames.length)
            return error_set(dhat->err, EINVAL, "pps[%zu] refers to a missing frame of ftbl", number);
        if (!array_push(&dhat->stack, dhat->frames.data[index]))
            return error_no_memory(dhat->err);
    }
    for (size_t i = dhat->stack.length; i-- > 0;)
        stack = builder_add_stack(dhat->builder, stack, dhat->stack.data[i]);
    int code = add_value(dhat, point, "tb", 0, stack, number);
    for (size_t i = 0; !code && i < EVENTS; i++)
        if (dhat->tables[i])
            code = add_value(dhat, point, events[i].key, dhat->tables[i], stack, number);
    return code;
}

static int read_all(struct dhat *dhat)
{
    const struct json_tree *tree = &dhat->tree;
    uint32_t points = json_tree_get(tree, 0, "pps");
    double version = json_tree_get_number(tree, json_tree_get(tree, 0, "dhatFileVersion"));
    if (version != 1 && version != 2)
        return error_set(dhat->err, EINVAL, "the file has an unknown dhatFileVersion: prof reads 1 and 2");
    if (!json_tree_has_type(tree, points, JSON_ARRAY_OPEN))
        return error_set(dhat->err, EINVAL, "the file has no pps (stacks)");
    /* in other modes, dhat counts calls or events of programs, not heap bytes */
    bool is_heap = !json_tree_equals_text(tree, json_tree_get(tree, 0, "mode"), "ad-hoc");
    dhat->builder->has_no_times = true;
    dhat->builder->weight_type = is_heap ? WEIGHT_BYTES : WEIGHT_SAMPLES;
    uint64_t pid = json_tree_get_integer(tree, json_tree_get(tree, 0, "pid"), INT32_MAX, 0);
    dhat->thread = builder_add_thread(dhat->builder, pid, pid, PROFILE_NONE);
    for (size_t i = 0; i < EVENTS; i++) {
        bool has_lifetimes = json_tree_has_type(tree, json_tree_get(tree, 0, "bklt"), JSON_TRUE);
        if (i > 0 && (!has_lifetimes || !is_heap))
            break;
        dhat->tables[i] = builder_add_event(dhat->builder, builder_text(is_heap ? events[i].name : "events"));
    }
    int code = read_frames(dhat, json_tree_get(tree, 0, "ftbl"));
    size_t number = 0;
    for (uint32_t point = json_tree_get_first(tree, points); !code && point != JSON_TREE_NONE;
         point = json_tree_get_next(tree, points, point))
        code = read_point(dhat, point, number++);
    return code;
}

int dhat_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct dhat dhat = {.builder = builder, .err = err};
    int code = json_tree_read(&dhat.tree, text, size, err);
    if (!code)
        code = read_all(&dhat);
    array_free(&dhat.frames);
    array_free(&dhat.stack);
    json_tree_destroy(&dhat.tree);
    return code;
}

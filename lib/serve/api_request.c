#include "serve/api_request.h"

#include "base/json_tree.h"

static int parse(struct json_tree *tree, const char *body, size_t size, struct error *err)
{
    *tree = (struct json_tree){.most_nodes = API_VALUES_MAX};
    int code = json_tree_read(tree, body, size, err);
    if (code == -E2BIG)
        return error_set(err, E2BIG, "the request has more than %d values: send several smaller ones", API_VALUES_MAX);
    if (code == -EINVAL)
        return error_prefix(err, code, "the request is not JSON");
    if (!code && !json_tree_is(tree, 0, JSON_OBJECT_OPEN))
        return error_set(err, EINVAL, "the request is not a JSON object");
    return code;
}

/* ---- values ---- */

static bool has_member(const struct json_tree *tree, uint32_t object, const char *name)
{
    return json_tree_get(tree, object, name) != JSON_TREE_NONE;
}

/* Returns NULL if the node is no string. */
static const char *get_text(const struct json_tree *tree, uint32_t node)
{
    const struct string_entry *text = json_tree_text(tree, node);
    return text ? text->text : NULL;
}

static int require_array(const struct json_tree *tree, uint32_t object, const char *name, uint32_t *out,
                         struct error *err)
{
    *out = json_tree_get(tree, object, name);
    return json_tree_is(tree, *out, JSON_ARRAY_OPEN) ? 0 : error_set(err, EINVAL, "\"%s\" must be an array", name);
}

static int require_text(const struct json_tree *tree, uint32_t object, const char *name, const char **out,
                        struct error *err)
{
    *out = get_text(tree, json_tree_get(tree, object, name));
    return *out ? 0 : error_set(err, EINVAL, "\"%s\" must be a string", name);
}

/* Reads a hexadecimal number such as "0x1f", with at most 16 digits. */
static int require_hex(const struct json_tree *tree, uint32_t object, const char *name, uint64_t *out,
                       struct error *err)
{
    const char *text = get_text(tree, json_tree_get(tree, object, name));
    size_t digits = text && strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdefABCDEF") : 0;
    if (digits == 0 || digits > 16 || text[2 + digits])
        return error_set(err, EINVAL, "\"%s\" must be a string such as \"0x1f\"", name);
    *out = strtoull(text, NULL, 16);
    return 0;
}

/* Reads an optional text; *out is NULL if the member is missing or null. */
static int read_text(const struct json_tree *tree, uint32_t object, const char *name, const char **out,
                     struct error *err)
{
    uint32_t value = json_tree_get(tree, object, name);
    *out = NULL;
    return value == JSON_TREE_NONE || json_tree_is(tree, value, JSON_NULL) ? 0
                                                                           : require_text(tree, object, name, out, err);
}

/* Reads an array of two elements. Returns false for any other value. */
static bool read_pair(const struct json_tree *tree, uint32_t pair, uint32_t *first, uint32_t *second)
{
    *first = json_tree_first(tree, pair);
    *second = json_tree_is(tree, pair, JSON_ARRAY_OPEN) ? json_tree_next(tree, pair, *first) : JSON_TREE_NONE;
    return json_tree_next(tree, pair, *second) == JSON_TREE_NONE && *second != JSON_TREE_NONE;
}

/* Reads an integer from 0 to `most`. */
static bool read_number(const struct json_tree *tree, uint32_t node, uint64_t most, uint64_t *out)
{
    *out = json_tree_whole(tree, node, most, UINT64_MAX);
    return *out != UINT64_MAX;
}

static const char *make_key(struct arena *arena, const char *name, const char *id)
{
    size_t name_size = strlen(name), id_size = strlen(id);
    char *key = arena_alloc(arena, name_size + 1 + id_size + 1);
    if (!key)
        return NULL;
    memcpy(key, name, name_size);
    key[name_size] = '/';
    memcpy(key + name_size + 1, id, id_size + 1);
    return key;
}

/* ---- symbolicate/v5 ---- */

static int read_modules(struct symbolicate_request *request, const struct json_tree *tree, uint32_t map,
                        struct error *err)
{
    JSON_TREE_FOR_EACH (pair, tree, map) {
        uint32_t first, second;
        bool is_pair = read_pair(tree, pair, &first, &second);
        const char *name = get_text(tree, first), *id = get_text(tree, second);
        if (!is_pair || !name || !id)
            return error_set(err, EINVAL, "an element of \"memoryMap\" must be [debug name, breakpad id]");
        struct request_module module = {.name = arena_copy(&request->arena, name, strlen(name)),
                                        .key = make_key(&request->arena, name, id)};
        if (!module.name || !module.key || !array_push(&request->modules, module))
            return error_no_memory(err);
    }
    return 0;
}

static int read_stack(struct symbolicate_request *request, const struct json_tree *tree, uint32_t stack,
                      size_t module_count, struct error *err)
{
    /* the largest integer below which a JSON number represents all integers exactly */
    static const uint64_t address_max = (UINT64_C(1) << 53) - 1;
    if (!json_tree_is(tree, stack, JSON_ARRAY_OPEN))
        return error_set(err, EINVAL, "an element of \"stacks\" must be an array of frames");
    JSON_TREE_FOR_EACH (pair, tree, stack) {
        uint32_t module, address;
        uint64_t index;
        struct request_frame frame;
        if (!read_pair(tree, pair, &module, &address) || !read_number(tree, module, UINT32_MAX - 1, &index) ||
            !read_number(tree, address, address_max, &frame.address))
            return error_set(err, EINVAL, "a frame must be [module index, address], both integers of at least 0");
        if (index >= module_count)
            return error_set(err, EINVAL, "a frame is in module %zu, but \"memoryMap\" has %zu", (size_t)index,
                             module_count);
        frame.module = (uint32_t)index;
        if (!array_push(&request->frames, frame))
            return error_no_memory(err);
    }
    return array_push(&request->stack_ends, request->frames.length) ? 0 : error_no_memory(err);
}

static int read_job(struct symbolicate_request *request, const struct json_tree *tree, uint32_t object,
                    struct error *err)
{
    uint32_t map, stacks;
    if (!json_tree_is(tree, object, JSON_OBJECT_OPEN))
        return error_set(err, EINVAL, "an element of \"jobs\" must be an object");
    struct request_job job = {.first_module = request->modules.length, .first_stack = request->stack_ends.length};
    int code = require_array(tree, object, "memoryMap", &map, err);
    if (!code)
        code = require_array(tree, object, "stacks", &stacks, err);
    if (!code)
        code = read_modules(request, tree, map, err);
    if (code)
        return code;
    job.module_count = request->modules.length - job.first_module;
    JSON_TREE_FOR_EACH (stack, tree, stacks)
        if (!code)
            code = read_stack(request, tree, stack, job.module_count, err);
    job.stack_count = request->stack_ends.length - job.first_stack;
    if (!code && !array_push(&request->jobs, job))
        code = error_no_memory(err);
    return code;
}

static int read_jobs(struct symbolicate_request *request, const struct json_tree *tree, uint32_t root,
                     struct error *err)
{
    uint32_t jobs;
    if (!has_member(tree, root, "jobs"))
        return read_job(request, tree, root, err); /* the request is the only job */
    int code = require_array(tree, root, "jobs", &jobs, err);
    JSON_TREE_FOR_EACH (job, tree, jobs)
        if (!code)
            code = read_job(request, tree, job, err);
    return code;
}

int symbolicate_request_read(struct symbolicate_request *request, const char *body, size_t size, struct error *err)
{
    *request = (struct symbolicate_request){.arena = {0}};
    struct json_tree tree;
    int code = parse(&tree, body, size, err);
    if (!code)
        code = read_jobs(request, &tree, 0, err);
    json_tree_destroy(&tree);
    return code;
}

void symbolicate_request_destroy(struct symbolicate_request *request)
{
    array_free(&request->jobs);
    array_free(&request->modules);
    array_free(&request->stack_ends);
    array_free(&request->frames);
    arena_destroy(&request->arena);
}

/* ---- source/v1 ---- */

static int read_source_place(struct source_request *request, const struct json_tree *tree, struct error *err)
{
    const char *name, *id = NULL;
    int code = require_text(tree, 0, "debugName", &name, err);
    if (!code)
        code = require_text(tree, 0, "debugId", &id, err);
    if (!code)
        code = require_hex(tree, 0, "moduleOffset", &request->address, err);
    if (!code && !(request->key = make_key(&request->arena, name, id)))
        code = error_no_memory(err);
    return code;
}

int source_request_read(struct source_request *request, const char *body, size_t size, struct error *err)
{
    *request = (struct source_request){.arena = {0}};
    struct json_tree tree;
    const char *file;
    int code = parse(&tree, body, size, err);
    if (!code)
        code = require_text(&tree, 0, "file", &file, err);
    if (!code && !(request->file = arena_copy(&request->arena, file, strlen(file))))
        code = error_no_memory(err);
    if (!code &&
        (has_member(&tree, 0, "debugName") || has_member(&tree, 0, "debugId") || has_member(&tree, 0, "moduleOffset")))
        code = read_source_place(request, &tree, err);
    json_tree_destroy(&tree);
    return code;
}

void source_request_destroy(struct source_request *request)
{
    arena_destroy(&request->arena);
}

/* ---- asm/v1 ---- */

static int read_asm_library(struct asm_request *request, const struct json_tree *tree, struct error *err)
{
    const char *name, *id, *code_id;
    int code = read_text(tree, 0, "debugName", &name, err);
    if (!code)
        code = read_text(tree, 0, "debugId", &id, err);
    if (!code)
        code = read_text(tree, 0, "codeId", &code_id, err);
    if (code)
        return code;
    if (name && id)
        request->key = make_key(&request->arena, name, id);
    else if (code_id)
        request->code_id = arena_copy(&request->arena, code_id, strlen(code_id));
    else
        return error_set(err, EINVAL, "the request needs \"debugName\" and \"debugId\", or \"codeId\"");
    return request->key || request->code_id ? 0 : error_no_memory(err);
}

int asm_request_read(struct asm_request *request, const char *body, size_t size, struct error *err)
{
    *request = (struct asm_request){.arena = {0}};
    struct json_tree tree;
    int code = parse(&tree, body, size, err);
    if (!code)
        code = read_asm_library(request, &tree, err);
    if (!code)
        code = require_hex(&tree, 0, "startAddress", &request->start, err);
    if (!code)
        code = require_hex(&tree, 0, "size", &request->size, err);
    uint32_t until_end = json_tree_get(&tree, 0, "continueUntilFunctionEnd");
    request->until_function_end = json_tree_is(&tree, until_end, JSON_TRUE);
    if (!code && until_end != JSON_TREE_NONE && !request->until_function_end &&
        !json_tree_is(&tree, until_end, JSON_FALSE) && !json_tree_is(&tree, until_end, JSON_NULL))
        code = error_set(err, EINVAL, "\"continueUntilFunctionEnd\" must be true or false");
    json_tree_destroy(&tree);
    return code;
}

void asm_request_destroy(struct asm_request *request)
{
    arena_destroy(&request->arena);
}

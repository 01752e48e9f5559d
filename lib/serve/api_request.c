/*
 * cJSON builds a tree of 64-byte nodes, so 16 MiB of "[1,1,1..." would become half a gigabyte. prof therefore counts
 * the values and the depth of the text first, and parses only a request within the limits.
 */
#include "serve/api_request.h"

#include <cjson/cJSON.h>

/* ---- measuring ---- */

/* Returns the position after the closing quote of the string that begins at `at`; `end` if the quote is missing. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

static int check_size(const char *body, size_t size, struct error *err)
{
    size_t depth = 0, values = 1;
    const char *end = body + size;
    for (const char *at = body; at < end;) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (*at == '[' || *at == '{') {
            values++;
            if (++depth > API_DEPTH_MAX)
                return error_set(err, EINVAL, "the request is nested more than %d deep", API_DEPTH_MAX);
        }
        if ((*at == ']' || *at == '}') && depth > 0)
            depth--;
        if (*at == ',' && ++values > API_VALUES_MAX)
            return error_set(err, E2BIG, "the request has more than %d values: send several smaller ones",
                             API_VALUES_MAX);
        at++;
    }
    return 0;
}

static int parse(cJSON **tree, const char *body, size_t size, struct error *err)
{
    *tree = NULL;
    int code = check_size(body, size, err);
    if (code != 0)
        return code;
    const char *end = body;
    *tree = size ? cJSON_ParseWithLengthOpts(body, size, &end, false) : NULL;
    if (!*tree)
        return error_set(err, EINVAL, "the request is not JSON, at byte %zu", (size_t)(end - body));
    for (; end < body + size; end++)
        if (!strchr(" \t\r\n", *end) || !*end)
            return error_set(err, EINVAL, "unexpected data follows the JSON of the request, at byte %zu",
                             (size_t)(end - body));
    if (!cJSON_IsObject(*tree))
        return error_set(err, EINVAL, "the request is not a JSON object");
    return 0;
}

/* ---- values ---- */

static int require_array(const cJSON *object, const char *name, const cJSON **out, struct error *err)
{
    *out = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsArray(*out) ? 0 : error_set(err, EINVAL, "\"%s\" must be an array", name);
}

static int require_text(const cJSON *object, const char *name, const char **out, struct error *err)
{
    *out = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return *out ? 0 : error_set(err, EINVAL, "\"%s\" must be a string", name);
}

/* Reads a hexadecimal number such as "0x1f", with at most 16 digits. */
static int require_hex(const cJSON *object, const char *name, uint64_t *out, struct error *err)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    size_t digits = text && strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdefABCDEF") : 0;
    if (digits == 0 || digits > 16 || text[2 + digits])
        return error_set(err, EINVAL, "\"%s\" must be a string such as \"0x1f\"", name);
    *out = strtoull(text, NULL, 16);
    return 0;
}

/* Reads an optional text; *out is NULL if the member is missing or null. */
static int read_text(const cJSON *object, const char *name, const char **out, struct error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    *out = cJSON_GetStringValue(value);
    return !value || cJSON_IsNull(value) || *out ? 0 : error_set(err, EINVAL, "\"%s\" must be a string", name);
}

/* Reads an array of two elements. Returns false for any other value. */
static bool read_pair(const cJSON *pair, const cJSON **first, const cJSON **second)
{
    *first = cJSON_IsArray(pair) ? pair->child : NULL;
    *second = *first ? (*first)->next : NULL;
    return *second && !(*second)->next;
}

/* Reads an integer from 0 to below `limit`. */
static bool read_number(const cJSON *value, double limit, uint64_t *out)
{
    bool fits = cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble < limit;
    *out = fits ? (uint64_t)value->valuedouble : 0;
    return fits && (double)*out == value->valuedouble;
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

static int read_modules(struct symbolicate_request *request, const cJSON *map, struct error *err)
{
    const cJSON *pair;
    cJSON_ArrayForEach(pair, map)
    {
        const cJSON *name, *id;
        if (!read_pair(pair, &name, &id) || !cJSON_IsString(name) || !cJSON_IsString(id))
            return error_set(err, EINVAL, "an element of \"memoryMap\" must be [debug name, breakpad id]");
        struct request_module module = {
            .name = arena_copy(&request->arena, name->valuestring, strlen(name->valuestring)),
            .key = make_key(&request->arena, name->valuestring, id->valuestring),
        };
        if (!module.name || !module.key || !array_push(&request->modules, module))
            return error_no_memory(err);
    }
    return 0;
}

static int read_stack(struct symbolicate_request *request, const cJSON *stack, size_t module_count, struct error *err)
{
    static const double address_limit =
        9007199254740992; /* 2^53, the largest integer that a JSON number represents exactly */
    if (!cJSON_IsArray(stack))
        return error_set(err, EINVAL, "an element of \"stacks\" must be an array of frames");
    const cJSON *pair;
    cJSON_ArrayForEach(pair, stack)
    {
        const cJSON *module, *address;
        uint64_t index;
        struct request_frame frame;
        if (!read_pair(pair, &module, &address) || !read_number(module, UINT32_MAX, &index) ||
            !read_number(address, address_limit, &frame.address))
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

static int read_job(struct symbolicate_request *request, const cJSON *object, struct error *err)
{
    const cJSON *map, *stacks, *stack;
    if (!cJSON_IsObject(object))
        return error_set(err, EINVAL, "an element of \"jobs\" must be an object");
    struct request_job job = {.first_module = request->modules.length, .first_stack = request->stack_ends.length};
    int code = require_array(object, "memoryMap", &map, err);
    if (code == 0)
        code = require_array(object, "stacks", &stacks, err);
    if (code == 0)
        code = read_modules(request, map, err);
    job.module_count = request->modules.length - job.first_module;
    for (stack = code == 0 ? stacks->child : NULL; code == 0 && stack; stack = stack->next)
        code = read_stack(request, stack, job.module_count, err);
    job.stack_count = request->stack_ends.length - job.first_stack;
    if (code == 0 && !array_push(&request->jobs, job))
        code = error_no_memory(err);
    return code;
}

int symbolicate_request_read(struct symbolicate_request *request, const char *body, size_t size, struct error *err)
{
    *request = (struct symbolicate_request){.arena = {0}};
    cJSON *tree;
    int code = parse(&tree, body, size, err);
    const cJSON *jobs = NULL;
    if (code == 0 && !cJSON_HasObjectItem(tree, "jobs")) {
        code = read_job(request, tree, err); /* the request is the only job */
    } else if (code == 0) {
        code = require_array(tree, "jobs", &jobs, err);
        for (const cJSON *job = code == 0 ? jobs->child : NULL; code == 0 && job; job = job->next)
            code = read_job(request, job, err);
    }
    cJSON_Delete(tree);
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

static int read_source_place(struct source_request *request, const cJSON *tree, struct error *err)
{
    const char *name, *id = NULL;
    int code = require_text(tree, "debugName", &name, err);
    if (code == 0)
        code = require_text(tree, "debugId", &id, err);
    if (code == 0)
        code = require_hex(tree, "moduleOffset", &request->address, err);
    if (code == 0 && !(request->key = make_key(&request->arena, name, id)))
        code = error_no_memory(err);
    return code;
}

int source_request_read(struct source_request *request, const char *body, size_t size, struct error *err)
{
    *request = (struct source_request){.arena = {0}};
    cJSON *tree;
    const char *file;
    int code = parse(&tree, body, size, err);
    if (code == 0)
        code = require_text(tree, "file", &file, err);
    if (code == 0 && !(request->file = arena_copy(&request->arena, file, strlen(file))))
        code = error_no_memory(err);
    bool is_script = code == 0 && !cJSON_HasObjectItem(tree, "debugName") && !cJSON_HasObjectItem(tree, "debugId") &&
                     !cJSON_HasObjectItem(tree, "moduleOffset");
    if (code == 0 && !is_script)
        code = read_source_place(request, tree, err);
    cJSON_Delete(tree);
    return code;
}

void source_request_destroy(struct source_request *request)
{
    arena_destroy(&request->arena);
}

/* ---- asm/v1 ---- */

static int read_asm_library(struct asm_request *request, const cJSON *tree, struct error *err)
{
    const char *name, *id, *code_id;
    int code = read_text(tree, "debugName", &name, err);
    if (code == 0)
        code = read_text(tree, "debugId", &id, err);
    if (code == 0)
        code = read_text(tree, "codeId", &code_id, err);
    if (code != 0)
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
    cJSON *tree;
    int code = parse(&tree, body, size, err);
    if (code == 0)
        code = read_asm_library(request, tree, err);
    if (code == 0)
        code = require_hex(tree, "startAddress", &request->start, err);
    if (code == 0)
        code = require_hex(tree, "size", &request->size, err);
    const cJSON *until_end = code == 0 ? cJSON_GetObjectItemCaseSensitive(tree, "continueUntilFunctionEnd") : NULL;
    if (until_end && !cJSON_IsBool(until_end) && !cJSON_IsNull(until_end))
        code = error_set(err, EINVAL, "\"continueUntilFunctionEnd\" must be true or false");
    request->until_function_end = cJSON_IsTrue(until_end);
    cJSON_Delete(tree);
    return code;
}

void asm_request_destroy(struct asm_request *request)
{
    arena_destroy(&request->arena);
}

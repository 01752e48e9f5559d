#include "import/json_tree.h"

static int fail_json(const struct json *json, struct error *err)
{
    if (json->ended && json->at == json->end)
        return error_set(err, EINVAL, "the text is truncated after %llu bytes",
                         (unsigned long long)json_count_read_bytes(json));
    return error_set(err, EINVAL, "at byte %llu: %s", (unsigned long long)json->offset, json->problem);
}

static bool add_node(struct json_tree *tree, const struct json *json, enum json_type type, uint32_t key)
{
    struct json_node *node = tree->nodes.length < JSON_TREE_NONE - 1 ? array_push_zero(&tree->nodes) : NULL;
    if (!node)
        return false;
    node->key = key;
    node->type = (uint8_t)type;
    node->next = (uint32_t)tree->nodes.length;
    if (type == JSON_NUMBER)
        node->number = json->number;
    else if (type == JSON_STRING)
        return (node->text = strings_add(&tree->texts, json->text, json->length)) != STRING_NONE;
    return true;
}

int json_tree_read_value(struct json_tree *tree, struct json *json, enum json_type type, struct error *err)
{
    uint32_t open[JSON_MAX_DEPTH + 1], key = STRING_NONE;
    size_t depth = 0;
    tree->nodes.length = 0;
    for (;; type = json_next(json)) {
        if (type == JSON_FAILED || type == JSON_END || type == JSON_MORE)
            return fail_json(json, err);
        if (type == JSON_KEY) {
            key = strings_add(&tree->texts, json->text, json->length);
            if (key == STRING_NONE)
                return error_no_memory(err);
            continue;
        }
        if (type == JSON_OBJECT_CLOSE || type == JSON_ARRAY_CLOSE) {
            if (depth == 0)
                return error_set(err, EINVAL, "at byte %llu: a closing bracket has no opening bracket",
                                 (unsigned long long)json->offset);
            tree->nodes.data[open[--depth]].next = (uint32_t)tree->nodes.length;
        } else {
            bool is_open = type == JSON_OBJECT_OPEN || type == JSON_ARRAY_OPEN;
            if (is_open)
                open[depth++] = (uint32_t)tree->nodes.length;
            if (!add_node(tree, json, type, key))
                return error_no_memory(err);
        }
        key = STRING_NONE;
        if (depth == 0)
            return 0;
    }
}

int json_tree_read(struct json_tree *tree, const char *text, size_t size, struct error *err)
{
    struct json json;
    json_init_whole(&json, text, size);
    int code = json_tree_read_value(tree, &json, json_next(&json), err);
    if (!code && json_next(&json) != JSON_END)
        code = fail_json(&json, err);
    json_destroy(&json);
    return code;
}

void json_tree_destroy(struct json_tree *tree)
{
    array_free(&tree->nodes);
    strings_destroy(&tree->texts);
}

bool json_tree_has_type(const struct json_tree *tree, uint32_t node, enum json_type type)
{
    return node < tree->nodes.length && tree->nodes.data[node].type == type;
}

uint32_t json_tree_get_first(const struct json_tree *tree, uint32_t node)
{
    return node < tree->nodes.length && tree->nodes.data[node].next > node + 1 ? node + 1 : JSON_TREE_NONE;
}

uint32_t json_tree_get_next(const struct json_tree *tree, uint32_t parent, uint32_t child)
{
    uint32_t next = tree->nodes.data[child].next;
    return next < tree->nodes.data[parent].next ? next : JSON_TREE_NONE;
}

uint32_t json_tree_get(const struct json_tree *tree, uint32_t node, const char *key)
{
    uint32_t string = strings_find(&tree->texts, key, strlen(key));
    if (string == STRING_NONE || !json_tree_has_type(tree, node, JSON_OBJECT_OPEN))
        return JSON_TREE_NONE;
    for (uint32_t child = json_tree_get_first(tree, node); child != JSON_TREE_NONE;
         child = json_tree_get_next(tree, node, child))
        if (tree->nodes.data[child].key == string)
            return child;
    return JSON_TREE_NONE;
}

double json_tree_get_number(const struct json_tree *tree, uint32_t node)
{
    return json_tree_has_type(tree, node, JSON_NUMBER) ? tree->nodes.data[node].number : NAN;
}

double json_tree_get_number_or_text(const struct json_tree *tree, uint32_t node)
{
    const struct string_entry *text = json_tree_get_text(tree, node);
    if (!text)
        return json_tree_get_number(tree, node);
    bool is_number = text->length && strspn(text->text, "0123456789+-.eE") == text->length;
    char *end;
    double number = is_number ? strtod(text->text, &end) : NAN;
    return is_number && *end == '\0' ? number : NAN;
}

uint64_t json_tree_get_integer(const struct json_tree *tree, uint32_t node, uint64_t most, uint64_t otherwise)
{
    double number = json_tree_get_number(tree, node);
    return number >= 0 && number <= (double)most && floor(number) == number ? (uint64_t)number : otherwise;
}

const struct string_entry *json_tree_get_text(const struct json_tree *tree, uint32_t node)
{
    return json_tree_has_type(tree, node, JSON_STRING) ? &tree->texts.entries.data[tree->nodes.data[node].text] : NULL;
}

bool json_tree_equals_text(const struct json_tree *tree, uint32_t node, const char *text)
{
    const struct string_entry *entry = json_tree_get_text(tree, node);
    return entry && entry->length == strlen(text) && memcmp(entry->text, text, entry->length) == 0;
}

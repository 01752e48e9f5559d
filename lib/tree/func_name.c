#include "tree/func_name.h"

#include "base/ascii.h"

struct scan {
    const char *at, *end;
    char *bare;
    size_t length;  /* of bare */
    size_t start;   /* in bare: after the return type */
    int kept_depth; /* depth of braces, and of angle brackets that belong to the name */
    bool has_open;  /* an angle bracket has no closing bracket, so no later bracket has one */
};

static bool begins_with(const struct scan *scan, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, text, length) == 0;
}

static void copy_bytes(struct scan *scan, size_t length)
{
    memcpy(scan->bare + scan->length, scan->at, length);
    scan->length += length;
    scan->at += length;
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80 || c == '_' ||
           c == '$';
}

static char get_last_copied(const struct scan *scan)
{
    return scan->length ? scan->bare[scan->length - 1] : '\0';
}

/* Returns one past the bracket that closes the one at scan->at, or NULL. */
static const char *find_closing_bracket(const struct scan *scan, char open, char close)
{
    size_t depth = 0;
    for (const char *at = scan->at; at < scan->end; at++) {
        bool is_arrow = *at == '>' && at > scan->at && (at[-1] == '-' || at[-1] == '=');
        depth += *at == open;
        if (*at == close && !is_arrow && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* "operator<<", "operator()", "operator bool": the signs and the type belong to the name. */
static bool copy_operator(struct scan *scan)
{
    if (!begins_with(scan, "operator") || is_word(get_last_copied(scan)))
        return false;
    copy_bytes(scan, strlen("operator"));
    if (begins_with(scan, "()"))
        copy_bytes(scan, 2);
    while (scan->at < scan->end && strchr("<>=-!+*/%^&|~,", *scan->at))
        copy_bytes(scan, 1);
    if (begins_with(scan, " <")) {
        scan->at++;
        const char *end = find_closing_bracket(scan, '<', '>');
        scan->at = end ? end : scan->end;
        return true;
    }
    while (scan->at < scan->end && *scan->at == ' ') {
        copy_bytes(scan, 1);
        while (scan->at < scan->end && (is_word(*scan->at) || *scan->at == ':'))
            copy_bytes(scan, 1);
    }
    return true;
}

/* Skips the template arguments at scan->at. False: the bracket belongs to the name. */
static bool skip_arguments(struct scan *scan)
{
    char before = get_last_copied(scan);
    bool is_list = is_word(before) || before == ':' || before == '=';
    const char *end = is_list && !scan->has_open ? find_closing_bracket(scan, '<', '>') : NULL;
    scan->has_open |= is_list && !end;
    if (end)
        scan->at = end;
    return end != NULL;
}

/* Handles the parentheses at scan->at. Returns false if the parentheses are the parameters, so that the name ends. */
static bool skip_parentheses(struct scan *scan)
{
    const char *end = find_closing_bracket(scan, '(', ')');
    bool is_receiver = get_last_copied(scan) == '.' || scan->length == scan->start || begins_with(scan, "(anonymous ");
    if (end && is_receiver) {
        copy_bytes(scan, (size_t)(end - scan->at));
        return true;
    }
    bool is_scope = end && (scan->kept_depth > 0 || (scan->end - end >= 2 && memcmp(end, "::", 2) == 0));
    if (is_scope)
        scan->at = end;
    return is_scope;
}

size_t strip_func_name(const char *name, size_t length, char *bare)
{
    struct scan scan = {.at = name, .end = name + length, .bare = bare};
    bool has_parameters = false;
    while (scan.at < scan.end && !has_parameters) {
        char c = *scan.at;
        if ((c == 'o' && copy_operator(&scan)) || (c == '<' && skip_arguments(&scan)) ||
            (c == '(' && skip_parentheses(&scan)))
            continue;
        has_parameters = c == '(';
        scan.kept_depth += (c == '<' || c == '{') - (c == '>' || c == '}');
        if (!has_parameters)
            copy_bytes(&scan, 1);
        if (c == ' ' && scan.kept_depth <= 0)
            scan.start = scan.length;
    }
    if (!has_parameters || scan.start >= scan.length)
        return scan.length;
    memmove(bare, bare + scan.start, scan.length - scan.start);
    return scan.length - scan.start;
}

bool text_append_func_name(struct text_buffer *text, const char *name)
{
    size_t length = strlen(name), start = text->length;
    if (!text_append(text, name, length))
        return false;
    text->length = start + strip_func_name(name, length, text->data + start);
    return true;
}

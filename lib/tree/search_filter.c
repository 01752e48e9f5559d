/*
 * Many funcs share a string (all functions of a library share its name), so each term is matched once per string.
 */
#include "tree/search_filter.h"

#include "tree/func_name.h"

/* ---- the terms ---- */

static const char *const field_names[] = {
    [SEARCH_LIBRARIES] = "lib", [SEARCH_FILES] = "file", [SEARCH_ARGUMENTS] = "args"};

static enum search_field find_field(struct span name)
{
    enum search_field field = SEARCH_ARGUMENTS;
    while (field != SEARCH_EVERYWHERE && !span_equals_ignoring_case(name, field_names[field]))
        field--;
    return field;
}

static bool is_field(struct span name, const void *context)
{
    (void)context;
    return find_field(name) != SEARCH_EVERYWHERE;
}

/* Returns whether a term can only match arguments: it has a bracket, in a pattern after a backslash. */
static bool names_arguments(struct span term, bool is_pattern)
{
    for (const char *at = term.at; at < term.end; at++)
        if (*at == '<' || (*at == '(' && (!is_pattern || (at > term.at && at[-1] == '\\'))))
            return true;
    return false;
}

static uint16_t get_term_bit(size_t term)
{
    return (uint16_t)(1u << term);
}

int search_parse(struct search *search, const char *text, size_t length, struct error *err)
{
    search->excluded = search->needs_arguments = 0;
    search->func_mask = NULL;
    int code = search_terms_parse(&search->terms, text, length, is_field, NULL, err);
    for (size_t t = 0; t < search->terms.count; t++) {
        const struct search_term *term = &search->terms.items[t];
        search->fields[t] = term->field.at ? find_field(term->field) : SEARCH_EVERYWHERE;
        search->excluded |= term->excluded ? get_term_bit(t) : 0;
        if (term->exact || names_arguments(term->written, term->has_pattern))
            search->needs_arguments |= get_term_bit(t);
    }
    if (code)
        search_destroy(search);
    return code;
}

/* ---- matching ---- */

/* The last part of a path. */
static const char *find_file_name(const char *path, size_t length)
{
    const char *name = path + length;
    while (name > path && name[-1] != '/')
        name--;
    return name;
}

static bool matches_field(const struct search_term *term, struct string_entry text, enum search_field field)
{
    bool matches = search_term_matches(term, text.text, text.length);
    if (matches || field != SEARCH_FILES || !term->exact)
        return matches;
    const char *name = find_file_name(text.text, text.length);
    return search_term_matches(term, name, text.length - (size_t)(name - text.text));
}

/* Returns the set of terms that a name, or a path of a file, matches. */
static uint16_t match_string(const struct search *search, const struct strings *strings, uint32_t string,
                             enum search_field field)
{
    uint16_t mask = 0;
    if (string >= strings->entries.length)
        return 0;
    for (size_t t = 0; t < search->terms.count; t++) {
        if ((search->fields[t] == SEARCH_EVERYWHERE || search->fields[t] == field) &&
            matches_field(&search->terms.items[t], strings->entries.data[string], field))
            mask |= get_term_bit(t);
    }
    return mask;
}

/* Returns the set of terms that the name of a function matches. */
static uint16_t match_name(const struct search *search, struct string_entry name, char *bare)
{
    uint16_t mask = 0;
    bool may_have_arguments = memchr(name.text, '<', name.length) || memchr(name.text, '(', name.length);
    struct string_entry without = name;
    if (may_have_arguments) {
        without.length = strip_func_name(name.text, name.length, bare);
        without.text = bare;
    }
    for (size_t t = 0; t < search->terms.count; t++) {
        bool is_in_arguments = search->fields[t] == SEARCH_ARGUMENTS;
        bool is_whole = is_in_arguments || (search->needs_arguments & get_term_bit(t));
        if ((search->fields[t] == SEARCH_EVERYWHERE || is_in_arguments) &&
            matches_field(&search->terms.items[t], is_whole ? name : without, SEARCH_EVERYWHERE))
            mask |= get_term_bit(t);
    }
    return mask;
}

/* Cached results of names, libraries and files, so each string is matched once. */
struct masks {
    uint16_t *of_string; /* as the name of a function */
    uint8_t *is_known;
    uint16_t *of_resource, *of_source;
    char *bare; /* has room for any name */
};

static void match_funcs(struct search *search, const struct profile *profile, struct masks *masks)
{
    const struct func_table *funcs = &profile->funcs;
    const struct strings *strings = &profile->strings;
    for (uint32_t i = 0; i < profile->resources.length; i++) {
        masks->of_resource[i] = match_string(search, strings, profile->resources.data[i].name, SEARCH_LIBRARIES);
        search->func_mask[get_resource_func(profile, i)] = masks->of_resource[i];
    }
    for (size_t i = 0; i < profile->sources.length; i++)
        masks->of_source[i] = match_string(search, strings, profile->sources.data[i].filename, SEARCH_FILES);
    for (size_t func = 0; func < funcs->length; func++) {
        uint32_t name = funcs->name[func], resource = funcs->resource[func], source = funcs->source[func];
        if (name < strings->entries.length && !masks->is_known[name]) {
            masks->of_string[name] = match_name(search, strings->entries.data[name], masks->bare);
            masks->is_known[name] = 1;
        }
        uint16_t mask = name < strings->entries.length ? masks->of_string[name] : 0;
        if (resource < profile->resources.length)
            mask |= masks->of_resource[resource];
        if (source < profile->sources.length)
            mask |= masks->of_source[source];
        search->func_mask[func] = mask;
    }
}

int search_init(struct search *search, const struct profile *profile, const char *text, size_t length,
                struct error *err)
{
    int code = search_parse(search, text, length, err);
    if (code)
        return code;
    size_t strings = profile->strings.entries.length, resources = profile->resources.length, longest = 0;
    for (size_t i = 0; i < strings; i++)
        if (profile->strings.entries.data[i].length > longest)
            longest = profile->strings.entries.data[i].length;
    struct masks masks = {.of_string = malloc((strings + 1) * sizeof(uint16_t)),
                          .is_known = calloc(strings + 1, 1),
                          .of_resource = calloc(resources + 1, sizeof(uint16_t)),
                          .of_source = calloc(profile->sources.length + 1, sizeof(uint16_t)),
                          .bare = malloc(longest + 1)};
    search->func_mask = malloc((profile->funcs.length + resources + 1) * sizeof(*search->func_mask));
    bool enough =
        masks.of_string && masks.is_known && masks.of_resource && masks.of_source && masks.bare && search->func_mask;
    if (enough)
        match_funcs(search, profile, &masks);
    else
        search_destroy(search);
    free(masks.of_string);
    free(masks.is_known);
    free(masks.of_resource);
    free(masks.of_source);
    free(masks.bare);
    return enough ? 0 : error_no_memory(err);
}

bool search_func_matches(const struct search *search, uint32_t func)
{
    uint16_t wanted = (uint16_t)(((1u << search->terms.count) - 1) & ~(unsigned)search->excluded);
    uint16_t mask = search->func_mask[func];
    return search->terms.count > 0 && (mask & search->excluded) == 0 && (wanted == 0 || (mask & wanted) != 0);
}

int search_mark_matching_nodes(const struct search *search, const struct call_nodes *nodes, uint8_t *matching,
                               struct error *err)
{
    uint16_t all = (uint16_t)((1u << search->terms.count) - 1), wanted = (uint16_t)(all & ~search->excluded);
    uint16_t *mask = malloc((nodes->length + 1) * sizeof(*mask));
    if (!mask)
        return error_no_memory(err);
    for (size_t node = 0; node < nodes->length; node++) {
        uint32_t prefix = nodes->prefix[node];
        mask[node] = search->func_mask[nodes->func[node]];
        if (prefix != NODE_NONE)
            mask[node] |= mask[prefix];
        matching[node] = (mask[node] & all) == wanted;
    }
    free(mask);
    return 0;
}

void search_destroy(struct search *search)
{
    search_terms_destroy(&search->terms);
    free(search->func_mask);
    search->func_mask = NULL;
}

bool matching_nodes_belong_to(const struct matching_nodes *cached, const char *text, size_t length)
{
    return cached->valid && array_equals(&cached->search, text, length);
}

int matching_nodes_update(struct matching_nodes *cached, const struct profile *profile, const struct call_nodes *nodes,
                          const char *text, size_t length, struct error *err)
{
    if (matching_nodes_belong_to(cached, text, length))
        return 0;
    cached->valid = false;
    cached->search.length = 0;
    if (!cached->matching)
        cached->matching = malloc(nodes->length + 1);
    if (!cached->matched_func)
        cached->matched_func = malloc((size_t)nodes->func_count + 1);
    if (!cached->matching || !cached->matched_func || !array_reserve(&cached->search, length))
        return error_no_memory(err);
    for (size_t i = 0; i < length; i++)
        cached->search.data[cached->search.length++] = text[i];
    struct search search;
    int code = search_init(&search, profile, text, length, err);
    if (!code)
        code = search_mark_matching_nodes(&search, nodes, cached->matching, err);
    for (uint32_t func = 0; !code && func < nodes->func_count; func++)
        cached->matched_func[func] = search.terms.count == 0 || search_func_matches(&search, func);
    search_destroy(&search);
    cached->valid = code == 0;
    return code;
}

void matching_nodes_destroy(struct matching_nodes *cached)
{
    array_free(&cached->search);
    free(cached->matching);
    free(cached->matched_func);
    *cached = (struct matching_nodes){0};
}

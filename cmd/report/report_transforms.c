/*
 * Resolves the names in the transforms of `prof report`. Each name is resolved in the tree after the previous
 * transforms, as in the page.
 */
#include "cmd/report/report_transforms.h"

#include "base/utf8.h"
#include "cmd/report/report_select.h"
#include "cmd/report/report_node.h"
#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

#include "tree/frame_kinds.h"
#include "tree/stack_view.h"

#include <strings.h>

ARRAY_TYPE(struct indexes, uint32_t);

/* ---- name matching ---- */

enum { FITS_NOT, FITS_PART, FITS_WHOLE };

struct wanted {
    const char *text;
    size_t length;
};

static int match_text(const char *text, const struct wanted *wanted)
{
    size_t length = strlen(text);
    if (length == wanted->length && memcmp(text, wanted->text, length) == 0)
        return FITS_WHOLE;
    for (size_t at = 0; wanted->length && at + wanted->length <= length; at++)
        if (strncasecmp(text + at, wanted->text, wanted->length) == 0)
            return FITS_PART;
    return FITS_NOT;
}

/* The report's notation "name [library]" matches only functions of this library. */
static int match_func(const struct profile *profile, uint32_t func, const struct wanted *wanted)
{
    const char *name = strings_text(&profile->strings, get_func_names(profile, func).name);
    const char *origin = report_get_origin(profile, func);
    size_t name_length = strlen(name);
    int fit = match_text(name, wanted);
    if (fit == FITS_WHOLE || !origin || wanted->length <= name_length || strncmp(name, wanted->text, name_length) != 0)
        return fit;
    const char *rest = wanted->text + name_length, *end = wanted->text + wanted->length;
    while (rest < end && *rest == ' ')
        rest++;
    if (rest == wanted->text + name_length || end - rest < 2 || *rest != '[' || end[-1] != ']')
        return fit;
    const struct wanted bare = {rest + 1, (size_t)(end - rest) - 2}, bracketed = {rest, (size_t)(end - rest)};
    return match_text(origin, &bare) == FITS_WHOLE || match_text(origin, &bracketed) == FITS_WHOLE ? FITS_WHOLE : fit;
}

/* Collects the indexes with the best match. Returns false if memory ran out. */
static bool find_best_matches(struct indexes *found, int *best, uint32_t index, int fit)
{
    if (fit == FITS_NOT || fit < *best)
        return true;
    if (fit > *best)
        found->length = 0;
    *best = fit;
    return array_push(found, index);
}

/* ---- messages ---- */

static int print_no_match(const struct report *report, const struct report_transform *transform, const char *noun)
{
    return ui_fail("--%s: no %s of %s has the name '%s'", transform->option, noun, report->options.path,
                   transform->text);
}

static void print_name(const struct report *report, uint32_t func, bool with_origin)
{
    const char *name = report_get_func_name(report, func);
    const char *origin = with_origin ? report_get_origin(report->profile, func) : NULL;
    bool bracket = origin && origin[0] != '[';
    ui_print_message("  %.*s%s%s%.*s%s", utf8_cut(name, 200), name, origin ? "  " : "", bracket ? "[" : "",
                     origin ? utf8_cut(origin, 80) : 0, origin ? origin : "", bracket ? "]" : "");
}

static int print_ambiguous_name(const struct report *report, const struct report_transform *transform,
                                const struct indexes *funcs)
{
    enum { MOST_NAMED = 12 };
    ui_fail("--%s: several functions match '%s'; write one as", transform->option, transform->text);
    for (size_t i = 0; i < funcs->length && i < MOST_NAMED; i++)
        print_name(report, funcs->data[i], true);
    if (funcs->length > MOST_NAMED)
        ui_print_message("  or as one of %zu more", funcs->length - MOST_NAMED);
    return EXIT_FAILURE;
}

/* ---- resolving names ---- */

static int query_engine(struct report *report)
{
    struct error err;
    struct tree_query query = report_make_query(report);
    query.search_length = 0;
    return engine_set_query(report->engine, &query, &err) ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

static bool add_transform(struct report *report, struct transform transform)
{
    return array_push(&report->transforms, transform);
}

/* Returns whether the transform applies to exactly one function; other transforms apply to all functions with the name.
 * */
static bool needs_one_function(enum transform_kind kind)
{
    return kind == TRANSFORM_FOCUS_FUNCTION || kind == TRANSFORM_FOCUS_SELF;
}

/* Finds exactly one function if `only_one` is set; otherwise all functions with the name. Returns an exit status. */
static int find_functions(struct report *report, const struct report_transform *transform, bool only_one,
                          struct indexes *found)
{
    struct func_timings functions;
    struct error err;
    const struct wanted wanted = {transform->text, strlen(transform->text)};
    int best = FITS_NOT;
    if (engine_list_functions(report->engine, FUNCS_BY_TOTAL, &functions, &err))
        return ui_fail_with_error(&err);
    bool enough = true;
    for (size_t i = 0; enough && i < functions.length; i++) {
        uint32_t func = functions.rows[i].func;
        enough = find_best_matches(found, &best, func, match_func(report->profile, func, &wanted));
    }
    func_timings_destroy(&functions);
    if (!enough)
        return ui_fail("out of memory");
    if (found->length == 0)
        return ui_fail(
            "--%s: no function of the remaining samples (after threads, range and earlier transforms) is called '%s'",
            transform->option, transform->text);
    if (found->length > 1 && (best == FITS_PART || only_one))
        return print_ambiguous_name(report, transform, found);
    return EXIT_SUCCESS;
}

/* Adds the transform once for each index, unless `status` is a failure. Frees the indexes. */
static int add_transforms(struct report *report, enum transform_kind kind, struct indexes *found, int status)
{
    bool enough = true;
    for (size_t i = 0; enough && !status && i < found->length; i++)
        enough = add_transform(report, (struct transform){.kind = kind, .index = found->data[i]});
    array_free(found);
    return enough ? status : ui_fail("out of memory");
}

static int resolve_function(struct report *report, const struct report_transform *transform)
{
    struct indexes found = {0};
    int status = find_functions(report, transform, needs_one_function(transform->kind), &found);
    return add_transforms(report, transform->kind, &found, status);
}

/* Returns the index of the category, or PROFILE_NONE after a message. */
static uint32_t find_category(const struct report *report, const struct report_transform *transform)
{
    const struct profile *profile = report->profile;
    for (uint32_t i = 0; i < profile->categories.length; i++)
        if (strcasecmp(strings_text(&profile->strings, profile->categories.data[i].name), transform->text) == 0)
            return i;
    print_no_match(report, transform, "category");
    ui_print_message("There are:");
    for (uint32_t i = 0; i < profile->categories.length; i++)
        ui_print_message("  %s", strings_text(&profile->strings, profile->categories.data[i].name));
    return PROFILE_NONE;
}

static int resolve_category(struct report *report, const struct report_transform *transform)
{
    uint32_t category = find_category(report, transform);
    if (category == PROFILE_NONE)
        return EXIT_FAILURE;
    return add_transform(report, (struct transform){.kind = transform->kind, .index = category})
               ? EXIT_SUCCESS
               : ui_fail("out of memory");
}

/* Finds the libraries with the best match. Several libraries are allowed only if all match exactly. Returns an exit
 * status. */
static int find_libraries(const struct report *report, const struct report_transform *transform, struct indexes *found)
{
    const struct profile *profile = report->profile;
    const struct wanted wanted = {transform->text, strlen(transform->text)};
    int best = FITS_NOT;
    for (uint32_t i = 0; i < profile->resources.length; i++) {
        const char *name = strings_text(&profile->strings, profile->resources.data[i].name);
        if (!find_best_matches(found, &best, i, match_text(name, &wanted)))
            return ui_fail("out of memory");
    }
    if (found->length == 0)
        return print_no_match(report, transform, "library");
    if (found->length == 1 || best == FITS_WHOLE)
        return EXIT_SUCCESS;
    ui_fail("--%s: several libraries match '%s'", transform->option, transform->text);
    for (size_t i = 0; i < found->length; i++)
        ui_print_message("  %.200s", strings_text(&profile->strings, profile->resources.data[found->data[i]].name));
    return EXIT_FAILURE;
}

static int resolve_library(struct report *report, const struct report_transform *transform)
{
    struct indexes found = {0};
    int status = find_libraries(report, transform, &found);
    return add_transforms(report, transform->kind, &found, status);
}

static int resolve_frames(struct report *report, const struct report_transform *transform)
{
    enum { ALL = FRAME_OTHER | FRAME_NATIVE | FRAME_KERNEL | FRAME_JIT | FRAME_JS };
    static const struct {
        const char *name;
        uint32_t kinds;
    } choices[] = {{"user", ALL & ~FRAME_KERNEL},
                   {"kernel", FRAME_KERNEL},
                   {"native", FRAME_NATIVE},
                   {"jit", FRAME_JIT},
                   {"js", FRAME_JS}};
    for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++)
        if (strcmp(choices[i].name, transform->text) == 0)
            return add_transform(report, (struct transform){.kind = transform->kind, .index = choices[i].kinds})
                       ? EXIT_SUCCESS
                       : ui_fail("out of memory");
    return ui_usage(report->options.table->command,
                    "'%s' is not a kind of frames; give user, kernel, native, jit or js", transform->text);
}

/* Returns the length of the next name in a path. A semicolon before a blank is part of the name, as in "[T; 4]". */
static size_t measure_name(const char *text)
{
    size_t length = 0;
    while (text[length] && (text[length] != ';' || text[length + 1] == ' '))
        length++;
    return length;
}

/* Returns the child of `node` that matches `wanted`, or NODE_NONE after a message. */
static uint32_t find_child(struct report *report, const struct report_transform *transform, uint32_t node,
                           const struct wanted *wanted)
{
    struct tree_rows rows = {0};
    struct indexes found = {0}; /* rows */
    struct error err;
    int best = FITS_NOT;
    uint32_t child = NODE_NONE;
    bool enough = engine_list_children(report->engine, node, &rows, &err) == 0;
    for (uint32_t i = 0; enough && i < rows.length; i++)
        enough = find_best_matches(&found, &best, i, match_func(report->profile, rows.func[i], wanted));
    if (!enough)
        ui_fail("out of memory");
    else if (found.length == 1)
        child = rows.node[found.data[0]];
    else
        ui_fail("--%s: %s row at this position of the tree has the name '%.*s'", transform->option,
                found.length ? "more than one" : "no", (int)wanted->length, wanted->text);
    for (uint32_t i = 0; enough && child == NODE_NONE && i < rows.length && i < 12; i++)
        print_name(report, rows.func[i], true);
    array_free(&found);
    tree_rows_destroy(&rows);
    return child;
}

/* Adds a transform with a path, which it frees. */
static int add_path(struct report *report, const struct report_transform *transform, struct node_path *path)
{
    uint32_t *funcs = arena_alloc(&report->paths, path->length * sizeof(*funcs));
    struct transform made = {
        .kind = transform->kind, .inverted = report->options.inverted, .path = funcs, .path_length = path->length};
    bool enough = funcs && add_transform(report, made);
    for (size_t i = 0; enough && i < path->length; i++)
        funcs[i] = path->data[i];
    array_free(path);
    return enough ? EXIT_SUCCESS : ui_fail("out of memory");
}

static int resolve_path(struct report *report, const struct report_transform *transform)
{
    uint32_t node = NODE_NONE;
    struct node_path path = {0};
    struct error err;
    if (strcmp(transform->option, "node") == 0) {
        int status = report_find_node(report, transform->text, &path);
        return status ? status : add_path(report, transform, &path);
    }
    for (const char *at = transform->text; *at;) {
        const struct wanted wanted = {at, measure_name(at)};
        node = find_child(report, transform, node, &wanted);
        if (node == NODE_NONE)
            return EXIT_FAILURE;
        at += wanted.length + (at[wanted.length] == ';');
    }
    if (node == NODE_NONE)
        return print_no_match(report, transform, "row");
    return engine_read_path(report->engine, node, &path, &err) ? ui_fail_with_error(&err)
                                                               : add_path(report, transform, &path);
}

static int resolve_search(struct report *report, const struct report_transform *transform)
{
    struct transform made = {.kind = transform->kind, .text = transform->text, .text_length = strlen(transform->text)};
    if (strcmp(transform->option, "slowest") == 0) {
        char *end;
        made.slowest = strtod(transform->text, &end) / 100;
        if (!(made.slowest > 0 && made.slowest <= 1) || strncmp(end, "%,", 2) != 0 || !end[2])
            return ui_usage(report->options.table->command,
                            "--slowest takes a percentage and terms, such as 5%%,request, not '%s'", transform->text);
        made.sides = report->options.compared.splits ? FILTER_SPLIT : FILTER_BOTH_SIDES;
        made.text = end + 2;
        made.text_length = strlen(made.text);
    }
    if (strcmp(transform->option, "base-markers") == 0 || strcmp(transform->option, "new-markers") == 0) {
        made.slowest = 1;
        made.sides = transform->option[0] == 'b' ? FILTER_BASE : FILTER_NEW;
    }
    return add_transform(report, made) ? EXIT_SUCCESS : ui_fail("out of memory");
}

static int resolve_transform(struct report *report, const struct report_transform *transform)
{
    switch (transform->kind) {
    case TRANSFORM_FOCUS_FRAMES:
        return resolve_frames(report, transform);
    case TRANSFORM_FOCUS_CATEGORY:
    case TRANSFORM_DROP_CATEGORY:
    case TRANSFORM_MERGE_CATEGORY:
        return resolve_category(report, transform);
    case TRANSFORM_FOCUS_RESOURCE:
    case TRANSFORM_DROP_RESOURCE:
    case TRANSFORM_MERGE_RESOURCE:
    case TRANSFORM_COLLAPSE_RESOURCE:
        return resolve_library(report, transform);
    case TRANSFORM_FILTER_MARKERS:
    case TRANSFORM_MERGE_MATCHING:
        return resolve_search(report, transform);
    default:
        return transform_has_path(transform->kind) ? resolve_path(report, transform)
                                                   : resolve_function(report, transform);
    }
}

int report_resolve_transforms(struct report *report)
{
    for (size_t i = 0; i < report->options.transforms.length; i++) {
        int status = query_engine(report);
        if (!status)
            status = resolve_transform(report, &report->options.transforms.data[i]);
        if (status)
            return status;
    }
    return EXIT_SUCCESS;
}

/* ---- the butterfly, and the annotated function ---- */

/* Returns the text after a prefix, or NULL if the text has another beginning. */
static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && text[length] ? text + length : NULL;
}

int report_resolve_focus(struct report *report)
{
    bool is_butterfly = report->options.kind == REPORT_BUTTERFLY;
    struct report_transform focus = {.option = is_butterfly ? "butterfly" : "annotate",
                                     .text = report->options.subject};
    const char *library = is_butterfly ? skip_prefix(focus.text, "lib:") : NULL;
    const char *category = is_butterfly ? skip_prefix(focus.text, "category:") : NULL;
    struct indexes found = {0};
    int status = EXIT_SUCCESS;
    if (category) {
        focus.text = category;
        uint32_t index = find_category(report, &focus);
        report->focus = (struct butterfly_focus){BUTTERFLY_CATEGORY, index};
        return index == PROFILE_NONE ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (library) {
        focus.text = library;
        status = find_libraries(report, &focus, &found);
    } else {
        status = find_functions(report, &focus, true, &found);
    }
    if (!status && found.length)
        report->focus = (struct butterfly_focus){library ? BUTTERFLY_LIBRARY : BUTTERFLY_FUNCTION, found.data[0]};
    array_free(&found);
    return status;
}

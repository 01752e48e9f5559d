/*
 * callgrind.out.PID of valgrind --tool=callgrind, and other writers of the format
 * (https://valgrind.org/docs/manual/cl-format.html): the self cost of each function, and the inclusive cost of its
 * calls.
 *
 * A callgrind file has no stacks: the callers of a caller are unknown. So each function appears below its direct
 * callers, and its self cost is divided among them in proportion to the inclusive costs of their calls. The self cost
 * of a function is exact, for each event; its total covers itself and its direct callees. The number of calls from a
 * function to another is an event, "calls". Recursive calls are not callers.
 */
#include "import/importers.h"

enum { EVENTS_MAX = 24, POSITIONS_MAX = 2 };
enum space { SPACE_OBJECT, SPACE_FILE, SPACE_FUNCTION, SPACES }; /* each with ids of its own */

struct function {
    uint32_t frame;
    size_t costs;              /* index of the function's first cost in reading.costs */
    uint32_t last_arc;         /* last call to the function, plus 1, or 0 for none */
    double called[EVENTS_MAX]; /* the inclusive costs of all calls from other functions */
};

struct arc {
    uint32_t caller, function; /* of reading.functions */
    uint32_t previous;         /* 1 + the previous arc into the same function */
    size_t costs;              /* index of the arc's first inclusive cost in reading.costs */
    double calls;
};

struct reading {
    struct profile_builder *builder;
    struct error *err;
    size_t line;
    struct builder_text current[SPACES], callee[SPACES];
    bool has_callee_object, has_callee_file, is_call; /* whether the next line has the inclusive cost of a call */
    double calls;
    size_t events, positions;
    struct builder_text event_names[EVENTS_MAX];
    uint32_t tables[EVENTS_MAX], calls_table, thread;
    ARRAY(struct builder_text) names;
    ARRAY(struct function) functions;
    ARRAY(struct arc) arcs;
    ARRAY(double) costs;
    struct hash name_of[SPACES], function_of, arc_of;
};

struct scan {
    const char *at, *end;
};

static int fail_damaged(const struct reading *reading, const char *what)
{
    return error_set(reading->err, EINVAL, "line %zu %s", reading->line, what);
}

static void skip_spaces(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
}

static bool skip_literal(struct scan *scan, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, text, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static struct builder_text read_word(struct scan *scan)
{
    skip_spaces(scan);
    const char *start = scan->at;
    while (scan->at < scan->end && *scan->at != ' ' && *scan->at != '\t')
        scan->at++;
    return (struct builder_text){start, (size_t)(scan->at - start)};
}

/* Reads a decimal number, or a hexadecimal number after 0x. */
static bool read_number(struct scan *scan, double *number)
{
    skip_spaces(scan);
    double base = skip_literal(scan, "0x") ? 16 : 10;
    const char *start = scan->at;
    for (*number = 0; scan->at < scan->end && scan->at - start < 20; scan->at++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, *scan->at);
        if (!digit || !*digit || digit - digits >= (ptrdiff_t)base)
            break;
        *number = *number * base + (double)(digit - digits);
    }
    return scan->at > start;
}

bool callgrind_begins(const char *text, size_t size, bool is_whole)
{
    (void)is_whole;
    struct scan all = {text, text + size};
    if (skip_literal(&all, "# callgrind format"))
        return true;
    for (int lines = 0; lines < 40 && all.at < all.end; lines++) { /* of a header, in any order */
        const char *newline = memchr(all.at, '\n', (size_t)(all.end - all.at));
        struct scan line = {all.at, newline ? newline : all.end}, rest = line;
        if (skip_literal(&rest, "creator: callgrind") || skip_literal(&rest, "positions: "))
            return true;
        if (line.at < line.end && !memchr(line.at, ':', (size_t)(line.end - line.at)) && *line.at != '#')
            return false;
        all.at = newline ? newline + 1 : all.end;
    }
    return false;
}

/* ---- names ---- */

/* Reads a name: "(7) name" defines name 7, "(7)" refers to name 7. */
static int read_name(struct reading *reading, enum space space, struct scan value, struct builder_text *name)
{
    double id;
    struct scan compressed = value;
    *name = (struct builder_text){value.at, (size_t)(value.end - value.at)};
    if (!skip_literal(&compressed, "(") || !read_number(&compressed, &id) || !skip_literal(&compressed, ")"))
        return 0;
    skip_spaces(&compressed);
    if (id > UINT32_MAX)
        return fail_damaged(reading, "has a name with an id that is too large");
    if (compressed.at == compressed.end) {
        uint32_t row = hash_get(&reading->name_of[space], (uint64_t)id);
        if (row >= reading->names.length) /* HASH_MISSING, too */
            return fail_damaged(reading, "refers to a name that no earlier line defines");
        *name = reading->names.data[row];
        return 0;
    }
    *name = (struct builder_text){compressed.at, (size_t)(compressed.end - compressed.at)};
    return array_push(&reading->names, *name) &&
                   hash_set(&reading->name_of[space], (uint64_t)id, (uint32_t)reading->names.length - 1)
               ? 0
               : error_no_memory(reading->err);
}

static bool add_costs(struct reading *reading, size_t *first)
{
    *first = reading->costs.length;
    for (size_t i = 0; i < reading->events; i++)
        if (!array_push(&reading->costs, 0))
            return false;
    return true;
}

static bool is_known_line(struct builder_text text)
{
    return text.length && !(text.length == 3 && memcmp(text.text, "???", 3) == 0);
}

/* Returns the row of a function, which is added if it is new, or PROFILE_NONE if memory ran out. */
static uint32_t add_function_row(struct reading *reading, const struct builder_text names[SPACES])
{
    struct builder_frame frame = {.name = names[SPACE_FUNCTION]};
    if (!frame.name.length)
        frame.name = builder_text("(unknown)");
    if (is_known_line(names[SPACE_FILE]))
        frame.file = names[SPACE_FILE];
    if (is_known_line(names[SPACE_OBJECT])) {
        uint32_t resource;
        builder_add_lib(reading->builder, names[SPACE_OBJECT], builder_text(""), &resource);
        frame.resource = resource + 1;
    }
    struct function function = {.frame = builder_add_frame(reading->builder, &frame)};
    uint32_t row = hash_get(&reading->function_of, function.frame);
    if (row != HASH_MISSING)
        return row;
    row = (uint32_t)reading->functions.length;
    return add_costs(reading, &function.costs) && array_push(&reading->functions, function) &&
                   hash_set(&reading->function_of, function.frame, row)
               ? row
               : PROFILE_NONE;
}

/* ---- lines ---- */

static int read_events(struct reading *reading, struct scan line)
{
    struct builder_text names[EVENTS_MAX];
    size_t count = 0;
    for (struct builder_text word; (word = read_word(&line)).length; names[count++] = word)
        if (count == EVENTS_MAX)
            return fail_damaged(reading, "has more than 24 events");
    if (reading->events) { /* a line about another part of the file */
        for (size_t i = 0; count == reading->events && i < count; i++)
            if (names[i].length != reading->event_names[i].length ||
                memcmp(names[i].text, reading->event_names[i].text, names[i].length) != 0)
                count = 0;
        return count == reading->events
                   ? 0
                   : fail_damaged(reading, "has events that differ from those of the previous part");
    }
    reading->events = count;
    memcpy(reading->event_names, names, sizeof(names));
    return count ? 0 : fail_damaged(reading, "has no events");
}

static int read_positions(struct reading *reading, struct scan line)
{
    reading->positions = 0;
    while (read_word(&line).length)
        reading->positions++;
    return reading->positions >= 1 && reading->positions <= POSITIONS_MAX
               ? 0
               : fail_damaged(reading, "has an unsupported number of positions (prof reads 1 or 2)");
}

static int read_cost(struct reading *reading, struct scan line)
{
    if (!reading->events)
        return fail_damaged(reading, "has a cost, but no earlier line lists the events");
    for (size_t i = 0; i < reading->positions; i++)
        if (!read_word(&line).length)
            return fail_damaged(reading, "has no position");
    uint32_t caller = add_function_row(reading, reading->current), row;
    if (caller == PROFILE_NONE)
        return error_no_memory(reading->err);
    size_t costs = reading->functions.data[caller].costs;
    bool is_from_other_function = false;
    if (reading->is_call) {
        if (!reading->has_callee_object)
            reading->callee[SPACE_OBJECT] = reading->current[SPACE_OBJECT];
        if (!reading->has_callee_file)
            reading->callee[SPACE_FILE] = reading->current[SPACE_FILE];
        row = add_function_row(reading, reading->callee);
        uint32_t *place = row == PROFILE_NONE ? NULL : hash_at(&reading->arc_of, (uint64_t)caller << 32 | row);
        if (!place)
            return error_no_memory(reading->err);
        if (*place == HASH_MISSING) {
            struct arc arc = {.caller = caller, .function = row, .previous = reading->functions.data[row].last_arc};
            if (!add_costs(reading, &arc.costs) || !array_push(&reading->arcs, arc))
                return error_no_memory(reading->err);
            *place = (uint32_t)reading->arcs.length - 1;
            if (caller != row)
                reading->functions.data[row].last_arc = (uint32_t)reading->arcs.length;
        }
        struct arc *arc = &reading->arcs.data[*place];
        arc->calls += reading->calls;
        costs = arc->costs;
        is_from_other_function = caller != row;
    } else
        row = caller;
    reading->is_call = reading->has_callee_object = reading->has_callee_file = false;
    for (size_t i = 0; i < reading->events; i++) {
        double cost;
        skip_spaces(&line);
        if (line.at == line.end)
            break; /* missing costs are 0 */
        if (!read_number(&line, &cost))
            return fail_damaged(reading, "has a cost that is not a number");
        reading->costs.data[costs + i] += cost;
        if (is_from_other_function)
            reading->functions.data[row].called[i] += cost;
    }
    skip_spaces(&line);
    return line.at == line.end ? 0 : fail_damaged(reading, "has more costs than events");
}

static int read_line(struct reading *reading, struct scan line)
{
    struct builder_text ignored;
    if (line.at == line.end || *line.at == '#')
        return 0;
    if (strchr("0123456789+-*", *line.at) && *line.at)
        return read_cost(reading, line);
    if (skip_literal(&line, "fn="))
        return read_name(reading, SPACE_FUNCTION, line, &reading->current[SPACE_FUNCTION]);
    if (skip_literal(&line, "fl="))
        return read_name(reading, SPACE_FILE, line, &reading->current[SPACE_FILE]);
    if (skip_literal(&line, "fi=") || skip_literal(&line, "fe=")) /* inlined costs count for the function */
        return read_name(reading, SPACE_FILE, line, &ignored);
    if (skip_literal(&line, "ob="))
        return read_name(reading, SPACE_OBJECT, line, &reading->current[SPACE_OBJECT]);
    if (skip_literal(&line, "cfn="))
        return read_name(reading, SPACE_FUNCTION, line, &reading->callee[SPACE_FUNCTION]);
    if (skip_literal(&line, "cfi=") || skip_literal(&line, "cfl=")) {
        reading->has_callee_file = true;
        return read_name(reading, SPACE_FILE, line, &reading->callee[SPACE_FILE]);
    }
    if (skip_literal(&line, "cob=")) {
        reading->has_callee_object = true;
        return read_name(reading, SPACE_OBJECT, line, &reading->callee[SPACE_OBJECT]);
    }
    if (skip_literal(&line, "calls=")) {
        reading->is_call = true;
        return read_number(&line, &reading->calls) ? 0 : fail_damaged(reading, "has no number of calls");
    }
    if (skip_literal(&line, "events:"))
        return read_events(reading, line);
    if (skip_literal(&line, "positions:"))
        return read_positions(reading, line);
    bool is_other = skip_literal(&line, "jump=") || skip_literal(&line, "jcnd=") || skip_literal(&line, "jfi=") ||
                    skip_literal(&line, "jfn=") || memchr(line.at, ':', (size_t)(line.end - line.at));
    return is_other ? 0 : fail_damaged(reading, "has neither a cost nor a name: the file is damaged or truncated");
}

/* ---- samples ---- */

static void add_sample(struct reading *reading, uint32_t table, uint32_t stack, double weight)
{
    if (weight > 0)
        builder_add_sample(reading->builder, reading->thread, table, stack, 0, weight);
}

/* Adds the function below its caller, with its share of the remaining costs; the last caller gets the remainder. */
static void add_call(struct reading *reading, const struct arc *arc, double left[EVENTS_MAX], bool is_last)
{
    const struct function *function = &reading->functions.data[arc->function];
    uint32_t stack = builder_add_stack(reading->builder, PROFILE_NONE, reading->functions.data[arc->caller].frame);
    stack = builder_add_stack(reading->builder, stack, function->frame);
    add_sample(reading, reading->calls_table, stack, reading->calls_table ? arc->calls : 0);
    for (size_t i = 0; i < reading->events; i++) {
        double share = function->called[i] > 0 ? reading->costs.data[arc->costs + i] / function->called[i] : 0;
        double weight = floor(reading->costs.data[function->costs + i] * share);
        weight = is_last || weight > left[i] ? left[i] : weight;
        left[i] -= weight;
        if (i == 0 || reading->tables[i])
            add_sample(reading, reading->tables[i], stack, weight);
    }
}

static void add_function(struct reading *reading, const struct function *function)
{
    double left[EVENTS_MAX];
    memcpy(left, &reading->costs.data[function->costs], reading->events * sizeof(*left));
    for (uint32_t at = function->last_arc; at;) {
        const struct arc *arc = &reading->arcs.data[at - 1];
        at = arc->previous;
        add_call(reading, arc, left, at == 0);
    }
    if (function->last_arc)
        return;
    uint32_t stack = builder_add_stack(reading->builder, PROFILE_NONE, function->frame);
    for (size_t i = 0; i < reading->events; i++)
        if (i == 0 || reading->tables[i])
            add_sample(reading, reading->tables[i], stack, left[i]);
}

static void add_tables(struct reading *reading)
{
    for (size_t i = 1; i < reading->events; i++)
        reading->tables[i] = builder_add_event(reading->builder, reading->event_names[i]);
    reading->calls_table = builder_add_event(reading->builder, builder_text("calls"));
    char text[200];
    snprintf(
        text, sizeof(text),
        "The file has costs of functions and calls, but no stacks: each function appears below its direct callers only, and samples are %.*s.",
        (int)(reading->event_names[0].length < 40 ? reading->event_names[0].length : 40), reading->event_names[0].text);
    builder_warn(reading->builder, text);
}

static int read_all(struct reading *reading, struct scan text)
{
    reading->positions = 1;
    while (text.at < text.end) {
        const char *newline = memchr(text.at, '\n', (size_t)(text.end - text.at));
        struct scan line = {text.at, newline ? newline : text.end};
        text.at = newline ? newline + 1 : text.end;
        while (line.at < line.end && (line.end[-1] == '\r' || line.end[-1] == ' '))
            line.end--;
        reading->line++;
        int code = read_line(reading, line);
        if (code)
            return code;
    }
    if (!reading->events || reading->is_call)
        return error_set(reading->err, EINVAL, "the file is truncated: %s",
                         reading->events ? "a call has no cost" : "no line lists the events");
    add_tables(reading);
    for (size_t i = 0; i < reading->functions.length; i++)
        add_function(reading, &reading->functions.data[i]);
    return 0;
}

int callgrind_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct reading reading = {
        .builder = builder, .err = err, .thread = builder_add_thread(builder, 0, 0, PROFILE_NONE)};
    builder->has_no_times = true;
    int code = read_all(&reading, (struct scan){text, text + size});
    array_free(&reading.names);
    array_free(&reading.functions);
    array_free(&reading.arcs);
    array_free(&reading.costs);
    for (size_t i = 0; i < SPACES; i++)
        hash_destroy(&reading.name_of[i]);
    hash_destroy(&reading.function_of);
    hash_destroy(&reading.arc_of);
    return code;
}

/*
 * The expression is compiled to steps (Thompson, "Regular expression search algorithm"). The matcher reads the text
 * once, byte by byte, with the set of active steps: no backtracking. Targets are relative, so a part of the expression
 * can move when a repetition is inserted before the part.
 */
#include "tree/pattern.h"

enum { STEP_TAKE, STEP_SPLIT, STEP_GO, STEP_AT_START, STEP_AT_END, STEP_FOUND };
enum { MOST_NESTED = 64 };

/* ---- making ---- */

struct parser {
    struct pattern *pattern;
    const char *at, *end;
    unsigned nested;
    const char *wrong; /* the error in the expression, or NULL */
    bool no_memory;
};

static void parse_alternatives(struct parser *parser);

static bool has_failed(const struct parser *parser)
{
    return parser->wrong || parser->no_memory;
}

static void add_step(struct parser *parser, struct pattern_step step)
{
    if (parser->pattern->steps.length >= PATTERN_MAX_STEPS)
        parser->wrong = "the expression is too long";
    else if (!array_push(&parser->pattern->steps, step))
        parser->no_memory = true;
}

static void insert_step(struct parser *parser, size_t at, struct pattern_step step)
{
    add_step(parser, step);
    if (has_failed(parser))
        return;
    struct pattern_step *steps = parser->pattern->steps.data;
    memmove(steps + at + 1, steps + at, (parser->pattern->steps.length - at - 1) * sizeof(*steps));
    steps[at] = step;
}

static void add_to_set(struct byte_set *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++) {
        unsigned lower = byte | 0x20, other = lower >= 'a' && lower <= 'z' ? byte ^ 0x20 : byte;
        set->bits[byte / 32] |= UINT32_C(1) << byte % 32;
        set->bits[other / 32] |= UINT32_C(1) << other % 32;
    }
}

static void invert_set(struct byte_set *set)
{
    for (size_t i = 0; i < 8; i++)
        set->bits[i] = ~set->bits[i];
}

/* Sets the class of \d \w \s or their opposites. Returns false if `c` names no class. */
static bool parse_class(char c, struct byte_set *out)
{
    struct byte_set set = {{0}};
    switch (c | 0x20) {
    case 'w':
        add_to_set(&set, 'a', 'z');
        add_to_set(&set, '_', '_');
        add_to_set(&set, '0', '9');
        break;
    case 'd':
        add_to_set(&set, '0', '9');
        break;
    case 's':
        add_to_set(&set, ' ', ' ');
        add_to_set(&set, '\t', '\r');
        break;
    default:
        return false;
    }
    if (!(c & 0x20))
        invert_set(&set);
    for (size_t i = 0; i < 8; i++)
        out->bits[i] |= set.bits[i];
    return true;
}

static void add_set_step(struct parser *parser, const struct byte_set *set)
{
    uint16_t index = (uint16_t)parser->pattern->sets.length;
    if (index >= PATTERN_MAX_STEPS)
        parser->wrong = "the expression is too long";
    else if (!array_push(&parser->pattern->sets, *set))
        parser->no_memory = true;
    else
        add_step(parser, (struct pattern_step){.kind = STEP_TAKE, .set = index});
}

/* Parses the byte at `at`, or an escape; an escape for a class sets `class`, and is added to the set. */
static unsigned parse_byte(struct parser *parser, struct byte_set *set, bool *class)
{
    *class = false;
    if (*parser->at != '\\')
        return (unsigned char)*parser->at++;
    if (++parser->at == parser->end) {
        parser->wrong = "it ends with a backslash";
        return 0;
    }
    char c = *parser->at++;
    *class = parse_class(c, set);
    return c == 't' ? '\t' : c == 'n' ? '\n' : (unsigned char)c;
}

static void parse_set(struct parser *parser)
{
    struct byte_set set = {{0}};
    bool inverted = parser->at < parser->end && *parser->at == '^', class, ignored;
    parser->at += inverted;
    for (bool first = true; parser->at < parser->end && (*parser->at != ']' || first) && !has_failed(parser);
         first = false) {
        unsigned low = parse_byte(parser, &set, &class), high = low;
        if (!class && parser->end - parser->at >= 2 && parser->at[0] == '-' && parser->at[1] != ']') {
            parser->at++;
            high = parse_byte(parser, &set, &ignored);
        }
        if (high < low)
            parser->wrong = "a character range is reversed";
        else if (!class)
            add_to_set(&set, low, high);
    }
    if (parser->at == parser->end) {
        parser->wrong = "a [ has no closing ]";
        return;
    }
    parser->at++;
    if (inverted)
        invert_set(&set);
    add_set_step(parser, &set);
}

static void parse_group(struct parser *parser)
{
    if (parser->end - parser->at >= 2 && parser->at[0] == '?' && parser->at[1] == ':')
        parser->at += 2;
    if (++parser->nested > MOST_NESTED) {
        parser->wrong = "groups are nested too deeply";
        return;
    }
    parse_alternatives(parser);
    parser->nested--;
    if (parser->at == parser->end)
        parser->wrong = "a ( has no closing )";
    else
        parser->at++;
}

static void parse_atom(struct parser *parser)
{
    struct byte_set set = {{0}};
    bool class;
    switch (*parser->at) {
    case '(':
        parser->at++;
        parse_group(parser);
        return;
    case '[':
        parser->at++;
        parse_set(parser);
        return;
    case '.':
        parser->at++;
        invert_set(&set);
        add_set_step(parser, &set);
        return;
    case '^':
    case '$':
        add_step(parser, (struct pattern_step){.kind = *parser->at++ == '^' ? STEP_AT_START : STEP_AT_END});
        return;
    case '*':
    case '+':
    case '?':
        parser->wrong = "a *, + or ? has nothing to repeat";
        return;
    default:;
        unsigned byte = parse_byte(parser, &set, &class);
        if (!class)
            add_to_set(&set, byte, byte);
        add_set_step(parser, &set);
    }
}

static void add_repetition(struct parser *parser, size_t start, char how)
{
    int16_t length = (int16_t)(parser->pattern->steps.length - start);
    struct pattern_step split = {.kind = STEP_SPLIT, .first = 1};
    if (how == '+') {
        split.first = (int16_t)-length;
        split.second = 1;
        add_step(parser, split);
        return;
    }
    split.second = (int16_t)(length + (how == '*' ? 2 : 1));
    insert_step(parser, start, split);
    if (how == '*')
        add_step(parser, (struct pattern_step){.kind = STEP_GO, .first = (int16_t)(-length - 1)});
}

static void parse_sequence(struct parser *parser)
{
    while (!has_failed(parser) && parser->at < parser->end && *parser->at != '|' && *parser->at != ')') {
        size_t start = parser->pattern->steps.length;
        parse_atom(parser);
        while (!has_failed(parser) && parser->at < parser->end && strchr("*+?", *parser->at) && *parser->at)
            add_repetition(parser, start, *parser->at++);
    }
}

static void parse_alternatives(struct parser *parser)
{
    size_t last_go =
        SIZE_MAX; /* the end steps of alternatives are a linked list: each has the distance to the previous end */
    for (;;) {
        size_t start = parser->pattern->steps.length;
        parse_sequence(parser);
        if (has_failed(parser) || parser->at == parser->end || *parser->at != '|')
            break;
        parser->at++;
        insert_step(parser, start, (struct pattern_step){.kind = STEP_SPLIT, .first = 1});
        size_t go = parser->pattern->steps.length;
        add_step(parser, (struct pattern_step){.kind = STEP_GO,
                                               .second = (int16_t)(last_go == SIZE_MAX ? 0 : (int64_t)(go - last_go))});
        if (has_failed(parser))
            return;
        parser->pattern->steps.data[start].second = (int16_t)(go + 1 - start);
        last_go = go;
    }
    while (!has_failed(parser) && last_go != SIZE_MAX) {
        struct pattern_step *go = &parser->pattern->steps.data[last_go];
        size_t distance = (size_t)go->second;
        go->first = (int16_t)(parser->pattern->steps.length - last_go);
        last_go = distance ? last_go - distance : SIZE_MAX;
    }
}

int pattern_init(struct pattern *pattern, const char *text, size_t length, struct error *err)
{
    *pattern = (struct pattern){0};
    struct parser parser = {.pattern = pattern, .at = text, .end = length ? text + length : text};
    parse_alternatives(&parser);
    if (!has_failed(&parser) && parser.at < parser.end)
        parser.wrong = "a ) has no opening (";
    add_step(&parser, (struct pattern_step){.kind = STEP_FOUND});
    if (parser.no_memory)
        return error_no_memory(err);
    if (parser.wrong)
        return error_set(err, EINVAL, "/%.*s/ is not a regular expression: %s", length < 200 ? (int)length : 200, text,
                         parser.wrong);
    return 0;
}

void pattern_destroy(struct pattern *pattern)
{
    array_free(&pattern->steps);
    array_free(&pattern->sets);
}

/* ---- looking ---- */

struct active {
    uint16_t steps[PATTERN_MAX_STEPS]; /* the active steps that read a byte */
    size_t count;
};

struct reader {
    const struct pattern *pattern;
    uint32_t seen[PATTERN_MAX_STEPS]; /* for each step, 1 + the position at which the step was last active */
    uint16_t pending[2 * PATTERN_MAX_STEPS + 2];
    size_t length; /* of the text */
};

/* Activates the step, or the steps that follow without reading a byte. Returns true if the end of the expression is
 * reached. */
static bool activate_step(struct reader *reader, struct active *active, size_t first, size_t position)
{
    size_t pending = 0;
    reader->pending[pending++] = (uint16_t)first;
    while (pending) {
        size_t at = reader->pending[--pending];
        const struct pattern_step *step = &reader->pattern->steps.data[at];
        if (reader->seen[at] == position + 1)
            continue;
        reader->seen[at] = (uint32_t)position + 1;
        if (step->kind == STEP_FOUND)
            return true;
        if (step->kind == STEP_TAKE)
            active->steps[active->count++] = (uint16_t)at;
        else if (step->kind == STEP_AT_START || step->kind == STEP_AT_END) {
            if (position == (step->kind == STEP_AT_START ? 0 : reader->length))
                reader->pending[pending++] = (uint16_t)(at + 1);
        } else {
            reader->pending[pending++] = (uint16_t)((int64_t)at + step->first);
            if (step->kind == STEP_SPLIT)
                reader->pending[pending++] = (uint16_t)((int64_t)at + step->second);
        }
    }
    return false;
}

bool pattern_matches(const struct pattern *pattern, const char *text, size_t length)
{
    struct reader reader = {.pattern = pattern, .length = length};
    struct active lists[2] = {{.count = 0}, {.count = 0}};
    for (size_t position = 0;; position++) {
        struct active *now = &lists[position % 2], *next = &lists[(position + 1) % 2];
        if (activate_step(&reader, now, 0, position))
            return true;
        if (position == length)
            return false;
        unsigned char byte = (unsigned char)text[position];
        next->count = 0;
        for (size_t i = 0; i < now->count; i++) {
            size_t at = now->steps[i];
            const struct byte_set *set = &pattern->sets.data[pattern->steps.data[at].set];
            if (set->bits[byte / 32] >> byte % 32 & 1 && activate_step(&reader, next, at + 1, position + 1))
                return true;
        }
    }
}

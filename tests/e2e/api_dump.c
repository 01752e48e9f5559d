/*
 * The native half of the comparison that api_reference.mjs makes: the functions that the WebAssembly engine exports
 * (lib/wasm/wasm_*.c), compiled for this machine. Reads a profile, and for each request on standard input prints what
 * the function answers.
 *
 *     api_dump PROFILE <REQUESTS
 *
 * A request is "NAME INPUT LAYOUT ARGUMENT...": INPUT is the input buffer in hexadecimal ("-": it stays as it is);
 * LAYOUT says what is in the columns of the answer ("=": the answer is a number, "?": whether it succeeds), as
 * "COLUMN:FIELDS" with one letter for each field of a record (d: double, w: word, f: float, b: byte, .: padding of a
 * word), then xN for N records an entry, or *N for N records in all; several are separated by slashes.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_ARGUMENTS = 6, MOST_LINE = 1 << 16, FIRST_RECORDS = 6, FEED_BYTES = 1000 };

/* ---- the functions, with their arguments as they come ---- */

#define WORD(i) ((uint32_t)arguments[i])
#define INT(i)  ((int)arguments[i])
#define REAL(i) (arguments[i])

#define VIEW(name, ...)                                                                                                \
    static const struct view *view_##name(struct session *session, const double *arguments)                            \
    {                                                                                                                  \
        (void)arguments;                                                                                               \
        return session_##name(__VA_ARGS__);                                                                            \
    }
#define NUMBER(name, ...)                                                                                              \
    static double number_##name(struct session *session, const double *arguments)                                      \
    {                                                                                                                  \
        (void)arguments;                                                                                               \
        return (double)session_##name(__VA_ARGS__);                                                                    \
    }

NUMBER(query, session)
VIEW(summary, session, WORD(0))
VIEW(children, session, WORD(0), WORD(1))
VIEW(flame_find, session, WORD(0), WORD(1))
VIEW(flame, session, WORD(0), REAL(1), REAL(2), REAL(3))
VIEW(stack_chart, session, WORD(0), WORD(1), REAL(2), REAL(3), WORD(4), INT(5))
NUMBER(truncated, session)
NUMBER(function_details, session, WORD(0), WORD(1))
VIEW(categories, session, INT(0))
VIEW(lines, session)
VIEW(functions_weighed, session, WORD(0), INT(1))
VIEW(waits, session, WORD(0), REAL(1), REAL(2), REAL(3))
VIEW(groups, session, WORD(0), INT(1))
NUMBER(butterfly, session, WORD(0), INT(1), WORD(2))
VIEW(butterfly_weights, session, WORD(0))
VIEW(butterfly_descendants, session, WORD(0), INT(1), WORD(2), WORD(3))
VIEW(find_names, session, WORD(0), WORD(1), WORD(2))
VIEW(find_texts, session, WORD(0), WORD(1))
VIEW(search_terms, session, WORD(0))
VIEW(source, session, WORD(0))
VIEW(source_places, session, WORD(0))
VIEW(address_lines, session, WORD(0))
VIEW(hot_lines, session, WORD(0), WORD(1))
VIEW(line_costs, session, WORD(0), WORD(1), WORD(2), INT(3), WORD(4), INT(5))
VIEW(inlined_costs, session)
VIEW(address_costs, session, WORD(0), WORD(1), INT(2), WORD(3), WORD(4))
VIEW(symbol_costs, session, WORD(0), WORD(1), INT(2), WORD(3))
VIEW(wait_groups, session, WORD(0), INT(1))
VIEW(critical_path, session, WORD(0), REAL(1), REAL(2))
VIEW(activity, session, WORD(0), REAL(1), REAL(2), WORD(3))
VIEW(activity_matching, session)
VIEW(sample_at, session, WORD(0), REAL(1), WORD(2), WORD(3))
NUMBER(marker_query, session, WORD(0), REAL(1), REAL(2), WORD(3), WORD(4))
VIEW(marker_sorted, session, WORD(0))
VIEW(marker_texts, session, WORD(0), INT(1))
VIEW(marker_details, session, WORD(0), WORD(1))
VIEW(marker_chart, session)
VIEW(marker_rects, session, REAL(0), REAL(1), REAL(2), WORD(3), WORD(4))
VIEW(marker_strip, session, WORD(0), REAL(1), REAL(2), REAL(3), WORD(4))
VIEW(marker_graph, session, WORD(0), WORD(1), WORD(2), REAL(3), REAL(4), WORD(5))
VIEW(counter_graph, session, WORD(0), REAL(1), REAL(2), WORD(3))
VIEW(counter_at, session, WORD(0), REAL(1))
VIEW(counter_totals, session, WORD(0), REAL(1), REAL(2))
VIEW(info, session)

struct call {
    const char *name;
    const struct view *(*view)(struct session *session, const double *arguments);
    double (*number)(struct session *session, const double *arguments);
};

#define VIEW_ROW(name)                                                                                                 \
    {                                                                                                                  \
#name, view_##name, NULL                                                                                       \
    }
#define NUMBER_ROW(name)                                                                                               \
    {                                                                                                                  \
#name, NULL, number_##name                                                                                     \
    }

static const struct call calls[] = {
    NUMBER_ROW(truncated),
    NUMBER_ROW(function_details),
    VIEW_ROW(categories),
    VIEW_ROW(lines),
    VIEW_ROW(functions_weighed),
    VIEW_ROW(waits),
    NUMBER_ROW(query),
    VIEW_ROW(flame_find),
    VIEW_ROW(flame),
    VIEW_ROW(stack_chart),
    VIEW_ROW(groups),
    NUMBER_ROW(butterfly),
    VIEW_ROW(butterfly_weights),
    VIEW_ROW(summary),
    VIEW_ROW(children),
    VIEW_ROW(sample_at),
    VIEW_ROW(butterfly_descendants),
    VIEW_ROW(find_names),
    VIEW_ROW(find_texts),
    VIEW_ROW(search_terms),
    VIEW_ROW(source),
    VIEW_ROW(source_places),
    VIEW_ROW(address_lines),
    VIEW_ROW(line_costs),
    VIEW_ROW(hot_lines),
    VIEW_ROW(inlined_costs),
    VIEW_ROW(address_costs),
    VIEW_ROW(symbol_costs),
    VIEW_ROW(wait_groups),
    VIEW_ROW(critical_path),
    VIEW_ROW(activity),
    VIEW_ROW(activity_matching),
    NUMBER_ROW(marker_query),
    VIEW_ROW(marker_sorted),
    VIEW_ROW(marker_texts),
    VIEW_ROW(marker_details),
    VIEW_ROW(marker_chart),
    VIEW_ROW(marker_rects),
    VIEW_ROW(marker_strip),
    VIEW_ROW(marker_graph),
    VIEW_ROW(counter_graph),
    VIEW_ROW(counter_at),
    VIEW_ROW(counter_totals),
    VIEW_ROW(info),
};

static const struct call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    fprintf(stderr, "api_dump: there is no function %s\n", name);
    exit(2);
}

/* ---- answers ---- */

static size_t field_size(char letter)
{
    return letter == 'd' ? 8 : letter == 'b' ? 1 : 4;
}

/* The bits of a field; those of any number that is none are the same. */
static uint64_t field_bits(char letter, const unsigned char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, field_size(letter));
    double d;
    float f;
    memcpy(&d, at, letter == 'd' ? sizeof(d) : 0);
    memcpy(&f, at, letter == 'f' ? sizeof(f) : 0);
    if ((letter == 'd' && isnan(d)) || (letter == 'f' && isnan(f)))
        return UINT64_C(0x7ff8);
    return bits;
}

/* "FIELDS[xN|*N]": prints how many records there are, a hash of them all (FNV-1a, of the fields' bits), and the first.
 */
static char *put_column(const struct view *view, const unsigned char *at, char *layout)
{
    size_t fields = strspn(layout, "dwfb.");
    char *end = layout + fields;
    size_t count = view->length;
    if (*end == 'x')
        count *= strtoul(end + 1, &end, 10);
    else if (*end == '*')
        count = strtoul(end + 1, &end, 10);
    uint32_t hash = UINT32_C(2166136261);
    printf(" %zu", count);
    for (size_t i = 0; i < count; i++) {
        for (size_t field = 0; field < fields; at += field_size(layout[field++])) {
            if (layout[field] == '.')
                continue;
            uint64_t bits = field_bits(layout[field], at);
            for (int byte = 0; byte < 8; byte++)
                hash = (hash ^ (uint32_t)(bits >> (8 * byte) & 0xff)) * UINT32_C(16777619);
            if (i < FIRST_RECORDS)
                printf(" %" PRIx64, bits);
        }
    }
    printf(" #%" PRIx32, hash);
    return end;
}

static void put_view(const struct session *session, const struct view *view, char *layout)
{
    if (!view) {
        printf(" none: %s\n", session->err.text);
        return;
    }
    printf(" %" PRIu32, view->length);
    for (; *layout; layout += *layout == '/') {
        unsigned long column = strtoul(layout, &layout, 10);
        layout = put_column(view, column < VIEW_COLUMNS ? view->columns[column] : NULL, layout + 1);
    }
    putchar('\n');
}

static void take_input(struct session *session, const char *hex)
{
    size_t size = strlen(hex) / 2;
    unsigned char *input = session_input(session, (uint32_t)size + 1);
    if (!input)
        exit(1);
    for (size_t i = 0; i < size; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        input[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
}

static void answer(struct session *session, char *line)
{
    double arguments[MOST_ARGUMENTS] = {0};
    char *rest = NULL, *name = strtok_r(line, " ", &rest), *input = strtok_r(NULL, " ", &rest);
    char *layout = strtok_r(NULL, " ", &rest), *argument;
    if (!layout)
        exit(2);
    for (size_t i = 0; (argument = strtok_r(NULL, " ", &rest)) && i < MOST_ARGUMENTS; i++)
        arguments[i] = strtod(argument, NULL);
    if (*input != '-')
        take_input(session, *input == '+' ? input + 1 : input);
    const struct call *call = find_call(name);
    printf("%s", name);
    if (call->view) {
        put_view(session, call->view(session, arguments), layout);
    } else {
        double number = call->number(session, arguments);
        bool is_code = *layout == '?';
        if (is_code)
            printf(number < 0 ? " refused: %s\n" : " done\n", session->err.text); /* errors have other numbers there */
        else
            printf(" %" PRIx64 "\n", field_bits('d', (const unsigned char *)&number));
    }
}

static struct session *load(const char *path)
{
    struct session *session = session_new(1, 2);
    gzFile file = gzopen(path, "rb");
    if (!session || !file)
        exit(1);
    for (int size = 1; size > 0;) {
        unsigned char *input = session_input(session, FEED_BYTES);
        size = input ? gzread(file, input, FEED_BYTES) : -1;
        if (size < 0 || session_feed(session, (uint32_t)size))
            exit(1);
    }
    gzclose(file);
    if (session_finish(session)) {
        fprintf(stderr, "api_dump: %s\n", session->err.text);
        exit(1);
    }
    return session;
}

int main(int argc, char **argv)
{
    static char line[MOST_LINE];
    if (argc != 2)
        return 2;
    struct session *session = load(argv[1]);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        answer(session, line);
    }
    return 0; /* the page, too, drops a session as a whole */
}

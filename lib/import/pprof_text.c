/*
 * The text formats before profile.proto (google/pprof, profile/legacy_profile.go): Go's /debug/pprof/NAME?debug=1 for
 * heap, allocs, goroutine, threadcreate, block and mutex, and the heap profiles of gperftools (HEAPPROFILE) and
 * jemalloc (MALLOC_CONF=prof:true).
 *
 *     heap profile: 3: 96 [7: 224] @ heap/524288          in use: objects, bytes; [allocated]; the sampling
 *     1: 32 [2: 64] @ 0x4d9fe5 0x4844a1                   a stack, from the innermost
 *     #	0x4d9fe4	main.run+0xa4	/src/main.go:19        Go: the function of an address - 1
 *     MAPPED_LIBRARIES:                                   gperftools, jemalloc: /proc/self/maps follows
 *
 * goroutine and threadcreate have "COUNT @", block and mutex "CYCLES COUNT @", and jemalloc "@ ADDRESSES" before a line
 * "t*: OBJECTS: BYTES [...]" and one for each thread; the importer skips these. The importer scales sampled values as
 * pprof does. Go omits the names of the innermost runtime functions, so they stay addresses.
 */
#include "import/importers.h"
#include "import/mapped_addresses.h"

enum form { FORM_NONE, FORM_HEAP, FORM_COUNTS, FORM_CONTENTION, FORM_JEMALLOC };
enum { VALUES_MAX = 4 };

struct symbol {
    struct builder_text name, file;
    uint32_t line;
};

struct reading {
    struct profile_builder *builder;
    struct error *err;
    enum form form;
    double rate;           /* mean bytes between two heap samples, or 0 for no sampling */
    double period, cycles; /* contentions per sampled contention; cycles per ns, 0: values are ns */
    bool has_allocated;    /* the file also has allocated objects */
    size_t values;         /* values of a sample; the last value is the weight */
    uint32_t tables[VALUES_MAX], thread, stack;
    struct mapped_addresses mapped;
    ARRAY(struct symbol) symbols;
    struct hash symbol_of, frame_of; /* by address */
    ARRAY(uint64_t) addresses;
};

/* ---- texts ---- */

struct scan {
    const char *at, *end;
};

static struct scan next_line(struct scan *text)
{
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    struct scan line = {text->at, newline ? newline : text->end};
    text->at = newline ? newline + 1 : text->end;
    while (line.at < line.end && (*line.at == ' ' || *line.at == '\t'))
        line.at++;
    while (line.at < line.end && strchr(" \t\r", line.end[-1]) && line.end[-1])
        line.end--;
    return line;
}

/* Skips white space and `text`. Returns false if another text follows. */
static bool skip_literal(struct scan *scan, const char *text)
{
    const char *at = scan->at;
    size_t length = strlen(text);
    while (at < scan->end && (*at == ' ' || *at == '\t'))
        at++;
    if ((size_t)(scan->end - at) < length || memcmp(at, text, length) != 0)
        return false;
    scan->at = at + length;
    return true;
}

static bool read_number(struct scan *scan, double *number)
{
    bool is_negative = skip_literal(scan, "-");
    skip_literal(scan, "");
    const char *start = scan->at;
    *number = 0;
    for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9' && scan->at - start < 19; scan->at++)
        *number = *number * 10 + (*scan->at - '0');
    *number = is_negative ? -*number : *number;
    return scan->at > start;
}

static bool read_address(struct scan *scan, uint64_t *address)
{
    if (!skip_literal(scan, "0x"))
        return false;
    const char *start = scan->at;
    *address = 0;
    for (; scan->at < scan->end && scan->at - start < 16; scan->at++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, *scan->at);
        if (!digit || !*digit)
            break;
        *address = *address << 4 | (uint64_t)(digit - digits);
    }
    return scan->at > start;
}

static bool is_end_of_samples(struct scan line)
{
    return skip_literal(&line, "MAPPED_LIBRARIES:") || skip_literal(&line, "--- Memory map: ---");
}

/* ---- detection ---- */

static enum form detect_form(struct scan line)
{
    double number;
    if (skip_literal(&line, "heap profile:"))
        return FORM_HEAP;
    if (skip_literal(&line, "heap_v2/"))
        return read_number(&line, &number) ? FORM_JEMALLOC : FORM_NONE;
    if (skip_literal(&line, "--- contention:") || skip_literal(&line, "--- mutex:") ||
        skip_literal(&line, "--- contentionz "))
        return FORM_CONTENTION;
    while (line.at < line.end && *line.at != ' ')
        line.at++;
    return skip_literal(&line, "profile: total ") && read_number(&line, &number) && line.at == line.end ? FORM_COUNTS
                                                                                                        : FORM_NONE;
}

/* Detects "goroutine 1 [running]:", a dump of debug=2, which is no profile. */
static bool is_dump(struct scan line)
{
    double number;
    return skip_literal(&line, "goroutine ") && read_number(&line, &number) && skip_literal(&line, "[");
}

bool pprof_text_begins(const char *text, size_t size, bool is_whole)
{
    (void)is_whole;
    struct scan all = {text, text + size}, line = next_line(&all);
    return detect_form(line) != FORM_NONE || is_dump(line);
}

/* ---- sample types ---- */

static int set_values(struct reading *reading, const char *const *names, size_t count, enum weight_type weight)
{
    reading->values = count;
    reading->builder->weight_type = weight;
    for (size_t i = 0; i + 1 < count; i++)
        reading->tables[i] = builder_add_event(reading->builder, builder_text(names[i]));
    return 0;
}

static int set_heap_values(struct reading *reading)
{
    static const char *const both[] = {"alloc_objects", "alloc_space (bytes)", "inuse_objects", "inuse_space"};
    static const char *const one[] = {"objects", "space"};
    return reading->has_allocated ? set_values(reading, both, 4, WEIGHT_BYTES)
                                  : set_values(reading, one, 2, WEIGHT_BYTES);
}

/* Reads "3: 96 [7: 224]". */
static bool read_heap_values(struct scan *line, double values[VALUES_MAX])
{
    return read_number(line, &values[2]) && skip_literal(line, ":") && read_number(line, &values[3]) &&
           skip_literal(line, "[") && read_number(line, &values[0]) && skip_literal(line, ":") &&
           read_number(line, &values[1]) && skip_literal(line, "]");
}

static int read_heap_header(struct reading *reading, struct scan line)
{
    double values[VALUES_MAX], rate = 0;
    if (!skip_literal(&line, "heap profile:") || !read_heap_values(&line, values) || !skip_literal(&line, "@"))
        return error_set(reading->err, EINVAL, "the first line has no totals, or is truncated");
    if (skip_literal(&line, "growth"))
        return set_heap_values(reading);
    reading->has_allocated = (values[0] != values[2] && values[0] != 0) || (values[1] != values[3] && values[1] != 0);
    if (skip_literal(&line, "heap_v2/") || skip_literal(&line, "heapz_v2/")) {
        if (read_number(&line, &rate))
            reading->rate = rate;
    } else if (skip_literal(&line, "heap/") && read_number(&line, &rate))
        reading->rate = floor(rate / 2); /* Go writes twice its rate */
    return set_heap_values(reading);
}

static int read_contention_header(struct reading *reading, struct scan *text, size_t *number)
{
    static const char *const names[] = {"contentions", "delay"};
    reading->period = 1;
    for (;;) {
        struct scan rest = *text, line = next_line(&rest);
        double value;
        const char *equals = line.at < line.end ? memchr(line.at, '=', (size_t)(line.end - line.at)) : NULL;
        if (!equals)
            return set_values(reading, names, 2, WEIGHT_TRACING_MS);
        struct scan after = {equals + 1, line.end};
        if (read_number(&after, &value) && value > 0) {
            if (skip_literal(&line, "cycles/second"))
                reading->cycles = value / 1e9;
            else if (skip_literal(&line, "sampling period"))
                reading->period = value;
        }
        *text = rest;
        ++*number;
    }
}

/* Reads the header, and moves `text` past the header. */
static int read_header(struct reading *reading, struct scan *text, size_t *number)
{
    static const char *const count[] = {"count"};
    struct scan line = next_line(text);
    reading->form = detect_form(line);
    switch (reading->form) {
    case FORM_HEAP:
        return read_heap_header(reading, line);
    case FORM_CONTENTION:
        return read_contention_header(reading, text, number);
    case FORM_JEMALLOC: {
        double values[VALUES_MAX];
        struct scan rest = *text, totals = next_line(&rest);
        skip_literal(&line, "heap_v2/");
        read_number(&line, &reading->rate);
        reading->has_allocated = skip_literal(&totals, "t*:") && read_heap_values(&totals, values) && values[0] != 0;
        return set_heap_values(reading);
    }
    case FORM_COUNTS:
        return set_values(reading, count, 1, WEIGHT_SAMPLES);
    default:
        return is_dump(line)
                   ? error_set(reading->err, EINVAL,
                               "the file is a dump of goroutines; request the profile with ?debug=1 or ?debug=0")
                   : error_set(reading->err, EINVAL, "the first line is damaged");
    }
}

/* ---- functions ---- */

/* "#	0x4d9fe4	main.run+0xa4	/src/main.go:19" */
static int read_symbol(struct reading *reading, struct scan line)
{
    uint64_t address;
    struct symbol symbol = {0};
    if (!skip_literal(&line, "#") || !read_address(&line, &address) || !skip_literal(&line, ""))
        return 0;
    const char *tab = line.at < line.end ? memchr(line.at, '\t', (size_t)(line.end - line.at)) : NULL;
    const char *end = tab ? tab : line.end;
    for (const char *plus = end; plus > line.at; plus--)
        if (plus[-1] == '+') {
            end = plus - 1;
            break;
        }
    symbol.name = (struct builder_text){line.at, (size_t)(end - line.at)};
    if (tab) {
        line.at = tab;
        skip_literal(&line, "");
        while (line.at < line.end && *line.at == '\t')
            line.at++;
        const char *colon = line.end;
        while (colon > line.at && colon[-1] != ':')
            colon--;
        struct scan digits = {colon, line.end};
        double number;
        if (colon > line.at && read_number(&digits, &number) && number < INT32_MAX)
            symbol.line = (uint32_t)number;
        symbol.file = (struct builder_text){line.at, (size_t)((colon > line.at ? colon - 1 : line.end) - line.at)};
    }
    if (!symbol.name.length)
        return 0;
    return array_push(&reading->symbols, symbol) &&
                   hash_set(&reading->symbol_of, address, (uint32_t)reading->symbols.length - 1)
               ? 0
               : error_no_memory(reading->err);
}

/* Reads all names and mappings, which the file has after the stacks. */
static int read_names(struct reading *reading, struct scan text)
{
    while (text.at < text.end) {
        struct scan line = next_line(&text);
        if (is_end_of_samples(line))
            return mapped_addresses_read(&reading->mapped, text.at, (size_t)(text.end - text.at))
                       ? 0
                       : error_no_memory(reading->err);
        int code = read_symbol(reading, line);
        if (code)
            return code;
    }
    return 0;
}

/* Adds a frame. All addresses are return addresses, so the call is at the byte before. */
static uint32_t add_frame(struct reading *reading, uint64_t address)
{
    uint32_t known = hash_get(&reading->frame_of, address);
    if (known != HASH_MISSING)
        return known;
    struct builder_frame frame = {0};
    uint32_t row = hash_get(&reading->symbol_of, address - 1);
    if (row != HASH_MISSING) {
        const struct symbol *symbol = &reading->symbols.data[row];
        frame = (struct builder_frame){.name = symbol->name, .file = symbol->file, .line = symbol->line};
    }
    known = mapped_addresses_add_frame(&reading->mapped, reading->builder, address - 1, &frame);
    reading->builder->no_memory |= !hash_set(&reading->frame_of, address, known);
    return known;
}

/* ---- samples ---- */

/* Reads the addresses up to the end of the line. */
static int read_stack(struct reading *reading, struct scan line, size_t number)
{
    uint64_t address;
    reading->addresses.length = 0;
    reading->stack = PROFILE_NONE;
    while (read_address(&line, &address))
        if (address && !array_push(&reading->addresses, address)) /* stacks of Go's threads consist of zeros */
            return error_no_memory(reading->err);
    skip_literal(&line, "");
    if (line.at != line.end)
        return error_set(reading->err, EINVAL, "the stack in line %zu has an invalid address", number);
    for (size_t i = reading->addresses.length; i-- > 0;)
        reading->stack =
            builder_add_stack(reading->builder, reading->stack, add_frame(reading, reading->addresses.data[i]));
    return 0;
}

/* Divides the values by the probability that an allocation of this mean size is sampled. Values are integers, as in
 * pprof. */
static void scale_heap(double rate, double *objects, double *bytes)
{
    if (*objects == 0 || *bytes == 0) {
        *objects = *bytes = 0;
        return;
    }
    double scale = rate > 1 ? 1 / (1 - exp(-(*bytes / *objects) / rate)) : 1;
    *objects = trunc(*objects * scale);
    *bytes = trunc(*bytes * scale);
}

static void add_values(struct reading *reading, const double *values)
{
    for (size_t i = 0; i < reading->values; i++) {
        uint32_t table = i + 1 < reading->values ? reading->tables[i] : 0;
        if (values[i] != 0 && isfinite(values[i]))
            builder_add_sample(reading->builder, reading->thread, table, reading->stack, 0, values[i]);
    }
}

static void add_heap_values(struct reading *reading, double values[VALUES_MAX])
{
    scale_heap(reading->rate, &values[0], &values[1]);
    scale_heap(reading->rate, &values[2], &values[3]);
    add_values(reading, reading->has_allocated ? values : values + 2);
}

static int fail_damaged(const struct reading *reading, size_t number)
{
    return error_set(reading->err, EINVAL, "line %zu is not a sample: the file is damaged or truncated", number);
}

static int read_line(struct reading *reading, struct scan line, size_t number)
{
    double values[VALUES_MAX] = {0};
    bool is_sample = false;
    switch (reading->form) {
    case FORM_JEMALLOC: {
        struct scan values_of = line;
        if (skip_literal(&line, "@"))
            return read_stack(reading, line, number);
        if (skip_literal(&values_of, "t*:")) {
            if (!read_heap_values(&values_of, values))
                return fail_damaged(reading, number);
            if (number > 2) /* line 2 has the totals */
                add_heap_values(reading, values);
            return 0;
        }
        return skip_literal(&line, "t") && read_number(&line, values) && skip_literal(&line, ":")
                   ? 0
                   : fail_damaged(reading, number);
    }
    case FORM_HEAP:
        is_sample = read_heap_values(&line, values);
        break;
    case FORM_CONTENTION:
        is_sample = read_number(&line, &values[1]) && read_number(&line, &values[0]);
        values[0] *= reading->period;
        values[1] = (reading->cycles > 0 ? trunc(values[1] * reading->period / reading->cycles) : values[1]) / 1e6;
        break;
    default:
        is_sample = read_number(&line, &values[0]);
    }
    if (!is_sample || !skip_literal(&line, "@"))
        return fail_damaged(reading, number);
    int code = read_stack(reading, line, number);
    if (code)
        return code;
    if (reading->form == FORM_HEAP)
        add_heap_values(reading, values);
    else
        add_values(reading, values);
    return 0;
}

static int read_all(struct reading *reading, struct scan text)
{
    size_t number = 1;
    int code = read_names(reading, text);
    if (!code)
        code = read_header(reading, &text, &number);
    while (!code && text.at < text.end) {
        struct scan line = next_line(&text);
        number++;
        if (is_end_of_samples(line) || (reading->form != FORM_HEAP && skip_literal(&line, "---")))
            break;
        if (line.at < line.end && *line.at != '#')
            code = read_line(reading, line, number);
    }
    return code;
}

int pprof_text_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct reading reading = {
        .builder = builder, .err = err, .thread = builder_add_thread(builder, 0, 0, PROFILE_NONE)};
    builder->has_no_times = true;
    int code = read_all(&reading, (struct scan){text, text + size});
    if (!code && reading.mapped.lacks_names && reading.mapped.ranges.length)
        builder_request_names(builder);
    mapped_addresses_destroy(&reading.mapped);
    array_free(&reading.symbols);
    array_free(&reading.addresses);
    hash_destroy(&reading.symbol_of);
    hash_destroy(&reading.frame_of);
    return code;
}

/*
 * The text of `perf script`, as perf 4 to 6 writes it by default: for each sample a line
 *
 *     comm pid/tid [cpu] seconds: period event:
 *
 * of which pid/ (the number is the thread's then), [cpu] and the period may be missing, then a line for each frame, the
 * innermost first, "address symbol+offset (library)", and an empty line. Without call chains the only frame stands
 * behind the event. Samples of CPU time weigh their period; those of other events count 1 as the main samples, and
 * their period as an event. (perf-script(1); tools/perf/builtin-script.c)
 */
#include "exchange/importers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct header {
    struct builder_text comm, event, rest; /* rest: behind the event */
    uint64_t pid, tid;
    double time, period; /* ms; of the event, 1 if it is missing */
};

struct perf_script {
    struct profile_builder *builder;
    struct error *err;
    uint32_t kernel, user; /* categories */
    struct builder_text main_event;
    bool is_clock;
    ARRAY(uint32_t) frames; /* of the sample that is read, the innermost first */
    struct header header;
    bool is_open;
    size_t left_out; /* samples of events beyond those that a profile can have */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct builder_text trim(struct builder_text text)
{
    while (text.length && is_space(text.text[text.length - 1]))
        text.length--;
    while (text.length && is_space(text.text[0])) {
        text.text++;
        text.length--;
    }
    return text;
}

static struct builder_text next_word(struct builder_text *rest)
{
    *rest = trim(*rest);
    struct builder_text word = {rest->text, 0};
    while (word.length < rest->length && !is_space(rest->text[word.length]))
        word.length++;
    rest->text += word.length;
    rest->length -= word.length;
    return word;
}

/* Takes digits from the beginning of the text; false if there are none, or too many. */
static bool take_number(struct builder_text *text, uint64_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (; digits < text->length && text->text[digits] >= '0' && text->text[digits] <= '9'; digits++)
        *number = *number * 10 + (uint64_t)(text->text[digits] - '0');
    text->text += digits;
    text->length -= digits;
    return digits > 0 && digits < 19;
}

/* "1234.567890:" in ms. */
static bool take_time(struct builder_text word, double *ms)
{
    char text[32];
    if (word.length < 4 || word.length >= sizeof(text) || word.text[word.length - 1] != ':' ||
        !memchr(word.text, '.', word.length))
        return false;
    for (size_t i = 0; i + 1 < word.length; i++)
        if (!strchr("0123456789.", word.text[i]) || !word.text[i])
            return false;
    memcpy(text, word.text, word.length - 1);
    text[word.length - 1] = '\0';
    char *end;
    *ms = strtod(text, &end) * 1000;
    return *end == '\0' && isfinite(*ms);
}

/* "1234" or "1230/1234". */
static bool take_ids(struct builder_text word, struct header *header)
{
    if (!take_number(&word, &header->pid))
        return false;
    header->tid = header->pid;
    if (word.length == 0)
        return true;
    if (word.text[0] != '/')
        return false;
    word.text++;
    word.length--;
    return take_number(&word, &header->tid) && word.length == 0;
}

/* "cpu-clock:ppp:" without its modifiers, "sched:sched_switch:" as it is. */
static struct builder_text event_name(struct builder_text word)
{
    if (word.length && word.text[word.length - 1] == ':')
        word.length--;
    size_t at = word.length;
    while (at && word.text[at - 1] != ':')
        at--;
    bool are_modifiers = at > 0 && at < word.length;
    for (size_t i = at; i < word.length; i++)
        are_modifiers = are_modifiers && strchr("ukhGHpPSDWIeb", word.text[i]) && word.text[i];
    if (are_modifiers)
        word.length = at - 1;
    return word;
}

static bool parse_header(struct builder_text line, struct header *header)
{
    if (line.length == 0 || line.text[0] == '\t' || line.text[0] == '#')
        return false;
    struct builder_text rest = line, before = {"", 0}, earlier = {"", 0};
    for (;;) {
        struct builder_text word = next_word(&rest);
        if (word.length == 0)
            return false;
        if (take_time(word, &header->time)) {
            bool has_cpu = before.length && before.text[0] == '[';
            struct builder_text ids = has_cpu ? earlier : before;
            if (!ids.length || !take_ids(ids, header))
                return false;
            header->comm = trim((struct builder_text){line.text, (size_t)(ids.text - line.text)});
            break;
        }
        earlier = before;
        before = word;
    }
    struct builder_text word = next_word(&rest), digits = word;
    uint64_t period;
    header->period = 1;
    if (take_number(&digits, &period) && digits.length == 0) {
        header->period = (double)period;
        word = next_word(&rest);
    }
    header->event = event_name(word);
    header->rest = trim(rest);
    return header->event.length > 0 && word.text[word.length - 1] == ':';
}

static struct builder_text line_at(const char *text, size_t size, size_t at)
{
    const char *end = memchr(text + at, '\n', size - at);
    return (struct builder_text){text + at, end ? (size_t)(end - text) - at : size - at};
}

bool perf_script_begins(const char *text, size_t size, bool is_whole)
{
    (void)is_whole;
    struct header header;
    for (size_t at = 0; at < size;) {
        struct builder_text line = line_at(text, size, at);
        if (memchr(line.text, '\0', line.length))
            return false;
        if (trim(line).length && line.text[0] != '#')
            return parse_header(line, &header);
        at += line.length + 1;
    }
    return false;
}

/* ---- frames ---- */

/* Where " (library)" begins, whose library may hold spaces and parentheses; the length if there is none. */
static size_t library_at(struct builder_text text)
{
    if (!text.length || text.text[text.length - 1] != ')')
        return text.length;
    size_t last = text.length;
    for (size_t i = text.length - 1; i-- > 0;) {
        if (text.text[i] != ' ' || text.text[i + 1] != '(')
            continue;
        if (last == text.length)
            last = i;
        if (i + 2 < text.length && (text.text[i + 2] == '/' || text.text[i + 2] == '['))
            return i;
    }
    return last;
}

static bool is_kernel(struct builder_text library, uint64_t address)
{
    return address >= UINT64_C(0xffff800000000000) || (library.length > 7 && memcmp(library.text, "[kernel", 7) == 0) ||
           (library.length > 6 && memcmp(library.text, "[guest", 6) == 0);
}

static uint32_t resource_of(struct perf_script *file, struct builder_text library)
{
    size_t start = 0;
    for (size_t i = 0; i + 1 < library.length; i++)
        if (library.text[i] == '/')
            start = i + 1;
    uint32_t name = builder_string(file->builder, (struct builder_text){library.text + start, library.length - start});
    return name == STRING_NONE ? PROFILE_NONE : intern_library_resource(&file->builder->interner, name);
}

static bool text_is(struct builder_text text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.text, wanted, text.length) == 0;
}

/* 1 if it is a frame, 0 if not (a source line, or what was traced), or a negative errno value. */
static int add_frame(struct perf_script *file, struct builder_text line)
{
    struct builder_text rest = trim(line), word = next_word(&rest);
    uint64_t address = 0;
    char digits[20], text[24];
    if (word.length == 0 || word.length > 16)
        return 0;
    memcpy(digits, word.text, word.length);
    digits[word.length] = '\0';
    char *end;
    address = strtoull(digits, &end, 16);
    if (*end || digits[0] == '-' || digits[0] == '+')
        return 0;
    rest = trim(rest);
    size_t at = library_at(rest);
    struct builder_text library = {"", 0};
    if (at < rest.length)
        library = (struct builder_text){rest.text + at + 2, rest.length - at - 3};
    struct builder_frame frame = {.name = trim((struct builder_text){rest.text, at})};
    for (size_t i = frame.name.length; i-- > 1;)
        if (frame.name.text[i] == '+' && i + 2 < frame.name.length && frame.name.text[i + 1] == '0' &&
            frame.name.text[i + 2] == 'x') {
            frame.name.length = i;
            break;
        }
    if (!frame.name.length || text_is(frame.name, "[unknown]")) {
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
        frame.name = builder_text(text);
    }
    frame.category = (is_kernel(library, address) ? file->kernel : file->user) + 1;
    if (library.length && !text_is(library, "inlined") && !text_is(library, "[unknown]")) {
        uint32_t resource = resource_of(file, library);
        if (resource == PROFILE_NONE)
            return error_no_memory(file->err);
        frame.resource = resource + 1;
    }
    uint32_t row = builder_frame(file->builder, &frame);
    return row != PROFILE_NONE && array_push(&file->frames, row) ? 1 : error_no_memory(file->err);
}

/* ---- samples ---- */

static bool is_clock(struct builder_text event)
{
    return event.length >= 9 && (memcmp(event.text, "cpu-clock", 9) == 0 || memcmp(event.text, "task-cloc", 9) == 0);
}

static bool same_text(struct builder_text a, struct builder_text b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static int add_sample(struct perf_script *file, uint32_t thread, uint32_t stack)
{
    const struct header *header = &file->header;
    bool is_main = same_text(header->event, file->main_event), done = true;
    if (is_main)
        done = builder_sample(file->builder, thread, 0, stack, header->time, file->is_clock ? header->period / 1e6 : 1);
    if (!done || (is_main && file->is_clock))
        return done ? 0 : error_no_memory(file->err);
    uint32_t table = builder_event(file->builder, header->event);
    if (table == 0) {
        file->left_out++;
        return 0;
    }
    return table != PROFILE_NONE && builder_sample(file->builder, thread, table, stack, header->time, header->period)
               ? 0
               : error_no_memory(file->err);
}

static int end_sample(struct perf_script *file)
{
    if (!file->is_open)
        return 0;
    file->is_open = false;
    int code = file->frames.length == 0 && file->header.rest.length ? add_frame(file, file->header.rest) : 0;
    if (code < 0)
        return code;
    uint32_t stack = PROFILE_NONE;
    for (size_t i = file->frames.length; i-- > 0;) {
        stack = builder_stack(file->builder, stack, file->frames.data[i]);
        if (stack == PROFILE_NONE)
            return error_no_memory(file->err);
    }
    uint32_t thread = builder_thread(file->builder, file->header.pid, file->header.tid, PROFILE_NONE);
    uint32_t comm = builder_string(file->builder, file->header.comm);
    if (thread == PROFILE_NONE || comm == STRING_NONE)
        return error_no_memory(file->err);
    struct builder_thread *row = &file->builder->threads.data[thread];
    row->name = row->process_name = comm; /* the last one, after an exec */
    return add_sample(file, thread, stack);
}

static int read_line(struct perf_script *file, struct builder_text line, size_t number)
{
    if (trim(line).length == 0)
        return end_sample(file);
    if (line.text[0] == '#')
        return 0;
    struct header header = {0};
    if (parse_header(line, &header)) {
        int code = end_sample(file);
        file->header = header;
        file->frames.length = 0;
        file->is_open = true;
        return code;
    }
    if (!is_space(line.text[0]))
        return error_set(file->err, EINVAL, "line %zu is neither a sample nor a frame", number);
    int code = file->is_open ? add_frame(file, line) : 0;
    return code < 0 ? code : 0;
}

/* The event whose samples are the main ones: CPU time if it was sampled, else the first. */
static void choose_event(struct perf_script *file, const char *text, size_t size)
{
    for (size_t at = 0; at < size && !file->is_clock;) {
        struct builder_text line = line_at(text, size, at);
        struct header header;
        if (line.length && line.text[0] != '\t' && parse_header(line, &header) &&
            (!file->main_event.length || is_clock(header.event))) {
            file->main_event = header.event;
            file->is_clock = is_clock(header.event);
        }
        at += line.length + 1;
    }
}

static int read_all(struct perf_script *file, const char *text, size_t size)
{
    int code = 0;
    size_t number = 1;
    for (size_t at = 0; !code && at < size; number++) {
        struct builder_text line = line_at(text, size, at);
        code = read_line(file, line, number);
        at += line.length + 1;
    }
    if (!code)
        code = end_sample(file);
    if (!code && file->left_out)
        code = builder_warn(file->builder, "The file has more events than prof shows; samples of some are left out.",
                            file->err);
    return code;
}

int perf_script_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct perf_script file = {.builder = builder, .err = err};
    file.kernel = intern_category(&builder->interner, "Kernel", "orange");
    file.user = intern_category(&builder->interner, "User", "yellow");
    if (file.kernel == PROFILE_NONE || file.user == PROFILE_NONE)
        return error_no_memory(err);
    choose_event(&file, text, size);
    builder->weight_type = file.is_clock ? WEIGHT_TRACING_MS : WEIGHT_SAMPLES;
    int code = read_all(&file, text, size);
    array_free(&file.frames);
    return code;
}

/*
 * The text of `perf script` of perf 4 to 6, with any fields (perf_script_line.h): a line for each sample, a line for
 * each of its frames, and an empty line. Without call chains, the line of a sample ends with its only frame.
 *
 * The weight of a sample of CPU time is its period, or 1 without periods. If samples of another event are the main
 * samples, each has the weight 1, and its period counts as an event. The page shows samples without times in sequence.
 */
#include "import/importers.h"
#include "import/perf_script_line.h"

struct perf_script {
    struct profile_builder *builder;
    struct error *err;
    uint32_t kernel, user; /* categories */
    struct builder_text main_event;
    double scale;                            /* weight per period of the main event, or 0 (each sample counts 1) */
    bool has_indent;                         /* indentation of sample lines: perf pads the thread name on the left */
    bool has_events;                         /* the file has events beside the main event */
    ARRAY(uint32_t) frames;                  /* frames of the current sample, innermost first */
    ARRAY(struct perf_script_frame) inlined; /* inlined calls of the next frame */
    struct perf_script_header header;
    bool is_open;
    double time;                /* ms: of the last sample */
    size_t left_out;            /* number of samples of events beyond the limit */
    size_t others, first_other; /* number of unknown lines; line number of the first */
};

static struct builder_text find_line(const char *text, size_t size, size_t at)
{
    const char *end = memchr(text + at, '\n', size - at);
    return (struct builder_text){text + at, end ? (size_t)(end - text) - at : size - at};
}

static struct builder_text next_line(const char *text, size_t size, struct builder_text line)
{
    size_t next = (size_t)(line.text - text) + line.length + 1;
    return next < size ? find_line(text, size, next) : (struct builder_text){"", 0};
}

static bool is_before_frame(const char *text, size_t size, struct builder_text line)
{
    struct perf_script_header ignored;
    struct builder_text next = next_line(text, size, line);
    return next.length && next.text[0] == '\t' && perf_script_parse_line(next, &ignored) == PERF_SCRIPT_FRAME;
}

/* Returns the kind of a line. A line such as "comm 12" is a sample if a frame follows. */
static enum perf_script_line detect_line_kind(const char *text, size_t size, struct builder_text line,
                                              struct perf_script_header *header)
{
    enum perf_script_line kind = perf_script_parse_line(line, header);
    bool may_be_sample = kind == PERF_SCRIPT_OTHER && perf_script_parse_bare_header(line, header);
    return may_be_sample && is_before_frame(text, size, line) ? PERF_SCRIPT_SAMPLE : kind;
}

/* "\t 11d6 main": only perf pads addresses to 16 columns. */
static bool is_padded_frame(struct builder_text line)
{
    struct perf_script_frame frame;
    size_t at = 1;
    while (at < line.length && line.text[at] == ' ')
        at++;
    while (at < line.length && line.text[at] != ' ')
        at++;
    return line.text[0] == '\t' && at == 17 && perf_script_parse_frame(line, &frame);
}

bool perf_script_begins(const char *text, size_t size, bool is_whole)
{
    struct perf_script_header header;
    size_t others = 0, records = 0;
    (void)is_whole;
    for (size_t at = 0; at < size;) {
        enum { OTHERS_MAX = 4 }; /* limit of perf's messages before the first sample, in lines */
        struct builder_text line = find_line(text, size, at);
        if (memchr(line.text, '\0', line.length))
            return false;
        enum perf_script_line kind = detect_line_kind(text, size, line, &header);
        if (kind == PERF_SCRIPT_SAMPLE)
            return others == 0 || (isfinite(header.time) && header.event.length);
        if (kind == PERF_SCRIPT_FRAME)
            return is_padded_frame(line);
        if (kind == PERF_SCRIPT_OTHER && ++others > OTHERS_MAX)
            return false;
        records += kind == PERF_SCRIPT_RECORD;
        at += line.length + 1;
    }
    return records > 0;
}

/* ---- frames ---- */

static bool is_kernel(struct builder_text library, uint64_t address)
{
    return address >= UINT64_C(0xffff800000000000) || (library.length > 7 && memcmp(library.text, "[kernel", 7) == 0) ||
           (library.length > 6 && memcmp(library.text, "[guest", 6) == 0);
}

static uint32_t add_library_resource(struct perf_script *file, struct builder_text library)
{
    size_t start = 0;
    for (size_t i = 0; i + 1 < library.length; i++)
        if (library.text[i] == '/')
            start = i + 1;
    uint32_t name =
        builder_add_string(file->builder, (struct builder_text){library.text + start, library.length - start});
    return name == STRING_NONE ? PROFILE_NONE : intern_library_resource(&file->builder->interner, name);
}

static int append_frame(struct perf_script *file, const struct perf_script_frame *from, struct builder_text library)
{
    struct builder_frame frame = {.name = from->symbol};
    char text[24];
    if (!frame.name.length || builder_text_is(frame.name, "[unknown]")) {
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)from->address);
        frame.name = builder_text(text);
    }
    frame.category = (is_kernel(library, from->address) ? file->kernel : file->user) + 1;
    if (library.length && !builder_text_is(library, "[unknown]")) {
        uint32_t resource = add_library_resource(file, library);
        file->builder->no_memory |= resource == PROFILE_NONE;
        frame.resource = resource + 1;
    }
    return array_push(&file->frames, builder_add_frame(file->builder, &frame)) ? 0 : error_no_memory(file->err);
}

static int add_inlined_frames(struct perf_script *file, struct builder_text library)
{
    int code = 0;
    for (size_t i = 0; i < file->inlined.length && !code; i++)
        code = append_frame(file, &file->inlined.data[i], library);
    file->inlined.length = 0;
    return code;
}

/* An inlined call has "(inlined)" in place of its library, and gets the library of its caller's frame. */
static int add_frame(struct perf_script *file, const struct perf_script_frame *from)
{
    if (builder_text_is(from->library, "inlined"))
        return array_push(&file->inlined, *from) ? 0 : error_no_memory(file->err);
    int code = add_inlined_frames(file, from->library);
    return code ? code : append_frame(file, from, from->library);
}

/* ---- samples ---- */

static bool is_clock(struct builder_text event)
{
    return event.length >= 9 && (memcmp(event.text, "cpu-clock", 9) == 0 || memcmp(event.text, "task-cloc", 9) == 0);
}

static bool is_same_text(struct builder_text a, struct builder_text b)
{
    return a.length == b.length && (!a.length || memcmp(a.text, b.text, a.length) == 0);
}

static void add_sample(struct perf_script *file, uint32_t thread, uint32_t stack)
{
    const struct perf_script_header *header = &file->header;
    bool is_main = is_same_text(header->event, file->main_event);
    double period = isfinite(header->period) ? header->period : is_main && file->scale > 0 ? 0 : 1;
    if (isfinite(header->time))
        file->time = header->time;
    if (is_main)
        builder_add_sample(file->builder, thread, 0, stack, file->time, file->scale > 0 ? period * file->scale : 1);
    bool is_event = !is_main || (file->scale == 0 && isfinite(header->period) && !is_clock(header->event));
    if (!is_event)
        return;
    uint32_t table = builder_add_event(file->builder, header->event);
    if (table)
        builder_add_sample(file->builder, thread, table, stack, file->time, period);
    else
        file->left_out++;
}

static int end_sample(struct perf_script *file)
{
    struct perf_script_frame frame;
    if (!file->is_open)
        return 0;
    file->is_open = false;
    int code = add_inlined_frames(file, (struct builder_text){0});
    if (!code && file->frames.length == 0 && perf_script_parse_frame(file->header.rest, &frame))
        code = append_frame(file, &frame, frame.library);
    if (code)
        return code;
    uint32_t stack = PROFILE_NONE;
    for (size_t i = file->frames.length; i-- > 0;)
        stack = builder_add_stack(file->builder, stack, file->frames.data[i]);
    uint32_t thread = builder_add_thread(file->builder, file->header.pid, file->header.tid, PROFILE_NONE);
    uint32_t comm = builder_add_string(file->builder, file->header.comm);
    if (thread == PROFILE_NONE)
        return error_no_memory(file->err);
    struct builder_thread *row = &file->builder->threads.data[thread];
    if (file->header.comm.length)
        row->name = row->process_name = comm; /* the thread's latest name, after an exec */
    add_sample(file, thread, stack);
    return 0;
}

static int begin_sample(struct perf_script *file, const struct perf_script_header *header)
{
    int code = end_sample(file);
    file->header = *header;
    file->frames.length = 0;
    file->inlined.length = 0;
    file->is_open = true;
    return code;
}

static int read_line(struct perf_script *file, const char *text, size_t size, struct builder_text line, size_t number)
{
    struct perf_script_header header;
    struct perf_script_frame frame;
    enum perf_script_line kind = detect_line_kind(text, size, line, &header);
    bool is_indented = line.length && (line.text[0] == ' ' || line.text[0] == '\t');
    if (kind == PERF_SCRIPT_SAMPLE && (!is_indented || file->has_indent || is_before_frame(text, size, line)))
        return begin_sample(file, &header);
    if (kind == PERF_SCRIPT_EMPTY)
        return line.length && line.text[0] == '#' ? 0 : end_sample(file);
    if (kind == PERF_SCRIPT_RECORD)
        return end_sample(file);
    if (is_indented && perf_script_parse_frame(line, &frame)) {
        int code = file->is_open ? 0 : begin_sample(file, &header); /* of -F ip,sym,dso */
        return code ? code : add_frame(file, &frame);
    }
    if (!is_indented && file->others++ == 0)
        file->first_other = number;
    return 0; /* other lines: source line, registers, branches */
}

/* Returns the weight of the main samples, which is CPU time, or the recorded weight of prof's own export. */
static void set_weight(struct perf_script *file, const struct perf_script_header *header)
{
    static const struct {
        const char *event;
        enum weight_type type;
        double scale;
    } own[] = {
        {"recorded-ns", WEIGHT_TRACING_MS, 1e-6}, {"recorded-bytes", WEIGHT_BYTES, 1}, {"recorded", WEIGHT_SAMPLES, 1}};
    file->scale = 0;
    file->builder->weight_type = WEIGHT_SAMPLES;
    if (!isfinite(header->period))
        return;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (builder_text_is(header->event, own[i].event)) {
            file->scale = own[i].scale;
            file->builder->weight_type = own[i].type;
        }
    if (is_clock(header->event)) {
        file->scale = 1e-6;
        file->builder->weight_type = WEIGHT_TRACING_MS;
    }
}

/* Chooses the event of the main samples, which is CPU time if it was sampled, else the first event. */
static void choose_event(struct perf_script *file, const char *text, size_t size)
{
    bool has_sample = false, has_clock = false;
    for (size_t at = 0; at < size && !has_clock;) {
        struct builder_text line = find_line(text, size, at);
        struct perf_script_header header;
        if (detect_line_kind(text, size, line, &header) == PERF_SCRIPT_SAMPLE) {
            bool is_first = !has_sample;
            has_clock = is_clock(header.event);
            has_sample = true;
            if (is_first) {
                file->has_indent = line.text[0] == ' ';
                file->builder->has_no_times = !isfinite(header.time);
            }
            if (is_first || has_clock) {
                file->main_event = header.event;
                set_weight(file, &header);
            }
        }
        at += line.length + 1;
    }
    file->builder->has_no_times |= !has_sample;
}

static void warn_ignored(struct perf_script *file)
{
    char text[160];
    if (file->left_out)
        builder_warn(file->builder,
                     "The file has more events than prof supports; samples of the remaining events are omitted.");
    if (file->others == 1)
        snprintf(text, sizeof(text), "prof ignored line %zu, which is neither a sample nor a frame.",
                 file->first_other);
    else
        snprintf(text, sizeof(text), "prof ignored %zu lines that are neither samples nor frames, first line %zu.",
                 file->others, file->first_other);
    if (file->others)
        builder_warn(file->builder, text);
}

static int read_all(struct perf_script *file, const char *text, size_t size)
{
    int code = 0;
    size_t number = 1;
    for (size_t at = 0; !code && at < size; number++) {
        struct builder_text line = find_line(text, size, at);
        code = read_line(file, text, size, line, number);
        at += line.length + 1;
    }
    if (!code)
        code = end_sample(file);
    warn_ignored(file);
    return code;
}

int perf_script_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct perf_script file = {.builder = builder, .err = err};
    file.kernel = builder_add_category(builder, "Kernel", "orange");
    file.user = builder_add_category(builder, "User", "yellow");
    choose_event(&file, text, size);
    int code = read_all(&file, text, size);
    array_free(&file.frames);
    array_free(&file.inlined);
    return code;
}

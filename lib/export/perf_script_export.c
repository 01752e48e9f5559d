/*
 * The text output of `perf script`, which many scripts read: a line for each sample (thread, time, event count, event),
 * its stack from the leaf, and an empty line. CPU time is the event "cpu-clock" and off-CPU time "off-cpu", both in ns;
 * recorded events have their names. Samples of all threads are sorted by time.
 */
#include "export/exporters.h"

#include "base/search.h"
#include "base/sink_writer.h"
#include "tree/library_paths.h"

struct row {
    double time; /* ms */
    int64_t value;
    uint32_t stack, thread;
    uint32_t event;
    uint32_t place; /* number of the row, which orders equal times */
};

struct perf_script {
    const struct export_view *view;
    const struct profile *profile;
    const struct stack_view *stacks;
    struct sink_writer *out;
    struct weight_list weights;
    struct library_paths library_paths;
    ARRAY(struct row) rows;
    uint32_t thread, event; /* thread and event whose rows are collected */
    double scale, carry;
    bool failed;
};

static void add_row(void *context, uint32_t stack, double weight, double time)
{
    struct perf_script *script = context;
    int64_t value = weight == 0 ? 0 : export_round_with_carry(weight * script->scale, &script->carry);
    const struct row row = {time, value, stack, script->thread, script->event, (uint32_t)script->rows.length};
    if (value != 0 && !array_push(&script->rows, row))
        script->failed = true;
}

DEFINE_COMPARE(compare_rows, struct row, ORDER_THEN(a->time, b->time, ORDER(a->place, b->place)))

/* Returns whether to write samples of this weight. Weights can express the same data: only CPU time and off-CPU time,
 * or the recorded weight, are written. */
static bool is_event(const struct perf_script *script, size_t i)
{
    const struct weight *weight = &script->weights.data[i];
    bool has_cpu_times = profile_has_weight(script->profile, WEIGH_CPU_TIME) && !script->profile->meta.has_only_events;
    if (script->view->has_one_weight || weight->table != TABLE_SAMPLES)
        return weight->kind < WEIGH_ALLOCATED || weight->kind == WEIGH_ALLOCATED || script->view->has_one_weight;
    if (script->profile->meta.has_only_events)
        return false;
    return has_cpu_times ? weight->kind == WEIGH_CPU_TIME || weight->kind == WEIGH_OFF_CPU_TIME : i == 0;
}

/* Returns the name of an event with its unit, so that prof can import the file. */
static const char *get_event_name(const struct weight *weight)
{
    if (weight->table == TABLE_SAMPLES && weight->kind == WEIGH_RECORDED && strcmp(weight->unit, "samples") != 0)
        return strcmp(weight->unit, "ms") == 0 ? "recorded-ns" : "recorded-bytes";
    return weight->table == TABLE_SAMPLES && weight->kind == WEIGH_CPU_TIME ? "cpu-clock"
                                                                            : export_get_weight_name(weight);
}

static void write_word(struct perf_script *script, const char *text)
{
    for (size_t plain; *text; text += plain) {
        plain = strcspn(text, "\n\r\t");
        sink_put(script->out, text, plain);
        if (text[plain]) {
            sink_put(script->out, " ", 1);
            plain++;
        }
    }
}

/* Scripts that fold stacks omit functions whose name begins with a parenthesis: such names get brackets instead. */
static void write_function(struct perf_script *script, const char *name)
{
    char start[64];
    size_t inner = name[0] == '(' ? strcspn(name, ")") : 0;
    if (inner && name[inner] && inner + 1 < sizeof(start)) {
        snprintf(start, sizeof(start), "[%.*s]", (int)inner - 1, name + 1);
        write_word(script, start);
        name += inner + 1;
    }
    write_word(script, name);
}

/* Writes the number at the start of the text. Returns 0 without a number. */
static void write_id(struct perf_script *script, uint32_t string)
{
    const char *text = profile_text(script->profile, string);
    size_t digits = strspn(text, "0123456789");
    sink_put(script->out, digits ? text : "0", digits ? digits : 1);
}

static void write_hexadecimal(struct perf_script *script, uint64_t value)
{
    char text[16];
    size_t at = sizeof(text);
    do {
        text[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    sink_put(script->out, text + at, sizeof(text) - at);
}

static void write_frame(struct perf_script *script, uint32_t stack)
{
    const struct frame_table *frames = &script->profile->frames;
    uint32_t frame = script->stacks->frame[stack], func = script->stacks->func[stack];
    bool is_own = frames->func[frame] == func;
    struct func_names names = get_func_names(script->profile, func);
    library_paths_find(&script->library_paths, script->profile, &names);
    const char *name = profile_text(script->profile, names.name);
    uint32_t lib =
        names.lib_path != PROFILE_NONE && profile_text(script->profile, names.lib_path)[0] ? names.lib_path : names.lib;
    sink_put_z(script->out, "\t");
    write_hexadecimal(script, is_own && frames->address[frame] >= 0 ? (uint64_t)frames->address[frame] : 0);
    sink_put_z(script->out, " ");
    write_function(script, !*name || profile_is_address(name) ? "[unknown]" : name);
    sink_put_z(script->out, " (");
    if (is_own && frames->inline_depth[frame])
        sink_put_z(script->out, "inlined");
    else
        write_word(script, lib != PROFILE_NONE ? profile_text(script->profile, lib) : "[unknown]");
    sink_put_z(script->out, ")\n");
}

/* "app 42/43 [000] 12.345678901: 1000000 cpu-clock: " */
static void write_row(struct perf_script *script, const struct row *row)
{
    const struct thread *thread = &script->profile->threads.data[row->thread];
    double seconds = floor(row->time / 1000);
    char fraction[16];
    uint64_t nanoseconds = (uint64_t)((row->time - seconds * 1000) * 1e6);
    nanoseconds = nanoseconds > 999999999 ? 999999999 : nanoseconds;
    for (int i = 8; i >= 0; i--, nanoseconds /= 10)
        fraction[i] = (char)('0' + nanoseconds % 10);
    const char *name = profile_text(script->profile, thread->name);
    write_word(script, *name ? name : "?");
    sink_put_z(script->out, " ");
    write_id(script, thread->pid);
    sink_put_z(script->out, "/");
    write_id(script, thread->tid);
    sink_put_z(script->out, " [000] ");
    sink_put_unsigned(script->out, seconds > 0 ? (uint64_t)seconds : 0);
    sink_put_z(script->out, ".");
    sink_put(script->out, fraction, 9);
    sink_put_z(script->out, row->value < 0 ? ": -" : ": ");
    sink_put_unsigned(script->out, row->value < 0 ? 0 - (uint64_t)row->value : (uint64_t)row->value);
    sink_put_z(script->out, " ");
    write_word(script, get_event_name(&script->weights.data[row->event]));
    sink_put_z(script->out, ": \n");
    for (uint32_t stack = row->stack; stack != PROFILE_NONE; stack = script->stacks->prefix[stack])
        write_frame(script, stack);
    sink_put_z(script->out, "\n");
}

static int collect_rows(struct perf_script *script, struct error *err)
{
    for (uint32_t event = 0; event < script->weights.length; event++) {
        const struct weight *weight = &script->weights.data[event];
        if (!is_event(script, event))
            continue;
        script->event = event;
        script->scale = export_get_weight_scale(weight);
        script->carry = 0;
        for (size_t i = 0; i < script->view->thread_count; i++) {
            script->thread = script->view->threads[i];
            engine_weigh_thread(script->view->engine, script->thread, weight->kind, weight->table, add_row, script);
        }
    }
    if (script->failed)
        return error_no_memory(err);
    array_sort(&script->rows, compare_rows);
    return 0;
}

int export_perf_script(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct perf_script script = {
        .view = view, .profile = engine_get_profile(view->engine), .stacks = engine_get_stacks(view->engine)};
    script.out = malloc(sizeof(*script.out));
    int code = script.out ? export_list_weights(view, &script.weights, err) : error_no_memory(err);
    if (!code)
        code = collect_rows(&script, err);
    if (!code) {
        sink_writer_init(script.out, sink, err);
        for (size_t i = 0; i < script.rows.length && !script.out->code; i++)
            write_row(&script, &script.rows.data[i]);
        code = sink_writer_finish(script.out);
    }
    library_paths_destroy(&script.library_paths);
    array_free(&script.rows);
    array_free(&script.weights);
    free(script.out);
    return code;
}

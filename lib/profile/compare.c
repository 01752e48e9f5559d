#include "profile/compare.h"

#include "base/search.h"
#include "base/utf8.h"
#include "profile/merge.h"
#include "profile/match_funcs.h"
#include "profile/notes.h"

/* ---- selecting the compared part of a profile ---- */

struct times {
    double from, to; /* ms */
};

static void extend_range(struct times *times, const struct sample_table *samples, double interval)
{
    if (samples->length == 0)
        return;
    times->from = fmin(times->from, samples->time[0]);
    times->to = fmax(times->to, samples->time[samples->length - 1] + interval);
}

/* Returns the same range as engine_get_full_range(). */
static struct times get_full_times(const struct profile *profile)
{
    const struct profile_meta *meta = &profile->meta;
    struct times times = {INFINITY, -INFINITY};
    if (meta->profiling_start < meta->profiling_end)
        return (struct times){meta->profiling_start, meta->profiling_end};
    for (size_t i = 0; i < profile->threads.length; i++) {
        extend_range(&times, &profile->threads.data[i].samples, meta->interval);
        for (size_t k = 0; k < profile->threads.data[i].more.length; k++)
            extend_range(&times, &profile->threads.data[i].more.data[k], meta->interval);
    }
    return times.from < times.to ? times : (struct times){0, 1};
}

static void move_rows(struct sample_table *samples, size_t first, size_t last)
{
    size_t count = last - first;
    memmove(samples->stack, samples->stack + first, count * sizeof(*samples->stack));
    memmove(samples->time, samples->time + first, count * sizeof(*samples->time));
    double *const reals[] = {samples->weight, samples->cpu_delta, samples->address};
    for (size_t i = 0; i < sizeof(reals) / sizeof(*reals); i++)
        if (reals[i])
            memmove(reals[i], reals[i] + first, count * sizeof(*reals[i]));
    uint32_t *const indexes[] = {samples->waker, samples->waker_stack};
    for (size_t i = 0; i < sizeof(indexes) / sizeof(*indexes); i++)
        if (indexes[i])
            memmove(indexes[i], indexes[i] + first, count * sizeof(*indexes[i]));
    for (size_t i = 0; samples->partner && i < count; i++) {
        uint32_t partner = samples->partner[first + i];
        samples->partner[i] = partner >= first && partner < last ? partner - (uint32_t)first : PROFILE_NONE;
    }
    samples->length = count;
}

/* Returns whether a recorded wait ends at row `i` (tree/wait_rows.h), and starts at the row before. */
static bool is_wait(const struct sample_table *samples, size_t i)
{
    return i > 0 && i < samples->length && samples->weight_type == WEIGHT_TRACING_MS && samples->weight &&
           samples->cpu_delta && samples->stack[i] != PROFILE_NONE && samples->stack[i - 1] == samples->stack[i] &&
           samples->cpu_delta[i] == 0;
}

/* Truncates a wait at a limit of the range. Moves the first or last row of the wait to `time`, and shortens the wait by
 * this move. */
static void cut_wait(struct sample_table *samples, size_t row, size_t wait, double time)
{
    samples->weight[wait] -= fmin(samples->weight[wait], fabs(samples->time[row] - time));
    samples->time[row] = time;
}

/* Keeps only samples in a time range. Limits the CPU time of the first sample, and waits, to their time in the range.
 */
static void select_samples(struct sample_table *samples, struct times times)
{
    size_t first = 0, last = samples->length;
    while (first < last && samples->time[first] < times.from)
        first++;
    while (last > first && samples->time[last - 1] >= times.to)
        last--;
    if (last < samples->length && is_wait(samples, last)) {
        cut_wait(samples, last, last, times.to);
        last++;
    }
    if (first < last && is_wait(samples, first)) {
        cut_wait(samples, first - 1, first, times.from);
        samples->weight[--first] = 0; /* CPU time before the wait */
    }
    bool is_cut = first > 0;
    if (is_cut || last < samples->length)
        move_rows(samples, first, last);
    if (is_cut && samples->length && samples->cpu_delta)
        samples->cpu_delta[0] = fmin(samples->cpu_delta[0], 1000 * (samples->time[0] - times.from));
}

static void select_thread_samples(struct thread *thread, struct times times)
{
    select_samples(&thread->samples, times);
    for (size_t i = 0; i < thread->more.length; i++)
        select_samples(&thread->more.data[i], times);
    slice_table_free(&thread->slices); /* CPUs of two recordings cannot be compared */
    thread->start = fmax(thread->start, times.from);
    thread->end = fmin(thread->end, times.to);
}

/* Removes threads that are not compared, and the counters of their processes, which readers find by thread. */
static int remove_other_threads(struct profile *profile, const uint8_t *kept, struct error *err)
{
    size_t threads = 0, counters = 0;
    uint32_t *moved = malloc((profile->threads.length + 1) * sizeof(*moved));
    if (!moved)
        return error_no_memory(err);
    for (size_t i = 0; i < profile->threads.length; i++) {
        moved[i] = kept[i] ? (uint32_t)threads : PROFILE_NONE;
        if (kept[i])
            profile->threads.data[threads++] = profile->threads.data[i];
        else
            thread_destroy(&profile->threads.data[i]);
    }
    profile->threads.length = threads;
    for (size_t i = 0; i < profile->counters.length; i++) {
        struct counter *counter = &profile->counters.data[i];
        counter->main_thread = moved[counter->main_thread];
        if (counter->main_thread == PROFILE_NONE)
            counter_destroy(counter);
        else
            profile->counters.data[counters++] = *counter;
    }
    profile->counters.length = counters;
    free(moved);
    return threads ? 0 : error_set(err, EINVAL, "no thread remains to compare");
}

/* ---- runs ---- */

ARRAY_TYPE(struct run_starts, double);

DEFINE_COMPARE(compare_times, double, ORDER(*a, *b))

/* Removes runs outside of the compared times. */
static void remove_runs_outside(struct run_starts *starts, struct times times)
{
    size_t first = 0;
    while (starts->length && starts->data[starts->length - 1] >= times.to)
        starts->length--;
    while (first + 1 < starts->length && starts->data[first + 1] <= times.from)
        first++;
    if (first)
        memmove(starts->data, starts->data + first, (starts->length - first) * sizeof(*starts->data));
    starts->length -= first;
}

/* Finds the start times of the runs of --iterations by their markers; without markers the recording is one run. */
static bool find_runs(const struct profile *profile, struct times times, struct run_starts *starts)
{
    uint32_t name = strings_find(&profile->strings, "Run", strlen("Run"));
    bool enough = true;
    for (size_t i = 0; name != STRING_NONE && i < profile->threads.length; i++) {
        const struct marker_table *markers = &profile->threads.data[i].markers;
        for (size_t k = 0; enough && k < markers->length; k++) {
            const char *data = profile_text(profile, markers->data[k]);
            if (markers->name[k] == name && strstr(data, "\"type\":\"Run\""))
                enough = array_push(starts, markers->start[k]);
        }
    }
    array_sort(starts, compare_times);
    remove_runs_outside(starts, times);
    return enough;
}

/* A process belongs to the last run that started before the process. */
static uint32_t find_run(const struct run_starts *starts, const struct thread *thread)
{
    double start = isnan(thread->start) ? thread->process_start : thread->start;
    if (thread->samples.length && !(start <= thread->samples.time[0]))
        start = thread->samples.time[0];
    uint32_t run = 0;
    while (run + 1 < starts->length && starts->data[run + 1] <= start)
        run++;
    return run;
}

/* ---- times ---- */

static void shift_times(double *times, size_t length, double by)
{
    for (size_t i = 0; i < length; i++)
        times[i] -= by;
}

static void shift_thread_times(struct thread *thread, double by)
{
    shift_times(thread->samples.time, thread->samples.length, by);
    for (size_t i = 0; i < thread->more.length; i++)
        shift_times(thread->more.data[i].time, thread->more.data[i].length, by);
    shift_times(thread->markers.start, thread->markers.length, by);
    shift_times(thread->markers.end, thread->markers.length, by);
    for (size_t i = 0; i < thread->paused.length; i++) {
        thread->paused.data[i].start -= by;
        thread->paused.data[i].end -= by;
    }
    thread->start -= by;
    thread->end -= by;
    thread->process_start -= by;
    thread->process_end -= by;
}

/* Assigns the threads of a profile to a side, and starts all of its runs at time 0. `first_run` is the number of its
 * first run, and becomes the first run of the next profile. *length becomes the longest run, ms. */
static int assign_side(struct profile *profile, const struct compare_input *input, struct times times,
                       uint32_t *first_run, double *length, struct error *err)
{
    struct run_starts starts = {0};
    if (!find_runs(profile, times, &starts)) {
        array_free(&starts);
        return error_no_memory(err);
    }
    bool has_runs = starts.length > 1;
    *length = has_runs ? 0 : times.to - times.from;
    for (size_t i = 0; i < profile->threads.length; i++) {
        struct thread *thread = &profile->threads.data[i];
        uint32_t run = has_runs ? find_run(&starts, thread) : 0;
        double start = has_runs ? fmax(starts.data[run], times.from) : times.from;
        double end = !has_runs || run + 1 == starts.length ? times.to : starts.data[run + 1];
        thread->side = input->side;
        thread->run = *first_run + run;
        *length = fmax(*length, end - start);
        shift_thread_times(thread, start);
        for (size_t k = 0; k < profile->counters.length; k++)
            if (profile->counters.data[k].main_thread == i)
                shift_times(profile->counters.data[k].time, profile->counters.data[k].length, start);
    }
    *first_run += has_runs ? (uint32_t)starts.length : 1;
    array_free(&starts);
    return 0;
}

/* ---- metadata ---- */

/* Combines the sections of the base and of the new side, except for the notes. The texts of `sections` are strings of
 * `from`, which may be `out`. */
static bool copy_sections(struct profile *out, const struct profile *from, const struct extra_sections *sections,
                          enum profile_side side)
{
    static const char *const names[] = {[SIDE_BASE] = "Base", [SIDE_NEW] = "New"};
    bool enough = true;
    for (size_t i = 0; enough && i < sections->length; i++) {
        if (is_notes_section(from, &sections->data[i]))
            continue; /* a comparison shifts times */
        struct extra_section section = {0};
        const char *own = profile_text(from, sections->data[i].label);
        char label[256];
        snprintf(label, sizeof(label), "%s: %.*s", names[side], utf8_cut(own, 200), own);
        section.label = strings_add_z(&out->strings, label);
        enough = section.label != STRING_NONE;
        for (size_t k = 0; enough && k < sections->data[i].entries.length; k++) {
            const struct extra_entry *entry = &sections->data[i].entries.data[k];
            struct extra_entry copy = {strings_add_z(&out->strings, profile_text(from, entry->label)),
                                       strings_add_z(&out->strings, profile_text(from, entry->format)),
                                       strings_add_z(&out->strings, profile_text(from, entry->value))};
            enough = copy.label != STRING_NONE && copy.format != STRING_NONE && copy.value != STRING_NONE &&
                     array_push(&section.entries, copy);
        }
        if (enough)
            enough = array_push(&out->meta.extra, section);
        if (!enough)
            array_free(&section.entries);
    }
    return enough;
}

static bool have_same_text(const struct profile *a, uint32_t a_text, const struct profile *b, uint32_t b_text)
{
    return strcmp(profile_text(a, a_text), profile_text(b, b_text)) == 0;
}

/* Drops the CPU times of one side if the other side has none, because samples would otherwise have different meanings.
 */
static void drop_cpu_times(struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++) {
        free(profile->threads.data[i].samples.cpu_delta);
        profile->threads.data[i].samples.cpu_delta = NULL;
    }
    profile->meta.has_cpu_delta = false;
}

static enum weight_type get_recorded_type(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.weight)
            return profile->threads.data[i].samples.weight_type;
    return WEIGHT_SAMPLES;
}

/* Appends sentences to the warning, unless the warning contains them. */
static int add_warnings(struct profile *out, const char *sentences, struct error *err)
{
    const char *own = profile_text(out, out->meta.warning);
    char text[2048];
    if (strstr(own, sentences))
        return 0;
    snprintf(text, sizeof(text), "%s%s%s", own, own[0] ? " " : "", sentences);
    out->meta.warning = strings_add_z(&out->strings, text);
    return out->meta.warning == STRING_NONE ? error_no_memory(err) : 0;
}

static int merge_settings(struct profile *out, struct profile *from, struct error *err)
{
    static const char *const units[] = {
        [WEIGHT_SAMPLES] = "samples", [WEIGHT_TRACING_MS] = "ms", [WEIGHT_BYTES] = "bytes"};
    struct profile_meta *meta = &out->meta;
    enum weight_type own = get_recorded_type(out), other = get_recorded_type(from);
    bool has_times = meta->has_cpu_delta && from->meta.has_cpu_delta;
    if (own != other && !has_times)
        return error_set(err, EINVAL, "cannot compare: one side counts %s, the other side %s", units[own],
                         units[other]);
    if (!has_times) {
        drop_cpu_times(out);
        drop_cpu_times(from);
    }
    if (!have_same_text(out, meta->arguments, from, from->meta.arguments))
        meta->arguments = PROFILE_NONE;
    meta->has_only_events &= from->meta.has_only_events;
    meta->has_no_times |= from->meta.has_no_times;
    if (from->meta.symbolicated == 0)
        meta->symbolicated = 0;
    double ratio = meta->interval > 0 ? from->meta.interval / meta->interval : 1;
    int code = add_warnings(out, profile_text(from, from->meta.warning), err);
    static const char start[] = "One side was sampled every"; /* only one warning, for the first different interval */
    if (code || !(ratio < 0.99 || ratio > 1.01) || strstr(profile_text(out, meta->warning), start))
        return code;
    char text[200];
    snprintf(text, sizeof(text),
             "%s %.3g ms, the other side every %.3g ms: a sample stands for different times on the two sides.", start,
             meta->interval, from->meta.interval);
    return add_warnings(out, text, err);
}

/* ---- all ---- */

/* Reduces an input to the compared part, and assigns its side. */
static int prepare_input(struct compare_input *input, unsigned forgiven, uint32_t *first_run, double *length,
                         struct error *err)
{
    struct profile *profile = input->profile;
    struct times full = get_full_times(profile);
    struct times times = {fmax(full.from, full.from + input->from), fmin(full.to, full.from + input->to)};
    if (!(times.from < times.to))
        return error_set(err, EINVAL, "%s has no samples in the compared range; the profile lasts %.3f s", input->name,
                         (full.to - full.from) / 1000);
    int code = input->kept ? remove_other_threads(profile, input->kept, err) : 0;
    bool is_cut = input->from > 0 || full.from + input->to < full.to;
    for (size_t i = 0; !code && is_cut && i < profile->threads.length; i++)
        select_thread_samples(&profile->threads.data[i], times);
    if (!code && forgiven)
        code = forgive_func_names(profile, forgiven, err);
    if (!code)
        code = assign_side(profile, input, times, first_run, length, err);
    profile->meta.initial_visible_threads.length = profile->meta.initial_selected_threads.length = 0;
    return code;
}

static int append_input(struct profile *out, struct compare_input *input, bool is_first_of_side, struct error *err)
{
    int code = merge_settings(out, input->profile, err);
    if (!code && is_first_of_side && !copy_sections(out, input->profile, &input->profile->meta.extra, input->side))
        code = error_no_memory(err);
    return code ? code : profile_merge(out, input->profile, err);
}

/* The first input becomes the profile to which the other inputs are appended. */
static int begin_comparison(struct profile *out, struct compare_input *input, struct error *err)
{
    *out = *input->profile;
    profile_init(input->profile);
    struct extra_sections sections = out->meta.extra;
    out->meta.extra = (struct extra_sections){0};
    bool enough = copy_sections(out, out, &sections, input->side);
    for (size_t i = 0; i < sections.length; i++)
        array_free(&sections.data[i].entries);
    array_free(&sections);
    return enough ? 0 : error_no_memory(err);
}

/* Extends the start and the end of a side's recordings, ms since the epoch. */
static void extend_recorded_time(struct times *recorded, const struct profile *profile)
{
    struct times full = get_full_times(profile);
    bool is_known = profile->meta.start_time > 0;
    recorded->from = fmin(recorded->from, is_known ? profile->meta.start_time + full.from : -INFINITY);
    recorded->to = fmax(recorded->to, is_known ? profile->meta.start_time + full.to : INFINITY);
}

static int set_side_names(struct profile *out, const char *const names[PROFILE_SIDES],
                          const uint32_t runs[PROFILE_SIDES], double length, struct error *err)
{
    struct profile_meta *meta = &out->meta;
    meta->profiling_start = 0;
    meta->profiling_end = length;
    meta->comparison = (struct profile_comparison){.scale = 1, .scaled_by = PROFILE_NONE};
    for (int side = 0; side < PROFILE_SIDES; side++) {
        meta->comparison.name[side] = strings_add_z(&out->strings, names[side] ? names[side] : "");
        meta->comparison.runs[side] = runs[side];
        if (meta->comparison.name[side] == STRING_NONE)
            return error_no_memory(err);
    }
    return 0;
}

int profile_compare(struct profile *out, struct compare_input *inputs, size_t count, unsigned forgiven,
                    struct error *err)
{
    const char *names[PROFILE_SIDES] = {NULL, NULL};
    struct times recorded[PROFILE_SIDES] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    uint32_t runs[PROFILE_SIDES] = {0, 0};
    double length = 0;
    int code = 0;
    profile_init(out);
    for (size_t i = 0; !code && i < count; i++) {
        struct compare_input *input = &inputs[i];
        bool is_first_of_side = !names[input->side];
        double own_length = 0;
        extend_recorded_time(&recorded[input->side], input->profile);
        code = prepare_input(input, forgiven, &runs[input->side], &own_length, err);
        if (!code)
            code = i == 0 ? begin_comparison(out, input, err) : append_input(out, input, is_first_of_side, err);
        names[input->side] = is_first_of_side ? input->name : names[input->side];
        length = fmax(length, own_length);
        profile_destroy(input->profile);
    }
    if (!code)
        code = set_side_names(out, names, runs, length, err);
    out->meta.comparison.is_one_after_other =
        recorded[SIDE_BASE].to <= recorded[SIDE_NEW].from || recorded[SIDE_NEW].to <= recorded[SIDE_BASE].from;
    if (!code)
        code = profile_check(out, err);
    for (size_t i = 0; code && i < count; i++)
        profile_destroy(inputs[i].profile);
    if (code)
        profile_destroy(out);
    return code;
}

/*
 * The Firefox Profiler's activity graph uses the same algorithm. Let t[i] be the time of sample i, t[-1] one interval
 * before the first and t[n] one after the last. Sample i covers ((t[i-1] + t[i]) / 2, (t[i] + t[i+1]) / 2). CPU time is
 * known per gap between samples, so the half before t[i] counts with the share of gap i and the half after t[i] with
 * the share of gap i + 1. Covered parts of pixels add up exactly; then each pixel is blurred with boxes of radius 3, 2
 * and 2. The blur approximates a bell curve and hides the beat between samples and pixels.
 */
#include "tree/activity.h"

enum { MICROSECONDS_PER_MS = 1000 };

/* Returns the CPU share of the gap before sample `i` in whole percents. The share is 0 after the last
 * sample, and 100 in a gap with unknown CPU time, except before the first sample, where it is 0. The gap before the
 * first sample is one `interval` (ms) long. `i` is at most samples->length. */
static double get_gap_cpu_percent(const struct sample_table *samples, size_t i, double interval)
{
    if (!samples->cpu_delta)
        return 100;
    if (i >= samples->length)
        return 0;
    double elapsed = i > 0 ? samples->time[i] - samples->time[i - 1] : interval, delta = samples->cpu_delta[i];
    if (i == 0 && (isnan(delta) || elapsed <= 0))
        return 0;
    if (isnan(delta) || elapsed <= 0)
        return 100;
    double percent = floor(100 * delta / (MICROSECONDS_PER_MS * elapsed) + 0.5);
    return percent < 0 ? 0 : percent > 100 ? 100 : percent;
}

static double get_time_before(const struct sample_table *samples, size_t i, double interval)
{
    return i > 0 ? samples->time[i - 1] : samples->time[0] - interval;
}

static double get_time_after(const struct sample_table *samples, size_t i, double interval)
{
    return i + 1 < samples->length ? samples->time[i + 1] : samples->time[i] + interval;
}

struct canvas {
    float *rows; /* shares: one row of `width` pixels per category */
    uint32_t width;
    double from, pixels_per_ms;
};

static double convert_to_pixel(const struct canvas *canvas, double time)
{
    double x = (time - canvas->from) * canvas->pixels_per_ms;
    return !(x > 0) ? 0 : x > canvas->width ? canvas->width : x;
}

/* Adds a CPU share to the pixels from `left` to `right`. */
static inline void add_span(const struct canvas *canvas, float *row, double left, double right, double share)
{
    if (!(left < right) || share == 0)
        return;
    uint32_t first = (uint32_t)left, last = (uint32_t)right;
    if (first == last) {
        row[first] += (float)(share * (right - left));
        return;
    }
    row[first] += (float)(share * (first + 1 - left));
    for (uint32_t x = first + 1; x < last; x++)
        row[x] += (float)share;
    if (last < canvas->width)
        row[last] += (float)(share * (right - last));
}

static bool match_all(const struct activity_request *request, const struct call_nodes *nodes)
{
    bool is_transformed = nodes->of_sample != nodes->of_stack;
    return !request->matching[0] && !request->matching[1] && !is_transformed && !request->is_filtered;
}

static bool is_matching(const struct activity_request *request, const struct call_nodes *nodes, uint32_t stack)
{
    if (match_all(request, nodes))
        return true;
    uint32_t node = stack == PROFILE_NONE ? NODE_NONE : nodes->of_sample[stack];
    if (node == NODE_NONE)
        return false;
    return (!request->matching[0] || request->matching[0][node]) &&
           (!request->matching[1] || request->matching[1][node]);
}

/* In the strip, each sample is half as wide as the interval, but at least one and at most WIDEST_MARK pixels. */
struct strip {
    uint8_t *pixels;
    uint32_t mark; /* pixels */
};

static struct strip init_strip(uint8_t *pixels, const struct canvas *canvas, double interval)
{
    enum { WIDEST_MARK = 8 };
    double mark = interval * canvas->pixels_per_ms / 2;
    return (struct strip){pixels, mark >= WIDEST_MARK ? WIDEST_MARK : mark >= 2 ? (uint32_t)mark : 1};
}

static void add_mark(const struct strip *strip, const struct canvas *canvas, double time, enum strip_pixel pixel)
{
    double x = (time - canvas->from) * canvas->pixels_per_ms;
    if (!(x >= 0) || x >= canvas->width)
        return;
    uint32_t first = (uint32_t)x;
    for (uint32_t i = first; i < first + strip->mark && i < canvas->width; i++)
        if (strip->pixels[i] < pixel)
            strip->pixels[i] = (uint8_t)pixel;
}

static enum strip_pixel choose_sample_pixel(const struct sample_table *samples, size_t i)
{
    bool is_idle = samples->stack[i] == PROFILE_NONE || (samples->cpu_delta && samples->cpu_delta[i] == 0);
    return is_idle ? STRIP_IDLE : STRIP_SAMPLE;
}

/* Draws a sample from pixel `left` to `right`, with `time` at `middle`. Most of the millions of samples lie in one
 * pixel, so that case comes first. */
static inline void draw_sample(const struct canvas *canvas, const struct strip *strip, float *row,
                               const double edges[3], const double shares[2], double time, enum strip_pixel pixel)
{
    double left = edges[0], middle = edges[1], right = edges[2];
    uint32_t x = (uint32_t)left;
    if (left > 0 && right < canvas->width && (uint32_t)right == x && strip->mark == 1) {
        row[x] += (float)(shares[0] * (middle - left));
        row[x] += (float)(shares[1] * (right - middle));
        if (strip->pixels[x] < pixel)
            strip->pixels[x] = (uint8_t)pixel;
        return;
    }
    add_span(canvas, row, left, middle, shares[0]);
    add_span(canvas, row, middle, right, shares[1]);
    add_mark(strip, canvas, time, pixel);
}

/* Each sample ends where the next sample starts. The second half of a sample and the first half of the next sample have
 * the same share. Samples that do not match cost only the reading of their node. */
static void draw_samples(const struct canvas *canvas, const struct strip *strip, const struct stack_view *stacks,
                         const struct call_nodes *nodes, const struct activity_request *request,
                         const struct sample_table *samples)
{
    size_t first, last;
    find_samples_in_range(samples, (struct time_range){request->from, request->to}, &first, &last);
    first -= first > 0; /* the samples next to the range cover a part of the range */
    last += last < samples->length;
    if (first == last)
        return;
    bool draws_all = match_all(request, nodes), has_left = false;
    double left = 0, share = 0;
    for (size_t i = first; i < last; i++) {
        uint32_t stack = samples->stack[i];
        if (!draws_all && !is_matching(request, nodes, stack)) {
            has_left = false;
            continue;
        }
        if (!has_left) {
            left = convert_to_pixel(canvas, (get_time_before(samples, i, request->interval) + samples->time[i]) / 2);
            share = get_gap_cpu_percent(samples, i, request->interval) / 100;
        }
        has_left = true;
        uint32_t category = stack == PROFILE_NONE ? stacks->default_category : stacks->category[stack];
        double time = samples->time[i];
        double middle = convert_to_pixel(canvas, time);
        double right = convert_to_pixel(canvas, (time + get_time_after(samples, i, request->interval)) / 2);
        double next_share = get_gap_cpu_percent(samples, i + 1, request->interval) / 100;
        draw_sample(canvas, strip, canvas->rows + (size_t)category * canvas->width,
                    (const double[]){left, middle, right}, (const double[]){share, next_share}, time,
                    choose_sample_pixel(samples, i));
        left = right;
        share = next_share;
    }
}

static void add_half(const struct canvas *canvas, const struct stack_view *stacks, const struct call_nodes *nodes,
                     const struct activity_request *request, uint32_t stack, struct time_range time, double share)
{
    uint32_t category = stack == PROFILE_NONE ? stacks->default_category : stacks->category[stack];
    if (share > 0 && is_matching(request, nodes, stack))
        add_span(canvas, canvas->rows + (size_t)category * canvas->width, convert_to_pixel(canvas, time.from),
                 convert_to_pixel(canvas, time.to), share);
}

static void add_wait_mark(const struct strip *strip, const struct canvas *canvas, double from, double to)
{
    double left = convert_to_pixel(canvas, from), right = convert_to_pixel(canvas, to);
    for (uint32_t x = (uint32_t)left; x < right && x < canvas->width; x++)
        if (strip->pixels[x] < STRIP_IDLE)
            strip->pixels[x] = STRIP_IDLE;
}

/* Draws the gap before sample `i`, from pixel `left` to `right`, for a thread that ran at both ends of the gap. Most of
 * the millions of gaps lie in one pixel. */
static inline void draw_running_gap(const struct canvas *canvas, const struct strip *strip,
                                    const struct stack_view *stacks, const struct sample_table *samples, size_t i,
                                    double left, double right)
{
    double start = samples->time[i - 1], end = samples->time[i], share = get_gap_cpu_percent(samples, i, 0) / 100;
    uint32_t category = stacks->category[samples->stack[i]], before = stacks->category[samples->stack[i - 1]];
    float *row = canvas->rows + (size_t)category * canvas->width;
    if (category == before) {
        add_span(canvas, row, left, right, share);
    } else {
        double middle = convert_to_pixel(canvas, (start + end) / 2);
        add_span(canvas, canvas->rows + (size_t)before * canvas->width, left, middle, share);
        add_span(canvas, row, middle, right, share);
    }
    if (strip->mark > 1 || !(right < canvas->width) || strip->pixels[(uint32_t)right] < STRIP_SAMPLE)
        add_mark(strip, canvas, end, STRIP_SAMPLE);
}

/* Draws a thread with recorded waits gap by gap: the first half shows the category at its start, the second half the
 * category at its end. A wait adds no height; in the strip, it lasts from its first row to its second. */
static void draw_gaps(const struct canvas *canvas, const struct strip *strip, const struct stack_view *stacks,
                      const struct call_nodes *nodes, const struct activity_request *request,
                      const struct sample_table *samples, const struct wait_rows *waits)
{
    size_t first, last;
    find_samples_in_range(samples, (struct time_range){request->from, request->to}, &first, &last);
    last += last < samples->length; /* the gap before the sample covers a part of the range */
    bool draws_all = match_all(request, nodes), has_run = false;
    double left = 0, right = 0;
    for (size_t i = first; i < last; i++, left = right) {
        bool had_run = has_run;
        has_run = samples->stack[i] != PROFILE_NONE && !is_wait_row(waits, i);
        right = convert_to_pixel(canvas, samples->time[i]);
        if (draws_all && had_run && has_run) {
            draw_running_gap(canvas, strip, stacks, samples, i, left, right);
            continue;
        }
        double start = get_time_before(samples, i, request->interval), end = samples->time[i];
        uint32_t stack = samples->stack[i];
        if (is_wait_end(waits, i)) {
            if (is_matching(request, nodes, stack))
                add_wait_mark(strip, canvas, start, end);
            continue;
        }
        double share = get_gap_cpu_percent(samples, i, request->interval) / 100, middle = (start + end) / 2;
        uint32_t ran = find_running_stack(waits, samples, i);
        bool is_wait = !is_cpu_row(waits, i);
        add_half(canvas, stacks, nodes, request, ran, (struct time_range){start, middle}, share);
        add_half(canvas, stacks, nodes, request, is_wait ? ran : stack, (struct time_range){middle, end}, share);
        if (!is_wait && is_matching(request, nodes, stack))
            add_mark(strip, canvas, end, stack == PROFILE_NONE ? STRIP_IDLE : STRIP_SAMPLE);
    }
}

/* out[x] = mean of row[x - radius .. x + radius], with 0 beyond the ends. */
static void blur_values(const float *row, float *out, uint32_t width, uint32_t radius)
{
    double sum = 0;
    for (uint32_t x = 0; x < width && x < radius; x++)
        sum += row[x];
    for (uint32_t x = 0; x < width; x++) {
        if (x + radius < width)
            sum += row[x + radius];
        out[x] = sum > 0 ? (float)(sum / (2 * radius + 1)) : 0;
        if (x >= radius)
            sum -= row[x - radius];
    }
}

static bool is_empty(const float *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        if (row[x] != 0)
            return false;
    return true;
}

/* Blurs the rows of categories with activity, and moves these rows together. */
static void finish_rows(struct activity *activity, uint32_t category_count, float *scratch)
{
    uint32_t width = activity->width;
    for (uint32_t category = 0; category < category_count; category++) {
        float *row = activity->shares + (size_t)category * width;
        if (is_empty(row, width))
            continue;
        float *out = activity->shares + (size_t)activity->row_count * width;
        blur_values(row, scratch, width, 3);
        blur_values(scratch, row, width, 2);
        blur_values(row, scratch, width, 2);
        memcpy(out, scratch, width * sizeof(*out));
        activity->categories[activity->row_count++] = category;
    }
}

int activity_compute(struct activity *activity, const struct stack_view *stacks, const struct call_nodes *nodes,
                     const struct activity_request *request, struct error *err)
{
    *activity = (struct activity){.width = request->width};
    size_t cells = (size_t)stacks->category_count * request->width;
    activity->shares = calloc(cells + 1, sizeof(*activity->shares));
    activity->strip = calloc((size_t)request->width + 1, sizeof(*activity->strip));
    activity->categories = calloc(stacks->category_count, sizeof(*activity->categories));
    float *scratch = malloc(((size_t)request->width + 1) * sizeof(*scratch));
    bool enough = activity->shares && activity->strip && activity->categories && scratch;
    if (enough && request->to > request->from && request->width > 0) {
        struct canvas canvas = {activity->shares, request->width, request->from,
                                request->width / (request->to - request->from)};
        struct strip strip = init_strip(activity->strip, &canvas, request->interval);
        for (size_t i = 0; i < request->thread_count; i++)
            if (has_wait_rows(&request->waits[i]))
                draw_gaps(&canvas, &strip, stacks, nodes, request, request->samples[i], &request->waits[i]);
            else
                draw_samples(&canvas, &strip, stacks, nodes, request, request->samples[i]);
        finish_rows(activity, stacks->category_count, scratch);
    }
    free(scratch);
    if (!enough)
        activity_destroy(activity);
    return enough ? 0 : error_no_memory(err);
}

void activity_destroy(struct activity *activity)
{
    free(activity->shares);
    free(activity->strip);
    free(activity->categories);
    *activity = (struct activity){0};
}

size_t find_sample_at(const struct sample_table *samples, double interval, double time, double *cpu_percent)
{
    size_t next, end;
    find_samples_in_range(samples, (struct time_range){time, INFINITY}, &next, &end);
    size_t i = next; /* the first sample at or after `time`; the sample before may be nearer */
    if (next > 0 && (next == samples->length || time < (samples->time[next - 1] + samples->time[next]) / 2))
        i = next - 1;
    if (i >= samples->length || time < (get_time_before(samples, i, interval) + samples->time[i]) / 2 ||
        time >= (samples->time[i] + get_time_after(samples, i, interval)) / 2)
        return SIZE_MAX;
    if (cpu_percent)
        *cpu_percent = samples->cpu_delta
                           ? get_gap_cpu_percent(
                                 samples, time < samples->time[i] || i + 1 == samples->length ? i : i + 1, interval)
                           : NAN;
    return i;
}

/* In a file without times, a row is as long as its weight: see assign_thread_times() in import/profile_builder.c. */
static double get_row_length(const struct sample_table *samples, size_t row)
{
    return samples->weight && samples->weight_type != WEIGHT_BYTES ? fabs(samples->weight[row]) : 1;
}

double count_thread_activity(const struct sample_table *samples, struct time_range range,
                             const struct stack_view *stacks, uint32_t idle, const struct profile_meta *meta)
{
    size_t first, last;
    find_samples_in_range(samples, range, &first, &last);
    double sum = 0;
    for (size_t i = first; i < last; i++) {
        uint32_t stack = samples->stack[i];
        if (stack != PROFILE_NONE && stacks->category[stack] != idle)
            sum += meta->has_no_times ? get_row_length(samples, i) : meta->interval;
    }
    return sum;
}

#include "tree/timeline_counters.h"

#include "base/json.h"
#include "base/search.h"

/* ---- display ---- */

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static void copy_text(char *out, size_t size, const char *text, size_t length)
{
    size_t copied = length < size ? length : size - 1;
    while (copied < length && copied > 0 && continues_character(text[copied]))
        copied--; /* truncate between characters, not inside one */
    memcpy(out, text, copied);
    out[copied] = '\0';
}

static void copy_text_z(char *out, size_t size, const char *text)
{
    copy_text(out, size, text, strlen(text));
}

/* The defaults of the profile format for files without `display`. */
static void set_defaults(struct counter_display *display, const char *category, const char *name)
{
    static const struct {
        const char *category;
        struct counter_display display;
    } known[] = {{"Memory", {.sort_weight = 20, .unit = "bytes", .color = "purple"}},
                 {"Bandwidth", {.is_rate = true, .sort_weight = 10, .unit = "bytes", .color = "blue"}},
                 {"power", {.is_rate = true, .sort_weight = 30, .unit = "pWh", .color = "grey"}},
                 {"CPU", {.is_rate = true, .sort_weight = 40, .unit = "percent", .color = "grey"}}};
    *display = (struct counter_display){.is_rate = true, .sort_weight = 50, .color = "grey"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(category, known[i].category) == 0)
            *display = known[i].display;
    copy_text_z(display->label, sizeof(display->label), name);
}

static void read_member(struct counter_display *display, char count_unit[32], struct json *json)
{
    bool is_zero = json_is(json, "startsAtZero"), is_hidden = json_is(json, "isHiddenAtFirst");
    bool is_system = json_is(json, "isOfSystem"), is_count_unit = json_is(json, "countUnit");
    bool is_graph = json_is(json, "graphType"), is_unit = json_is(json, "unit"), is_color = json_is(json, "color");
    bool is_label = json_is(json, "label"), is_weight = json_is(json, "sortWeight");
    enum json_type type = json_next(json);
    if (is_zero && type == JSON_TRUE)
        display->starts_at_zero = true;
    else if (is_hidden && type == JSON_TRUE)
        display->is_hidden_at_first = true;
    else if (is_system && type == JSON_TRUE)
        display->is_of_system = true;
    else if (type == JSON_STRING && is_count_unit)
        copy_text(count_unit, 32, json->text, json->length);
    else if (type == JSON_STRING && is_graph)
        display->is_rate = json_is(json, "line-rate");
    else if (type == JSON_STRING && is_unit)
        copy_text(display->unit, sizeof(display->unit), json->text, json->length);
    else if (type == JSON_STRING && is_color)
        copy_text(display->color, sizeof(display->color), json->text, json->length);
    else if (type == JSON_STRING && is_label && json->length)
        copy_text(display->label, sizeof(display->label), json->text, json->length);
    else if (type == JSON_NUMBER && is_weight)
        display->sort_weight = json->number;
    else
        json_skip(json, type);
}

static void read_display(struct counter_display *display, const struct profile *profile, const struct counter *counter)
{
    if (counter->json == PROFILE_NONE)
        return;
    const struct string_entry *entry = &profile->strings.entries.data[counter->json];
    char count_unit[32] = "";
    struct json json;
    json_init_whole(&json, entry->text, entry->length);
    if (json_next(&json) == JSON_OBJECT_OPEN)
        while (json_next(&json) == JSON_KEY)
            read_member(display, count_unit, &json);
    json_destroy(&json);
    if (strcmp(count_unit, "cpu-ms") == 0)
        copy_text_z(display->unit, sizeof(display->unit), count_unit);
}

void read_counter_display(struct counter_display *display, const struct profile *profile, const struct counter *counter)
{
    const char *category = strings_text(&profile->strings, counter->category);
    set_defaults(display, category, strings_text(&profile->strings, counter->name));
    read_display(display, profile, counter);
    /* A counter in percent counts CPU time. */
    if (profile->meta.has_cpu_delta && strcmp(category, "CPU") == 0 && strcmp(display->unit, "percent") == 0)
        copy_text_z(display->unit, sizeof(display->unit), "cpu-us");
}

/* ---- values ---- */

static double get_counter_change(const struct counter *counter, size_t i)
{
    return i > 0 ? counter->count[i] : 0;
}

static double get_counter_rate(const struct counter *counter, size_t i)
{
    if (i == 0)
        return NAN;
    double elapsed = counter->time[i] - counter->time[i - 1];
    return elapsed > 0 ? counter->count[i] / elapsed : 0;
}

/* Finds the first sample after `time`; with `or_at`, at or after `time`. */
static size_t find_first_after(const struct counter *counter, double time, bool or_at)
{
    return search_count(counter->time, counter->length, *element < time || (!or_at && *element == time));
}

void draw_counter_graph(const struct counter *counter, bool is_rate, double from, double to, float *values,
                        uint32_t width)
{
    struct pixel_values pixels = {.values = values, .width = width};
    bool is_empty = !(to > from);
    pixel_values_start(&pixels, from, is_empty ? from + 1 : to);
    double sum = 0;
    for (size_t i = 0; !is_empty && i < counter->length; i++) {
        sum += get_counter_change(counter, i);
        double start = is_rate && i > 0 ? counter->time[i - 1] : counter->time[i];
        double end = is_rate ? counter->time[i] : i + 1 < counter->length ? counter->time[i + 1] : counter->time[i];
        if (start > to)
            break;
        if (end >= from && !(is_rate && i == 0))
            pixel_values_raise(&pixels, start, end, is_rate ? get_counter_rate(counter, i) : sum, 0);
    }
}

bool find_counter_value(struct counter_value *value, const struct counter *counter, bool is_rate, double time)
{
    size_t i = find_first_after(counter, time, is_rate);
    if (!is_rate)
        i = i ? i - 1 : counter->length;
    if (i >= counter->length || (is_rate && i == 0))
        return false;
    *value = (struct counter_value){counter->time[i], get_counter_change(counter, i), get_counter_rate(counter, i), 0};
    for (size_t k = 0; k <= i; k++)
        value->accumulated += get_counter_change(counter, k);
    return true;
}

void sum_counter(struct counter_totals *totals, const struct counter *counter, bool starts_at_zero, double from,
                 double to)
{
    *totals = (struct counter_totals){.least = NAN, .most = NAN, .mean = NAN, .low = NAN, .high = NAN};
    double sum = 0, area = 0;
    for (size_t i = 0; i < counter->length && counter->time[i] <= to; i++) {
        sum += get_counter_change(counter, i);
        bool is_inside = counter->time[i] > from;
        bool reaches_in = is_inside || i + 1 == counter->length || counter->time[i + 1] > from;
        if (is_inside)
            totals->total += get_counter_change(counter, i);
        if (is_inside && i > 0 && counter->time[i] > counter->time[i - 1]) {
            totals->least = fmin(totals->least, get_counter_rate(counter, i));
            totals->most = fmax(totals->most, get_counter_rate(counter, i));
        }
        if (reaches_in && !(starts_at_zero && i == 0)) {
            totals->low = fmin(totals->low, sum);
            totals->high = fmax(totals->high, sum);
        }
        if (i + 1 < counter->length) {
            double lasts = fmax(0, fmin(to, counter->time[i + 1]) - fmax(from, counter->time[i]));
            totals->covered += lasts;
            area += lasts * sum;
        }
    }
    totals->mean = totals->covered > 0 ? area / totals->covered : totals->high;
}

/* ---- pixels of a graph ---- */

void pixel_values_start(struct pixel_values *pixels, double from, double to)
{
    pixels->from = from;
    pixels->per_ms = pixels->width / (to - from);
    for (uint32_t x = 0; x < pixels->width; x++) {
        pixels->values[x] = NAN;
        if (pixels->whose)
            pixels->whose[x] = UINT32_MAX;
    }
}

void pixel_values_raise(const struct pixel_values *pixels, double start, double end, double value, uint32_t whose)
{
    double left = floor((start - pixels->from) * pixels->per_ms), right = (end - pixels->from) * pixels->per_ms;
    if (right < 0 || (right == 0 && end > start) || left >= pixels->width)
        return;
    uint32_t first = left > 0 ? (uint32_t)left : 0;
    uint32_t last = right >= pixels->width ? pixels->width : (uint32_t)ceil(right);
    last = last > first ? last : first + 1;
    for (uint32_t x = first; x < last && x < pixels->width; x++)
        if (isnan(pixels->values[x]) || pixels->values[x] < value) {
            pixels->values[x] = (float)value;
            if (pixels->whose)
                pixels->whose[x] = whose;
        }
}

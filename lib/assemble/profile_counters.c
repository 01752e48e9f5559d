#include "assemble/profile_counters.h"

#include "base/json_string.h"
#include "profile/tooltip_row.h"
#include "spool/info.h"

#define MS 1e6 /* ns */

/* ---- styles of counters ---- */

enum unit { UNIT_BYTES, UNIT_COUNT, UNIT_CPU_TIME, UNIT_ENERGY };

/* The name, unit, scale and display of a counter in a profile. */
struct counter_style {
    const char *name, *label, *description, *category, *color;
    double scale; /* factor from the unit of the readings */
    enum unit unit;
    unsigned sort_weight; /* the page shows counters with smaller weights first */
    bool is_level, is_hidden, is_of_system;
};

static const struct counter_style process_styles[COUNTER_KINDS] = {
    [COUNTER_CPU_TIME] = {"processCPU", "CPU",
                          "CPU time of all threads of the process, by the kernel's clock; 100% is one CPU", "CPU time",
                          .unit = UNIT_CPU_TIME, .scale = 1 / MS, .is_hidden = true, .color = "green",
                          .sort_weight = 10},
    [COUNTER_MEMORY] = {"memory", "Memory", "Resident memory of the process (RSS)", "Memory", .unit = UNIT_BYTES,
                        .scale = 1, .is_level = true, .color = "orange", .sort_weight = 20},
    [COUNTER_SWAP] = {"swap", "Swap", "Memory of the process in swap space", "Memory", .unit = UNIT_BYTES, .scale = 1,
                      .is_level = true, .is_hidden = true, .color = "purple", .sort_weight = 22},
    [COUNTER_MINOR_FAULTS] = {"minorFaults", "Page faults",
                              "Page faults without disk access, such as the first access to memory", "Faults",
                              .unit = UNIT_COUNT, .scale = 1, .is_hidden = true, .color = "yellow", .sort_weight = 30},
    [COUNTER_MAJOR_FAULTS] = {"majorFaults", "Major page faults", "Page faults that waited for a disk", "Faults",
                              .unit = UNIT_COUNT, .scale = 1, .is_hidden = true, .color = "red", .sort_weight = 31},
    [COUNTER_READ] = {"readBytes", "Read", "Bytes read by system calls: from files, pipes, devices", "Bandwidth",
                      .unit = UNIT_BYTES, .scale = 1, .is_hidden = true, .color = "blue", .sort_weight = 40},
    [COUNTER_WRITTEN] = {"writtenBytes", "Written", "Bytes written by system calls: to files, pipes, devices",
                         "Bandwidth", .unit = UNIT_BYTES, .scale = 1, .is_hidden = true, .color = "blue",
                         .sort_weight = 41},
    [COUNTER_DISK_READ] = {"diskReadBytes", "Read from storage", "Bytes read from storage", "Bandwidth",
                           .unit = UNIT_BYTES, .scale = 1, .is_hidden = true, .color = "teal", .sort_weight = 42},
    [COUNTER_DISK_WRITTEN] = {"diskWrittenBytes", "Written to storage", "Bytes written to storage", "Bandwidth",
                              .unit = UNIT_BYTES, .scale = 1, .is_hidden = true, .color = "teal", .sort_weight = 43},
    [COUNTER_WAITS] = {"voluntarySwitches", "Voluntary switches", "Context switches at which a thread began to wait",
                       "Context switches", .unit = UNIT_COUNT, .scale = 1, .is_hidden = true, .color = "magenta",
                       .sort_weight = 50},
    [COUNTER_PREEMPTIONS] = {"involuntarySwitches", "Involuntary switches",
                             "Context switches away from a runnable thread", "Context switches", .unit = UNIT_COUNT,
                             .scale = 1, .is_hidden = true, .color = "magenta", .sort_weight = 51},
    [COUNTER_THREADS] = {"threads", "Threads", "Threads of the process", "Threads", .unit = UNIT_COUNT, .scale = 1,
                         .is_level = true, .is_hidden = true, .color = "grey", .sort_weight = 60},
};

static const struct counter_style cpu_style = {.category = "System CPU",
                                               .description = "Busy time of this CPU, for all processes of the machine",
                                               .unit = UNIT_CPU_TIME,
                                               .scale = 1 / MS,
                                               .is_hidden = true,
                                               .is_of_system = true,
                                               .color = "grey",
                                               .sort_weight = 81};

static const struct counter_style cpus_style = {
    .name = "systemCPU",
    .label = "All CPUs",
    .category = "System CPU",
    .description = "Busy time of all CPUs by all processes of the machine; 100% is one CPU",
    .unit = UNIT_CPU_TIME,
    .scale = 1 / MS,
    .is_hidden = true,
    .is_of_system = true,
    .color = "grey",
    .sort_weight = 80};

/* 1 µJ = 1e6 pJ, and a watt hour has 3600 J. */
static const struct counter_style energy_style = {
    .category = "power",
    .description = "Energy that this part of the machine used, by its own counter (RAPL)",
    .unit = UNIT_ENERGY,
    .scale = 1e6 / 3600,
    .is_hidden = true,
    .is_of_system = true,
    .color = "grey",
    .sort_weight = 70};

/* ---- display ---- */

/* Returns the tooltip rows of a counter; profiler-cli shows the rows of whole ranges. */
static const struct tooltip_row *choose_tooltip_rows(const struct counter_style *style)
{
    static const struct tooltip_row level_bytes[] = {{"accumulated", "bytes", "now", NULL, false},
                                                     {"count", "bytes", "since the previous sample", NULL, false},
                                                     {"count-range", "bytes", "range in view", NULL, false},
                                                     {0}};
    static const struct tooltip_row level[] = {
        {"accumulated", "number", "now", NULL, false}, {"count-range", "number", "range in view", NULL, false}, {0}};
    static const struct tooltip_row bytes[] = {{"rate", "bytes-per-second", "at this time", NULL, false},
                                               {"count", "bytes", "since the previous sample", NULL, false},
                                               {"selection-total", "bytes", "in the selection", NULL, true},
                                               {"committed-range-total", "bytes", "in view", NULL, false},
                                               {0}};
    static const struct tooltip_row count[] = {{"count", "number", "since the previous sample", NULL, false},
                                               {"selection-total", "number", "in the selection", NULL, true},
                                               {"committed-range-total", "number", "in view", NULL, false},
                                               {0}};
    static const struct tooltip_row cpu_time[] = {{"rate", "percent", "of one CPU", NULL, false},
                                                  {"selection-total", "number", "ms in the selection", NULL, true},
                                                  {"committed-range-total", "number", "ms in view", NULL, false},
                                                  {0}};
    static const struct tooltip_row energy[] = {
        {"rate", "number", "power", "power", false},
        {"selection-total", "number", "in the selection", "energy", true},
        {"selection-rate", "number", "on average in the selection", "power", true},
        {"committed-range-total", "number", "in view", "energy", false},
        {0}};
    switch (style->unit) {
    case UNIT_BYTES:
        return style->is_level ? level_bytes : bytes;
    case UNIT_CPU_TIME:
        return cpu_time;
    case UNIT_ENERGY:
        return energy;
    default:
        return style->is_level ? level : count;
    }
}

static void write_display(struct json_writer *json, const void *context)
{
    const struct counter_style *style = context;
    static const char *const units[] = {
        [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "", [UNIT_CPU_TIME] = "percent", [UNIT_ENERGY] = "pWh"};
    json_open(json, '{');
    json_member_text(json, "graphType", style->is_level ? "line-accumulated" : "line-rate");
    json_member_text(json, "unit", units[style->unit]);
    json_member_text(json, "color", style->color);
    json_member_text(json, "markerSchemaLocation", NULL);
    json_member_unsigned(json, "sortWeight", style->sort_weight);
    json_member_text(json, "label", style->label);
    json_member_open(json, "tooltipRows", '[');
    for (const struct tooltip_row *row = choose_tooltip_rows(style); row->source; row++) {
        tooltip_row_open(json, row);
        json_member_text(json, "label", row->label);
        if (row->needs_preview)
            json_member_bool(json, "requiresPreviewSelection", true);
        json_close(json, '}');
    }
    json_close(json, ']');
    if (style->unit == UNIT_CPU_TIME)
        json_member_text(json, "countUnit", "cpu-ms");
    json_member_bool(json, "startsAtZero", style->is_level);
    json_member_bool(json, "isHiddenAtFirst", style->is_hidden);
    json_member_bool(json, "isOfSystem", style->is_of_system);
    json_close(json, '}');
}

/* ---- samples ---- */

ARRAY_TYPE(struct real_array, double);

struct filling {
    struct profile *profile;
    const struct profile_counters_source *source;
    /* readings for the counters, which belong to `thread` and last until `end` (ns) */
    const struct replay_series *series;
    uint32_t thread;
    uint64_t end;
    struct real_array times, counts; /* of the current counter */
    double given;                    /* sum of the changes written so far */
    double sum;                      /* exact sum of the changes so far */
};

/* Rounds to a thousandth, so that sums of changes stay exact and the file small. */
static double round_value(double value)
{
    return round(value * 1000) / 1000;
}

static double convert_to_ms(const struct filling *filling, uint64_t time)
{
    uint64_t start = filling->source->start_ns;
    return time > start ? round_value((double)(time - start) / MS) : 0;
}

/* Appends a sample, not before the last sample. Merges changes at the same time. */
static bool add_sample(struct filling *filling, double time, double change)
{
    filling->sum += change;
    double count = round_value(filling->sum - filling->given);
    size_t last = filling->times.length - 1;
    filling->given = round_value(filling->given + count);
    if (filling->times.length > 1 && time <= filling->times.data[last]) {
        filling->counts.data[last] = round_value(filling->counts.data[last] + count);
        return true;
    }
    if (filling->times.length && time <= filling->times.data[last])
        time = filling->times.data[last] + 0.001;
    return array_push(&filling->times, time) && array_push(&filling->counts, count);
}

/* Returns the sum of some columns of a reading. */
static uint64_t sum_columns(const struct replay_series *series, size_t reading, size_t column, size_t columns)
{
    uint64_t sum = 0;
    for (size_t i = column; i < column + columns; i++) {
        uint64_t value = replay_series_get_value(series, reading, i);
        if (value == COUNTER_UNKNOWN)
            return COUNTER_UNKNOWN;
        sum += value;
    }
    return sum;
}

/* Drops the last sample if the sample and its neighbors have no change. */
static void drop_redundant_sample(struct filling *filling)
{
    size_t count = filling->times.length;
    if (count < 3 || filling->counts.data[count - 1] != 0 || filling->counts.data[count - 2] != 0)
        return;
    filling->times.data[count - 2] = filling->times.data[count - 1];
    filling->times.length = filling->counts.length = count - 1;
}

/* Adds the samples of a level, such as memory: first 0, then each value at its time. */
static bool add_level(struct filling *filling, const struct replay_series *series, size_t i, uint64_t value,
                      uint64_t *previous)
{
    double time = convert_to_ms(filling, series->readings.data[i].time);
    bool ok = true;
    if (!filling->times.length)
        ok = add_sample(filling, time, 0);
    if (ok && value != *previous)
        ok = add_sample(filling, time, (double)value - (double)*previous);
    *previous = value;
    return ok;
}

/* Adds the change since the previous reading, or since the end of the time without a change. */
static bool add_change(struct filling *filling, const struct replay_series *series, size_t i, uint64_t value,
                       uint64_t *previous, double scale)
{
    const struct replay_reading *reading = &series->readings.data[i];
    bool is_first = !filling->times.length, ok = true;
    double change = is_first || reading->is_base || value < *previous ? 0 : (double)(value - *previous) * scale;
    if (!is_first && reading->since)
        ok = add_sample(filling, convert_to_ms(filling, reading->since), 0);
    drop_redundant_sample(filling);
    ok = ok && add_sample(filling, convert_to_ms(filling, reading->time), change);
    drop_redundant_sample(filling);
    *previous = value;
    return ok;
}

/* Adds the end of a counter. A sleeping process keeps its value up to its end; the last values of a running process are
 * unknown. */
static bool add_end(struct filling *filling, bool is_level)
{
    static const double moment = 100; /* ms */
    double time = convert_to_ms(filling, filling->end);
    size_t count = filling->times.length;
    if (!count || time <= filling->times.data[count - 1])
        return true;
    return (!is_level && time - filling->times.data[count - 1] < moment) || add_sample(filling, time, 0);
}

static double *move_column(struct real_array *column)
{
    double *data = column->data;
    *column = (struct real_array){0};
    return data;
}

/* Returns whether a sample of the counter is not 0. */
static bool has_changes(const struct filling *filling)
{
    for (size_t i = 1; i < filling->counts.length; i++)
        if (filling->counts.data[i] != 0)
            return true;
    return false;
}

static int add_counter(struct filling *filling, const struct counter_style *style, struct error *err)
{
    struct profile *profile = filling->profile;
    struct counter counter = {.name = strings_add_z(&profile->strings, style->name),
                              .category = strings_add_z(&profile->strings, style->category),
                              .description = strings_add_z(&profile->strings, style->description),
                              .pid = profile->threads.data[filling->thread].pid,
                              .main_thread = filling->thread,
                              .json = json_add_string(&profile->strings, write_display, style),
                              .length = filling->times.length};
    if (counter.name == STRING_NONE || counter.category == STRING_NONE || counter.description == STRING_NONE ||
        counter.json == STRING_NONE || !array_push(&profile->counters, counter))
        return error_no_memory(err);
    struct counter *added = &profile->counters.data[profile->counters.length - 1];
    added->time = move_column(&filling->times);
    added->count = move_column(&filling->counts);
    return 0;
}

/* Makes a counter from `columns` columns of the series, starting at `column`. */
static int fill_counter(struct filling *filling, const struct counter_style *style, size_t column, size_t columns,
                        struct error *err)
{
    const struct replay_series *series = filling->series;
    uint64_t previous = 0;
    bool ok = true;
    filling->times.length = filling->counts.length = 0;
    filling->given = filling->sum = 0;
    for (size_t i = 0; i < series->readings.length && ok; i++) {
        uint64_t value = sum_columns(series, i, column, columns);
        if (value == COUNTER_UNKNOWN)
            continue;
        ok = style->is_level ? add_level(filling, series, i, value, &previous)
                             : add_change(filling, series, i, value, &previous, style->scale);
    }
    ok = ok && add_end(filling, style->is_level);
    if (!ok)
        return error_no_memory(err);
    return has_changes(filling) ? add_counter(filling, style, err) : 0;
}

/* ---- all ---- */

static const enum counter_kind order[COUNTER_KINDS] = {COUNTER_CPU_TIME,     COUNTER_MEMORY,       COUNTER_SWAP,
                                                       COUNTER_MINOR_FAULTS, COUNTER_MAJOR_FAULTS, COUNTER_READ,
                                                       COUNTER_WRITTEN,      COUNTER_DISK_READ,    COUNTER_DISK_WRITTEN,
                                                       COUNTER_WAITS,        COUNTER_PREEMPTIONS,  COUNTER_THREADS};

static int fill_process(struct filling *filling, uint32_t process, uint32_t thread, struct error *err)
{
    const struct replay *replay = filling->source->replay;
    uint64_t end = replay->processes.data[process].end;
    int code = 0;
    filling->series = replay_counters_find(&replay->counters, process);
    filling->thread = thread;
    filling->end = end ? end : filling->source->end_ns;
    for (size_t i = 0; filling->series && i < COUNTER_KINDS && !code; i++)
        code = fill_counter(filling, &process_styles[order[i]], order[i], 1, err);
    return code;
}

static int fill_cpus(struct filling *filling, struct error *err)
{
    const struct replay_series *series = replay_counters_find(&filling->source->replay->counters, COUNTERS_OF_CPUS);
    if (!series)
        return 0;
    filling->series = series;
    int code = fill_counter(filling, &cpus_style, 0, series->width, err);
    for (size_t cpu = 0; cpu < series->width && !code; cpu++) {
        char name[32], label[32];
        snprintf(name, sizeof(name), "cpu%zu", cpu);
        snprintf(label, sizeof(label), "CPU %zu", cpu);
        struct counter_style style = cpu_style;
        style.name = name;
        style.label = label;
        code = fill_counter(filling, &style, cpu, 1, err);
    }
    return code;
}

static int fill_power(struct filling *filling, struct error *err)
{
    const struct replay *replay = filling->source->replay;
    const struct replay_series *series = replay_counters_find(&replay->counters, COUNTERS_OF_POWER);
    const char *names = replay_get_info(replay, INFO_POWER);
    int code = 0;
    filling->series = series;
    for (size_t i = 0; series && names && i < series->width && !code; i++) {
        char name[64], label[80];
        int length = (int)strcspn(names, ",");
        snprintf(name, sizeof(name), "%.*s", length, names);
        snprintf(label, sizeof(label), "Power: %s", name);
        struct counter_style style = energy_style;
        style.name = name;
        style.label = label;
        code = fill_counter(filling, &style, i, 1, err);
        names += length;
        names += *names == ',';
    }
    return code;
}

int profile_counters_fill(struct profile *profile, const struct profile_counters_source *source, struct error *err)
{
    struct filling filling = {.profile = profile, .source = source};
    const struct replay *replay = source->replay;
    int code = 0;
    for (size_t i = 0; i < source->count && !code; i++) {
        uint32_t process = replay->threads.data[source->order[i]].process;
        bool is_first = i == 0 || replay->threads.data[source->order[i - 1]].process != process;
        code = is_first ? fill_process(&filling, process, (uint32_t)i, err) : 0;
    }
    filling.thread = 0; /* of the whole system */
    filling.end = 0;
    if (!code)
        code = fill_cpus(&filling, err);
    if (!code)
        code = fill_power(&filling, err);
    array_free(&filling.times);
    array_free(&filling.counts);
    return code;
}

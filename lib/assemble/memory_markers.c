/*
 * A run of growth is a sequence of readings, usually 50 ms apart, each with at least 1 MiB more resident memory than
 * the previous reading. Programs normally grow more slowly.
 */
#include "assemble/memory_markers.h"

enum kind { KIND_GROWTH, KIND_FAULTS, KINDS };

struct run {
    uint64_t start, end; /* ns */
    uint64_t sum;        /* bytes, faults */
    uint64_t last;       /* value at its end */
};

struct filling {
    struct marker_rows *rows;
    const struct shown_threads *shown;
    const struct replay_process *process;
    uint32_t category;
    size_t counts[KINDS];
};

static const struct {
    const char *type, *name, *key;
    enum counter_kind counter;
    uint64_t least_step, least_sum;
} kinds[KINDS] = {
    [KIND_GROWTH] = {"MemoryGrowth", "Memory growth", "growth", COUNTER_MEMORY, UINT64_C(1) << 20,
                     MEMORY_MARKERS_GROWTH},
    [KIND_FAULTS] = {"MajorFaults", "Major page faults", "faults", COUNTER_MAJOR_FAULTS, 1, MEMORY_MARKERS_FAULTS},
};

static void finish_run(struct filling *filling, enum kind kind, struct run *run)
{
    struct run done = *run;
    struct marker_rows *rows = filling->rows;
    *run = (struct run){0};
    if (done.sum < kinds[kind].least_sum || filling->counts[kind]++ >= MEMORY_MARKERS_MAX)
        return;
    struct json_writer *json = marker_rows_start_payload(rows, kinds[kind].type);
    if (!json)
        return;
    json_member_unsigned(json, kinds[kind].key, done.sum);
    if (kind == KIND_GROWTH)
        json_member_unsigned(json, "resident", done.last);
    marker_rows_add(rows, get_shown_thread(filling->shown, filling->process->main_thread),
                    strings_add_z(&rows->profile->strings, kinds[kind].name), filling->category, PHASE_INTERVAL,
                    done.start, done.end);
}

static void find_runs(struct filling *filling, enum kind kind, const struct replay_series *series)
{
    struct run run = {0};
    uint64_t before = kind == KIND_GROWTH ? 0 : COUNTER_UNKNOWN, time = 0;
    for (size_t i = 0; i < series->readings.length && !filling->rows->failed; i++) {
        const struct replay_reading *reading = &series->readings.data[i];
        uint64_t value = replay_series_get_value(series, i, kinds[kind].counter);
        bool counts = value != COUNTER_UNKNOWN && before != COUNTER_UNKNOWN && !reading->is_base && time;
        uint64_t step = counts && value > before ? value - before : 0;
        if (step < kinds[kind].least_step || (run.sum && reading->since))
            finish_run(filling, kind, &run);
        if (step >= kinds[kind].least_step) {
            run.start = run.sum ? run.start : reading->since ? reading->since : time;
            run.sum += step;
            run.end = reading->time;
            run.last = value;
        }
        if (value != COUNTER_UNKNOWN)
            before = value;
        time = reading->time;
    }
    finish_run(filling, kind, &run);
}

size_t memory_markers_add(struct marker_rows *rows, const struct shown_threads *shown)
{
    const struct replay *replay = shown->replay;
    struct filling filling = {
        .rows = rows, .shown = shown, .category = marker_rows_add_category(rows, "Memory", "orange")};
    for (uint32_t i = 0; i < replay->processes.length && !rows->failed; i++) {
        const struct replay_series *series = replay_counters_find(&replay->counters, i);
        filling.process = &replay->processes.data[i];
        for (int kind = 0; series && filling.process->known && series->width == COUNTER_KINDS && kind < KINDS; kind++)
            find_runs(&filling, (enum kind)kind, series);
    }
    size_t left_out = 0;
    for (int kind = 0; kind < KINDS; kind++)
        left_out += filling.counts[kind] > MEMORY_MARKERS_MAX ? filling.counts[kind] - MEMORY_MARKERS_MAX : 0;
    return left_out;
}

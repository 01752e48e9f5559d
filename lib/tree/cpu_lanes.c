#include "tree/cpu_lanes.h"

#include "base/hash.h"
#include "base/search.h"
#include "tree/engine_state.h"

/* The slices of one CPU, from `first` to before `last`. */
struct cpu_part {
    const struct slices_by_cpu *slices;
    size_t first, last;
};

static int find_cpu(struct engine *engine, uint32_t cpu, struct cpu_part *part, struct error *err)
{
    struct slices_by_cpu *slices = &engine->base->slices;
    int code = slices_by_cpu_make(slices, &engine->base->profile, err);
    if (!code)
        *part = (struct cpu_part){slices, slices_by_cpu_find_first(slices, cpu),
                                  cpu < UINT32_MAX ? slices_by_cpu_find_first(slices, cpu + 1) : slices->length};
    return code;
}

DEFINE_COMPARE(compare_numbers, uint32_t, ORDER(*a, *b))

int list_profile_cpus(const struct profile *profile, struct cpu_numbers *cpus, struct error *err)
{
    struct hash seen = {0};
    bool enough = true;
    cpus->length = 0;
    for (size_t i = 0; i < profile->threads.length && !profile_is_comparison(profile); i++) {
        const struct slice_table *table = &profile->threads.data[i].slices;
        for (size_t row = 0; enough && row < table->length && cpus->length < MOST_CPUS; row++)
            if (hash_get(&seen, table->cpu[row]) == HASH_MISSING)
                enough = hash_set(&seen, table->cpu[row], 1) && array_push(cpus, table->cpu[row]);
    }
    hash_destroy(&seen);
    if (!enough)
        return error_no_memory(err);
    array_sort(cpus, compare_numbers);
    return 0;
}

/* ---- lanes ---- */

static bool add_row(struct state_lanes *lanes, uint32_t lane, uint32_t state, uint32_t width)
{
    if (!array_push(&lanes->rows, (struct state_row){lane, state}) || !array_reserve(&lanes->shares, width))
        return false;
    for (uint32_t x = 0; x < width; x++)
        lanes->shares.data[lanes->shares.length++] = state == STATE_THERE ? 1 : 0;
    return true;
}

static void add_slice(float *shares, const struct cpu_slice *slice, struct time_range range, uint32_t width)
{
    double pixel = (range.to - range.from) / width;
    double from = fmax(slice->start, range.from), to = fmin(slice->end, range.to);
    for (uint32_t x = (uint32_t)((from - range.from) / pixel); x < width && from < to; x++) {
        double end = x + 1 < width ? fmin(to, range.from + (x + 1) * pixel) : to;
        if (end > from)
            shares[x] += (float)((end - from) * slice->rate / pixel);
        from = fmax(from, end);
    }
}

struct cpu_lane_maker {
    struct state_lanes *lanes;
    struct time_range range;
    uint32_t width;
    size_t thread_count;
    struct order_entry *threads; /* time (ms) of each thread on the CPU */
    uint32_t *row_of_thread;
};

static int add_lane(struct cpu_lane_maker *maker, uint32_t lane, const struct cpu_part *part, struct error *err)
{
    struct state_lanes *lanes = maker->lanes;
    struct order_entry *threads = maker->threads;
    const struct cpu_slice *items = part->slices->items;
    const struct time_range range = maker->range;
    size_t first = slices_by_cpu_find_reaching(part->slices, part->first, part->last, range.from), last = first;
    for (uint32_t i = 0; i < maker->thread_count; i++)
        threads[i] = (struct order_entry){.index = i};
    for (; last < part->last && items[last].start < range.to; last++)
        threads[items[last].thread].magnitude +=
            fmax(0, fmin(items[last].end, range.to) - fmax(items[last].start, range.from)) * items[last].rate;
    int code = order_sort_heaviest_first(threads, maker->thread_count, err);
    bool enough = add_row(lanes, lane, STATE_THERE, maker->width);
    for (size_t i = 0; i < maker->thread_count && threads[i].magnitude > 0 && enough; i++) {
        if (i <= LANE_THREADS)
            enough = add_row(lanes, lane, i < LANE_THREADS ? threads[i].index : LANE_OTHERS, maker->width);
        maker->row_of_thread[threads[i].index] = (uint32_t)lanes->rows.length - 1;
    }
    for (size_t i = first; i < last && enough && !code; i++)
        if (items[i].end > range.from && items[i].rate > 0)
            add_slice(lanes->shares.data + (size_t)maker->row_of_thread[items[i].thread] * maker->width, &items[i],
                      range, maker->width);
    return code || enough ? code : error_no_memory(err);
}

int engine_compute_cpu_lanes(struct engine *engine, const uint32_t *cpus, size_t count, struct time_range range,
                             uint32_t width, struct state_lanes *lanes, struct error *err)
{
    size_t thread_count = engine->base->profile.threads.length;
    lanes->rows.length = lanes->shares.length = 0;
    if (!(range.to > range.from) || width == 0)
        return 0;
    struct cpu_lane_maker maker = {.lanes = lanes, .range = range, .width = width, .thread_count = thread_count};
    maker.threads = calloc(thread_count + 1, sizeof(*maker.threads));
    maker.row_of_thread = calloc(thread_count + 1, sizeof(*maker.row_of_thread));
    int code = maker.threads && maker.row_of_thread ? 0 : error_no_memory(err);
    for (size_t lane = 0; !code && lane < count; lane++) {
        struct cpu_part part;
        code = find_cpu(engine, cpus[lane], &part, err);
        if (!code)
            code = add_lane(&maker, (uint32_t)lane, &part, err);
    }
    free(maker.threads);
    free(maker.row_of_thread);
    return code;
}

/* ---- single slices ---- */

static void fill_place(const struct profile *profile, const struct cpu_slice *slice, struct cpu_place *place)
{
    const struct slice_table *table = &profile->threads.data[slice->thread].slices;
    place->start = slice->start;
    place->end = slice->end;
    place->off_cpu = table->off_cpu[slice->row];
    place->thread = slice->thread;
    if (slice->row > 0) {
        place->previous_cpu = table->cpu[slice->row - 1];
        place->previous_end = table->end[slice->row - 1];
    }
}

int engine_find_cpu_slice(struct engine *engine, uint32_t cpu, double time, struct cpu_place *place, struct error *err)
{
    struct cpu_part part;
    *place = (struct cpu_place){-INFINITY, INFINITY, 0, NAN, PROFILE_NONE, PROFILE_NONE};
    int code = find_cpu(engine, cpu, &part, err);
    if (code)
        return code;
    const struct cpu_slice *items = part.slices->items, *found = NULL;
    size_t i = slices_by_cpu_find_reaching(part.slices, part.first, part.last, time);
    if (i > part.first)
        place->start = items[i - 1].reach;
    for (; i < part.last && items[i].start <= time; i++)
        if (items[i].end > time && (!found || items[i].rate > found->rate))
            found = &items[i];
    if (found)
        fill_place(&engine->base->profile, found, place);
    else if (i < part.last)
        place->end = items[i].start;
    return 0;
}

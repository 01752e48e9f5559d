#include "tree/interval_stats.h"

#include "base/hash.h"
#include "tree/order.h"
#include "tree/wait_rows.h"

struct filling {
    struct interval_list *list;
    const struct profile *profile;
    struct hash row_of_name;
    struct thread_gaps *gaps; /* of each thread */
    uint8_t *has_gaps;
};

static const struct thread_gaps *get_gaps(struct filling *filling, uint32_t thread)
{
    if (!filling->has_gaps[thread])
        filling->gaps[thread] = find_sample_gaps(filling->profile, thread);
    filling->has_gaps[thread] = 1;
    return &filling->gaps[thread];
}

/* Splits an interval by the states of its thread. */
static void add_states(struct filling *filling, const struct marker *marker, size_t row)
{
    struct interval_list *list = filling->list;
    struct interval_stats *stats = &list->names.data[row];
    const struct thread_gaps *gaps = get_gaps(filling, marker->thread);
    const struct sample_table *samples = gaps->samples;
    struct time_range range = {marker->start, marker->end};
    double running = 0, waited = 0;
    size_t first, after;
    find_samples_in_range(samples, range, &first, &after);
    for (size_t i = first; samples->cpu_delta && i <= after && i <= samples->length; i++) {
        running += measure_gap_in(gaps, i, range).cpu;
        if (!is_wait_end(&gaps->waits, i))
            continue;
        double own = measure_wait_in(gaps, i, range).own;
        uint32_t reason = get_wait_row_reason(&gaps->waits, i);
        if (reason < list->reasons)
            list->waits.data[row * list->reasons + reason] += own;
        waited += own;
    }
    running = fmin(running, fmax(0, marker->end - marker->start - waited)); /* clocks differ */
    stats->running += running;
    stats->rest += fmax(0, marker->end - marker->start - running - waited);
}

static size_t find_row(struct filling *filling, uint32_t name)
{
    struct interval_list *list = filling->list;
    uint32_t *at = hash_at(&filling->row_of_name, name);
    if (!at)
        return SIZE_MAX;
    if (*at != HASH_MISSING)
        return *at;
    *at = (uint32_t)list->names.length;
    const struct interval_stats empty = {.name = name};
    if (!array_push(&list->names, empty) || !array_reserve(&list->waits, list->reasons + 1))
        return SIZE_MAX;
    for (size_t i = 0; i < list->reasons; i++)
        list->waits.data[list->waits.length++] = 0;
    return *at;
}

static size_t find_bucket(double ms)
{
    double octave = floor(log(ms) / log(2)) - INTERVAL_FIRST_OCTAVE;
    return (size_t)fmin(fmax(octave, 0), INTERVAL_BUCKETS - 1);
}

static bool is_interval(const struct marker *marker)
{
    return marker->end > marker->start;
}

static bool add_interval(struct filling *filling, const struct marker *marker)
{
    size_t row = find_row(filling, marker->name);
    if (row == SIZE_MAX)
        return false;
    struct interval_stats *stats = &filling->list->names.data[row];
    double length = marker->end - marker->start;
    stats->count++;
    stats->total += length;
    stats->histogram[find_bucket(length)]++;
    if (length > stats->longest) {
        stats->longest = length;
        stats->from = marker->start;
        stats->thread = marker->thread;
    }
    add_states(filling, marker, row);
    return true;
}

/* Lists the intervals, the longest first, as indexes of `markers`. */
static int sort_by_length(struct order_entries *entries, const struct marker_list *markers, const uint32_t *shown,
                          size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct marker *marker = &markers->data[shown[i]];
        const struct order_entry entry = {marker->end - marker->start, shown[i]};
        if (is_interval(marker) && !array_push(entries, entry))
            return error_no_memory(err);
    }
    return entries->length ? order_sort_heaviest_first(entries->data, entries->length, err) : 0;
}

/* Stores the length that a `share` of the intervals does not exceed. */
static void store_percentile(double *percentile, const struct interval_stats *stats, double share, size_t longer,
                             double length)
{
    size_t rank = (size_t)ceil(share * stats->count);
    if (stats->count - longer == (rank ? rank : 1))
        *percentile = length;
}

static int store_percentiles(struct filling *filling, const struct order_entries *entries,
                             const struct marker_list *markers, struct error *err)
{
    struct interval_list *list = filling->list;
    uint32_t *longer = calloc(list->names.length + 1, sizeof(*longer));
    for (size_t i = 0; longer && i < entries->length; i++) {
        uint32_t row = hash_get(&filling->row_of_name, markers->data[entries->data[i].index].name);
        struct interval_stats *stats = &list->names.data[row];
        store_percentile(&stats->p50, stats, 0.5, longer[row], entries->data[i].magnitude);
        store_percentile(&stats->p90, stats, 0.9, longer[row], entries->data[i].magnitude);
        store_percentile(&stats->p99, stats, 0.99, longer[row], entries->data[i].magnitude);
        longer[row]++;
    }
    bool enough = longer != NULL;
    free(longer);
    return enough ? 0 : error_no_memory(err);
}

/* Sorts the names by total, longest first. */
static int sort_names(struct interval_list *list, struct error *err)
{
    size_t length = list->names.length;
    struct order_entry *order = malloc((length + 1) * sizeof(*order));
    if (!order)
        return error_no_memory(err);
    for (uint32_t i = 0; i < length; i++)
        order[i] = (struct order_entry){list->names.data[i].total, i};
    int code = order_sort_heaviest_first(order, length, err);
    if (!code)
        code = order_apply_to_rows(list->names.data, sizeof(*list->names.data), order, length, err);
    if (!code)
        code = order_apply_to_rows(list->waits.data, list->reasons * sizeof(*list->waits.data), order, length, err);
    free(order);
    return code;
}

int interval_list_fill(struct interval_list *list, const struct profile *profile, const struct marker_list *markers,
                       const uint32_t *shown, size_t count, struct error *err)
{
    uint32_t idle = find_idle_category(profile);
    struct order_entries entries = {0};
    struct filling filling = {.list = list,
                              .profile = profile,
                              .gaps = calloc(profile->threads.length + 1, sizeof(*filling.gaps)),
                              .has_gaps = calloc(profile->threads.length + 1, sizeof(*filling.has_gaps))};
    list->names.length = list->waits.length = 0;
    list->reasons = idle == PROFILE_NONE ? 0 : profile->categories.data[idle].subcategories.length;
    bool enough = filling.gaps && filling.has_gaps;
    for (size_t i = 0; enough && i < count; i++) {
        const struct marker *marker = &markers->data[shown[i]];
        enough = !is_interval(marker) || add_interval(&filling, marker);
    }
    int code = enough ? sort_by_length(&entries, markers, shown, count, err) : error_no_memory(err);
    if (!code)
        code = store_percentiles(&filling, &entries, markers, err);
    if (!code)
        code = sort_names(list, err);
    hash_destroy(&filling.row_of_name);
    array_free(&entries);
    free(filling.gaps);
    free(filling.has_gaps);
    return code;
}

double find_slowest_interval_limit(const struct marker_list *markers, const uint32_t *shown, size_t count, double share)
{
    struct order_entries entries = {0};
    struct error err;
    double limit = INFINITY;
    int code = sort_by_length(&entries, markers, shown, count, &err);
    if (!code && entries.length) {
        size_t kept = (size_t)ceil(share * (double)entries.length - 1e-9);
        limit = kept ? entries.data[(kept < entries.length ? kept : entries.length) - 1].magnitude : INFINITY;
    }
    array_free(&entries);
    return code ? NAN : limit;
}

void interval_list_destroy(struct interval_list *list)
{
    array_free(&list->names);
    array_free(&list->waits);
}

#include "tree/sample_filter.h"

#include "base/search.h"
#include "tree/interval_stats.h"
#include "tree/marker_view.h"

/* ---- the times of markers ---- */

/* Adds a time range; ranges arrive sorted by start. */
static bool add_time(struct interval_times *times, struct time_range time)
{
    struct time_range *last = times->ranges.length ? &times->ranges.data[times->ranges.length - 1] : NULL;
    if (!last || time.from > last->to)
        return array_push(&times->ranges, time);
    if (time.to > last->to)
        last->to = time.to;
    return true;
}

/* Whether the transform drops samples of a thread. */
static bool filters_thread(const struct transform *transform, const struct profile *profile, size_t thread)
{
    enum profile_side side = profile->threads.data[thread].side;
    return transform->sides == FILTER_BASE  ? side == SIDE_BASE
           : transform->sides == FILTER_NEW ? side == SIDE_NEW
                                            : true;
}

/* Returns the list of times that decides about the samples of a thread: the list of the thread for the slowest markers,
 * otherwise the list of the thread's side. */
static struct interval_times *times_of_thread(struct interval_times *times, const struct profile *profile,
                                              const struct transform *transform, size_t thread)
{
    return &times[transform->slowest > 0 ? thread : (size_t)profile->threads.data[thread].side];
}

/* Whether the transform selects an interval. `least`: length of the slowest intervals. */
static bool selects_interval(const struct transform *transform, const struct profile *profile,
                             const struct marker *marker, double least)
{
    if (!(marker->end > marker->start) || !filters_thread(transform, profile, marker->thread))
        return false;
    bool wants_others = transform->sides == FILTER_SPLIT && profile_is_comparison(profile) &&
                        profile->threads.data[marker->thread].side == SIDE_BASE;
    return !(transform->slowest > 0) || (marker->end - marker->start >= least) != wants_others;
}

/* Returns the length from which intervals are among the slowest, of the sides that the transform filters. NAN if memory
 * ran out. */
static double find_limit(const struct profile *profile, const struct marker_list *list, const uint32_t *shown,
                         size_t count, const struct transform *transform)
{
    ARRAY(uint32_t) own = {0};
    bool enough = true;
    for (size_t i = 0; enough && i < count; i++)
        if (filters_thread(transform, profile, list->data[shown[i]].thread))
            enough = array_push(&own, shown[i]);
    double limit = enough ? find_slowest_interval_limit(list, own.data, own.length, transform->slowest) : NAN;
    array_free(&own);
    return limit;
}

/* Adds the times of the markers that the transform selects to the lists of times_of_thread(). */
static int find_times(struct sample_filter *filter, struct interval_times *times, const struct profile *profile,
                      struct marker_view *markers, const struct transform *transform, struct error *err)
{
    size_t count;
    const uint32_t *shown = marker_view_get_matches(markers, &count);
    const struct marker_list *list = marker_view_get_markers(markers);
    double least = transform->slowest > 0 ? find_limit(profile, list, shown, count, transform) : 0;
    if (isnan(least))
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct marker *marker = &list->data[shown[i]];
        if (!selects_interval(transform, profile, marker, least))
            continue;
        struct interval_times *own = times_of_thread(times, profile, transform, marker->thread);
        if (!add_time(own, (struct time_range){marker->start, marker->end}))
            return error_no_memory(err);
        if (transform->slowest > 0 && transform->sides != FILTER_BOTH_SIDES)
            filter->intervals[profile->threads.data[marker->thread].side]++;
    }
    return 0;
}

/* ---- the samples ---- */

static void drop_samples_outside(struct sample_table *samples, const struct interval_times *times)
{
    size_t at = 0; /* the first time range that does not end before the sample */
    for (size_t i = 0; i < samples->length; i++) {
        while (at < times->ranges.length && times->ranges.data[at].to <= samples->time[i])
            at++;
        if (at == times->ranges.length || samples->time[i] < times->ranges.data[at].from)
            samples->stack[i] = PROFILE_NONE;
    }
}

static void free_samples(struct sample_filter *filter)
{
    for (size_t i = 0; i < filter->thread_count; i++)
        for (int kind = TABLE_SAMPLES; kind < SAMPLE_TABLES; kind++)
            free(filter->samples[i][kind].stack);
    free(filter->samples);
    filter->samples = NULL;
    filter->thread_count = 0;
}

static bool copy_table(struct sample_table *copy, const struct sample_table *table)
{
    *copy = *table;
    if (!table->length) {
        copy->stack = NULL;
        return true;
    }
    copy->stack = malloc(copy->length * sizeof(*copy->stack));
    if (copy->stack)
        memcpy(copy->stack, table->stack, copy->length * sizeof(*copy->stack));
    return copy->stack != NULL;
}

/* Copies the sample tables of the profile, with stack columns of their own. */
static int copy_samples(struct sample_filter *filter, const struct profile *profile, struct error *err)
{
    filter->samples = calloc(profile->threads.length + 1, sizeof(*filter->samples));
    bool enough = filter->samples != NULL;
    for (size_t i = 0; enough && i < profile->threads.length; i++) {
        filter->thread_count++;
        for (int kind = TABLE_SAMPLES; enough && kind < SAMPLE_TABLES; kind++)
            enough = copy_table(&filter->samples[i][kind],
                                thread_samples(&profile->threads.data[i], (enum sample_table_kind)kind));
    }
    return enough ? 0 : error_no_memory(err);
}

static void free_times(struct interval_times *times, size_t count)
{
    for (size_t thread = 0; times && thread < count; thread++)
        array_free(&times[thread].ranges);
    free(times);
}

/* Keeps the times of the first transform for each side that selects the slowest intervals, and takes `times`. */
static void keep_times(struct sample_filter *filter, const struct profile *profile, const struct transform *transform,
                       struct interval_times *times)
{
    bool is_first = !filter->times;
    struct interval_times *kept = is_first ? times : filter->times;
    for (size_t thread = 0; thread < filter->thread_count && (is_first || transform->sides > FILTER_SPLIT); thread++) {
        if (!filters_thread(transform, profile, thread) || (!is_first && kept[thread].ranges.length))
            continue;
        if (!is_first) {
            kept[thread] = times[thread];
            memset(&times[thread], 0, sizeof(times[thread]));
        }
        size_t *count = &filter->times_of_side[profile->threads.data[thread].side];
        if (transform->sides == FILTER_BOTH_SIDES)
            continue;
        kept[thread].first = *count;
        *count += kept[thread].ranges.length;
    }
    filter->times = kept;
    if (!is_first)
        free_times(times, filter->thread_count);
}

static int drop_by_transform(struct sample_filter *filter, const struct profile *profile, struct marker_view *markers,
                             const struct filter_request *request, const struct transform *transform, struct error *err)
{
    const struct marker_query query = {.threads = request->threads,
                                       .thread_count = request->thread_count,
                                       .range = transform->slowest > 0 ? request->range : whole_time,
                                       .search = transform->text,
                                       .search_length = transform->text_length};
    struct interval_times *times = calloc(filter->thread_count + PROFILE_SIDES, sizeof(*times));
    int code = times ? marker_view_set_query(markers, &query, err) : error_no_memory(err);
    if (!code)
        code = find_times(filter, times, profile, markers, transform, err);
    for (size_t thread = 0; !code && thread < filter->thread_count; thread++)
        for (int kind = TABLE_SAMPLES; kind < SAMPLE_TABLES && filters_thread(transform, profile, thread); kind++)
            drop_samples_outside(&filter->samples[thread][kind], times_of_thread(times, profile, transform, thread));
    if (!code && transform->slowest > 0)
        keep_times(filter, profile, transform, times);
    else
        free_times(times, filter->thread_count + PROFILE_SIDES);
    return code;
}

static int drop_samples(struct sample_filter *filter, const struct profile *profile,
                        const struct filter_request *request, struct error *err)
{
    struct marker_view *markers = marker_view_new(profile, request->whole, err);
    int code = markers ? copy_samples(filter, profile, err) : error_no_memory(err);
    for (size_t i = 0; !code && i < request->transform_count; i++)
        code = drop_by_transform(filter, profile, markers, request, &request->transforms[i], err);
    marker_view_free(markers);
    return code;
}

/* ---- the filter ---- */

static bool depends_on_range(const struct filter_request *request)
{
    for (size_t i = 0; i < request->transform_count; i++)
        if (request->transforms[i].slowest > 0)
            return true;
    return false;
}

static bool is_same(const struct sample_filter *filter, const struct filter_request *request)
{
    size_t count = request->transform_count;
    if (filter->transforms.items.length != count ||
        transform_list_measure_common(&filter->transforms, request->transforms, count) != count)
        return false;
    bool is_range_same = filter->range.from == request->range.from && filter->range.to == request->range.to;
    return count == 0 || ((is_range_same || !depends_on_range(request)) &&
                          array_equals(&filter->threads, request->threads, request->thread_count));
}

int sample_filter_update(struct sample_filter *filter, const struct profile *profile,
                         const struct filter_request *request, bool *changed, struct error *err)
{
    if (is_same(filter, request))
        return 0;
    *changed = true;
    sample_filter_destroy(filter);
    if (request->transform_count == 0)
        return 0;
    filter->range = request->range;
    int code = drop_samples(filter, profile, request, err);
    if (!code)
        code = transform_list_replace(&filter->transforms, 0, request->transforms, request->transform_count, err);
    for (size_t i = 0; !code && i < request->thread_count; i++)
        if (!array_push(&filter->threads, request->threads[i]))
            code = error_no_memory(err);
    if (code)
        sample_filter_destroy(filter);
    return code;
}

const struct sample_table *sample_filter_get_samples(const struct sample_filter *filter, const struct profile *profile,
                                                     uint32_t thread)
{
    return filter->samples ? &filter->samples[thread][TABLE_SAMPLES] : &profile->threads.data[thread].samples;
}

size_t sample_filter_get_interval(const struct sample_filter *filter, uint32_t thread, double time)
{
    const struct interval_times *times = &filter->times[thread];
    size_t after = search_count(times->ranges.data, times->ranges.length, element->from < time);
    return times->first + (after ? after - 1 : 0);
}

void sample_filter_destroy(struct sample_filter *filter)
{
    free_times(filter->times, filter->thread_count);
    filter->times = NULL;
    memset(filter->intervals, 0, sizeof(filter->intervals));
    memset(filter->times_of_side, 0, sizeof(filter->times_of_side));
    free_samples(filter);
    array_free(&filter->threads);
    transform_list_destroy(&filter->transforms);
}

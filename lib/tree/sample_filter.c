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

/* Returns the list to which an interval's time belongs, or NULL if the transform does not select the interval. */
static struct interval_times *select_times(struct interval_times *times, const struct profile *profile,
                                           const struct marker *marker, const struct transform *transform, double least)
{
    if (!(marker->end > marker->start))
        return NULL;
    if (!(transform->slowest > 0))
        return times;
    bool wants_others =
        transform->splits && profile_is_comparison(profile) && profile->threads.data[marker->thread].side == SIDE_BASE;
    bool is_slow = marker->end - marker->start >= least;
    return is_slow == wants_others ? NULL : &times[marker->thread];
}

/* Adds the times of the markers that the transform selects: to times[0], or of the slowest markers to the times of the
 * marker's thread. */
static int find_times(struct sample_filter *filter, struct interval_times *times, const struct profile *profile,
                      struct marker_view *markers, const struct transform *transform, struct error *err)
{
    size_t count;
    const uint32_t *shown = marker_view_get_matches(markers, &count);
    const struct marker_list *list = marker_view_list(markers);
    double least = transform->slowest > 0 ? find_slowest_interval_limit(list, shown, count, transform->slowest) : 0;
    if (isnan(least))
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct marker *marker = &list->data[shown[i]];
        struct interval_times *own = select_times(times, profile, marker, transform, least);
        if (own && !add_time(own, (struct time_range){marker->start, marker->end}))
            return error_no_memory(err);
        if (own && transform->splits)
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

static void keep_times(struct sample_filter *filter, const struct profile *profile, const struct transform *transform,
                       struct interval_times *times)
{
    filter->times = times;
    for (size_t thread = 0; transform->splits && thread < filter->thread_count; thread++) {
        size_t *count = &filter->times_of_side[profile->threads.data[thread].side];
        times[thread].first = *count;
        *count += times[thread].ranges.length;
    }
}

static int drop_by_transform(struct sample_filter *filter, const struct profile *profile, struct marker_view *markers,
                             const struct filter_request *request, const struct transform *transform, struct error *err)
{
    const struct marker_query query = {.threads = request->threads,
                                       .thread_count = request->thread_count,
                                       .range = transform->slowest > 0 ? request->range : whole_time,
                                       .search = transform->text,
                                       .search_length = transform->text_length};
    struct interval_times *times = calloc(filter->thread_count + 1, sizeof(*times));
    int code = times ? marker_view_query(markers, &query, err) : error_no_memory(err);
    if (!code)
        code = find_times(filter, times, profile, markers, transform, err);
    for (size_t thread = 0; !code && thread < filter->thread_count; thread++)
        for (int kind = TABLE_SAMPLES; kind < SAMPLE_TABLES; kind++)
            drop_samples_outside(&filter->samples[thread][kind], &times[transform->slowest > 0 ? thread : 0]);
    if (!code && transform->slowest > 0 && !filter->times)
        keep_times(filter, profile, transform, times);
    else
        free_times(times, filter->thread_count);
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
        transform_list_common(&filter->transforms, request->transforms, count) != count)
        return false;
    bool is_range_same = filter->range.from == request->range.from && filter->range.to == request->range.to;
    return count == 0 ||
           ((is_range_same || !depends_on_range(request)) && filter->threads.length == request->thread_count &&
            (request->thread_count == 0 ||
             memcmp(filter->threads.data, request->threads, request->thread_count * sizeof(*request->threads)) == 0));
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

const struct sample_table *sample_filter_samples(const struct sample_filter *filter, const struct profile *profile,
                                                 uint32_t thread)
{
    return filter->samples ? &filter->samples[thread][TABLE_SAMPLES] : &profile->threads.data[thread].samples;
}

size_t sample_filter_interval(const struct sample_filter *filter, uint32_t thread, double time)
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

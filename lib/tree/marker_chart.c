#include "tree/marker_chart.h"

#include "base/search.h"
#include "tree/order.h"

/* ---- layout ---- */

/* The markers of one name and category during row assignment. */
struct group {
    uint32_t name, category;
    uint32_t first_row; /* first and last row in layout.ends; rows of a group are a linked list */
    uint32_t row_count;
    bool has_instants;
};

struct layout {
    ARRAY(struct group) groups;
    struct hash by_key;    /* name and category -> group */
    ARRAY(double) ends;    /* for each row, end of its last marker */
    ARRAY(uint32_t) next;  /* the next row of the same group, or PROFILE_NONE */
    ARRAY(uint32_t) count; /* of markers in each row */
    uint32_t *row_of;      /* of each shown marker */
    uint32_t *group_order; /* groups in display order */
};

static uint32_t add_row(struct layout *layout)
{
    uint32_t row = (uint32_t)layout->ends.length;
    return array_push(&layout->ends, -INFINITY) && array_push(&layout->next, PROFILE_NONE) &&
                   array_push(&layout->count, 0)
               ? row
               : PROFILE_NONE;
}

static struct group *find_group(struct layout *layout, const struct marker *marker)
{
    uint32_t *place = hash_at(&layout->by_key, (uint64_t)marker->name << 32 | marker->category);
    if (!place)
        return NULL;
    if (*place == HASH_MISSING) {
        struct group group = {.name = marker->name, .category = marker->category, .first_row = PROFILE_NONE};
        *place = (uint32_t)layout->groups.length;
        if (!array_push(&layout->groups, group))
            return NULL;
    }
    return &layout->groups.data[*place];
}

/* Returns the row of an interval: the first free row of the group, a new row, or the last row. PROFILE_NONE if memory
 * runs out. */
static uint32_t choose_row_for_interval(struct layout *layout, struct group *group, double start)
{
    uint32_t last = PROFILE_NONE;
    for (uint32_t row = group->first_row; row != PROFILE_NONE; row = layout->next.data[row]) {
        if (layout->ends.data[row] <= start)
            return row;
        last = row;
    }
    if (group->row_count == MARKER_MOST_ROWS)
        return last;
    uint32_t row = add_row(layout);
    if (row == PROFILE_NONE)
        return row;
    if (last == PROFILE_NONE)
        group->first_row = row;
    else
        layout->next.data[last] = row;
    group->row_count++;
    return row;
}

/* The first row of a group is for instants. The end of this row is infinite, so the row gets no intervals. */
static uint32_t choose_row_for_instant(struct layout *layout, struct group *group)
{
    if (group->has_instants)
        return group->first_row;
    uint32_t row = add_row(layout);
    if (row == PROFILE_NONE)
        return row;
    layout->ends.data[row] = INFINITY;
    layout->next.data[row] = group->first_row;
    group->first_row = row;
    group->has_instants = true;
    return row;
}

static bool place_markers(struct layout *layout, const struct marker_list *list, const uint32_t *shown, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct marker *marker = &list->data[shown[i]];
        struct group *group = find_group(layout, marker);
        if (!group)
            return false;
        bool is_instant = marker->kind == MARKER_INSTANT;
        uint32_t row =
            is_instant ? choose_row_for_instant(layout, group) : choose_row_for_interval(layout, group, marker->start);
        if (row == PROFILE_NONE)
            return false;
        if (!is_instant)
            layout->ends.data[row] = fmax(layout->ends.data[row], marker->end);
        layout->count.data[row]++;
        layout->row_of[i] = row;
    }
    return true;
}

/* ---- the order of the groups ---- */

static const char *get_category_name(const struct profile *profile, uint32_t category)
{
    return strings_text(&profile->strings, profile->categories.data[category].name);
}

static int get_category_rank(const char *category)
{
    return strcmp(category, "Test") == 0 ? 0 : strcmp(category, "Other") == 0 ? 2 : 1;
}

struct group_order {
    const struct profile *profile;
    const struct group *groups;
};

static bool is_group_after(const void *context, uint32_t a, uint32_t b)
{
    const struct group_order *order = context;
    uint32_t before = order->groups[a].category, after = order->groups[b].category;
    if (before == after)
        return false;
    const char *left = get_category_name(order->profile, before), *right = get_category_name(order->profile, after);
    if (get_category_rank(left) != get_category_rank(right))
        return get_category_rank(right) < get_category_rank(left);
    int names = strcmp(right, left);
    return names ? names < 0 : after < before;
}

/* The number of groups can be the number of markers, so sorting is not quadratic. */
static bool sort_groups(struct layout *layout, const struct profile *profile)
{
    size_t length = layout->groups.length;
    layout->group_order = malloc((length + 1) * sizeof(*layout->group_order));
    for (uint32_t g = 0; layout->group_order && g < length; g++)
        layout->group_order[g] = g;
    const struct group_order order = {profile, layout->groups.data};
    return layout->group_order && order_sort_numbers(layout->group_order, length, is_group_after, &order, NULL) == 0;
}

/* Numbers the rows in display order, and sorts each marker into its row. */
static bool fill_rows(struct marker_chart *chart, const struct layout *layout, const struct marker_list *list,
                      const uint32_t *shown)
{
    uint32_t *number = malloc((layout->ends.length + 1) * sizeof(*number));
    uint32_t first = 0;
    bool done = number != NULL;
    for (size_t g = 0; done && g < layout->groups.length; g++) {
        const struct group *group = &layout->groups.data[layout->group_order[g]];
        uint32_t row_of_name = 0;
        for (uint32_t row = group->first_row; done && row != PROFILE_NONE; row = layout->next.data[row]) {
            number[row] = (uint32_t)chart->rows.length;
            bool is_of_instants = group->has_instants && row_of_name == 0;
            done = array_push(&chart->rows, (struct marker_row){group->name, group->category, first, 0, row_of_name++,
                                                                is_of_instants});
            first += layout->count.data[row];
        }
    }
    for (size_t i = 0; done && i < chart->length; i++) {
        struct marker_row *row = &chart->rows.data[number[layout->row_of[i]]];
        uint32_t at = row->first + row->count;
        double end = list->data[shown[i]].end;
        chart->order[at] = shown[i];
        chart->latest[at] = row->count ? fmax(chart->latest[at - 1], end) : end;
        row->count++;
    }
    free(number);
    return done;
}

int marker_chart_make(struct marker_chart *chart, const struct profile *profile, const struct marker_list *list,
                      const uint32_t *shown, size_t count, struct error *err)
{
    struct layout layout = {.row_of = malloc((count + 1) * sizeof(uint32_t))};
    marker_chart_destroy(chart);
    chart->order = malloc((count + 1) * sizeof(*chart->order));
    chart->latest = malloc((count + 1) * sizeof(*chart->latest));
    chart->length = count;
    bool done = layout.row_of && chart->order && chart->latest && place_markers(&layout, list, shown, count) &&
                sort_groups(&layout, profile) && fill_rows(chart, &layout, list, shown);
    free(layout.row_of);
    free(layout.group_order);
    array_free(&layout.groups);
    array_free(&layout.ends);
    array_free(&layout.next);
    array_free(&layout.count);
    hash_destroy(&layout.by_key);
    if (!done)
        marker_chart_destroy(chart);
    return done ? 0 : error_no_memory(err);
}

void marker_chart_destroy(struct marker_chart *chart)
{
    array_free(&chart->rows);
    free(chart->order);
    free(chart->latest);
    *chart = (struct marker_chart){0};
}

/* ---- windows ---- */

static bool reserve_rect(struct marker_rects *rects)
{
    if (rects->length < rects->capacity)
        return true;
    size_t capacity = rects->capacity ? 2 * rects->capacity : 256;
    void *columns[] = {
        realloc(rects->row, capacity * sizeof(*rects->row)), realloc(rects->marker, capacity * sizeof(*rects->marker)),
        realloc(rects->count, capacity * sizeof(*rects->count)),
        realloc(rects->start, capacity * sizeof(*rects->start)), realloc(rects->end, capacity * sizeof(*rects->end))};
    rects->row = columns[0] ? columns[0] : rects->row;
    rects->marker = columns[1] ? columns[1] : rects->marker;
    rects->count = columns[2] ? columns[2] : rects->count;
    rects->start = columns[3] ? columns[3] : rects->start;
    rects->end = columns[4] ? columns[4] : rects->end;
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
        if (!columns[i])
            return false;
    rects->capacity = capacity;
    return true;
}

bool marker_rects_add(struct marker_rects *rects, uint32_t row, uint32_t marker, uint32_t count, double start,
                      double end)
{
    if (!reserve_rect(rects))
        return false;
    size_t rect = rects->length++;
    rects->row[rect] = row;
    rects->marker[rect] = marker;
    rects->count[rect] = count;
    rects->start[rect] = start;
    rects->end[rect] = end;
    return true;
}

/* Finds the first marker of the row that ends at `time` or later. */
static uint32_t find_first_ending_after(const struct marker_chart *chart, const struct marker_row *row, double time)
{
    const double *latest = chart->latest + row->first;
    return row->first + (uint32_t)search_count(latest, row->count, *element < time);
}

/* Merges a marker shorter than a pixel with all markers in the pixel that starts with the marker. Moves `*at` past the
 * merged markers; returns the end of the last. */
static double skip_aggregated(const struct marker_chart *chart, const struct marker_list *list, uint32_t *at,
                              uint32_t end, double pixel)
{
    double limit = list->data[chart->order[*at]].start + pixel, until = list->data[chart->order[*at]].end;
    if (until > limit) {
        ++*at;
        return until;
    }
    for (; *at < end && list->data[chart->order[*at]].end <= limit; ++*at)
        until = fmax(until, list->data[chart->order[*at]].end);
    return until;
}

static bool add_row_rects(struct marker_rects *rects, const struct marker_chart *chart, const struct marker_list *list,
                          const struct marker_window *window, uint32_t row_index)
{
    const struct marker_row *row = &chart->rows.data[row_index];
    uint32_t end = row->first + row->count;
    for (uint32_t at = find_first_ending_after(chart, row, window->from); at < end;) {
        const struct marker *marker = &list->data[chart->order[at]];
        if (marker->start >= window->to)
            break;
        if (marker->end < window->from) {
            at++;
            continue;
        }
        uint32_t first = at;
        double until = skip_aggregated(chart, list, &at, end, window->pixel);
        if (!marker_rects_add(rects, row_index, chart->order[first], at - first, marker->start, until))
            return false;
    }
    return true;
}

int marker_chart_list_rects(struct marker_rects *rects, const struct marker_chart *chart,
                            const struct marker_list *list, const struct marker_window *window, struct error *err)
{
    rects->length = 0;
    for (uint32_t row = window->first_row; row < window->last_row && row < chart->rows.length; row++)
        if (!add_row_rects(rects, chart, list, window, row))
            return error_no_memory(err);
    return 0;
}

void marker_rects_destroy(struct marker_rects *rects)
{
    free(rects->row);
    free(rects->marker);
    free(rects->count);
    free(rects->start);
    free(rects->end);
    *rects = (struct marker_rects){0};
}

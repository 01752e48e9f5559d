/*
 * Markers against slow, simple reference implementations on random profiles: pairs of start and end, order, searches,
 * ranges and sorting, rows and windows of the chart; and labels and fields by example.
 */
#include "random_markers.h"
#include "tree/marker_view.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 1500 };

static const struct time_range whole = {1, 25};

/* ---- pairs ---- */

struct slow_marker {
    double start, end;
    uint32_t row, end_row, thread;
    int kind;
};

ARRAY_TYPE(struct slow_list, struct slow_marker);

/* The row of the start that belongs to the end at `end`: going back, starts and ends of the name are like brackets. */
static uint32_t slow_start_of(const struct marker_table *markers, uint32_t end)
{
    int open = 0;
    for (uint32_t row = end; row-- > 0;) {
        if (markers->name[row] != markers->name[end])
            continue;
        if (markers->phase[row] == 3 && !isnan(markers->end[row]))
            open++;
        if (markers->phase[row] == 2 && !isnan(markers->start[row]) && open-- == 0)
            return row;
    }
    return PROFILE_NONE;
}

static uint32_t slow_end_of(const struct marker_table *markers, uint32_t start)
{
    for (uint32_t row = start + 1; row < markers->length; row++)
        if (markers->phase[row] == 3 && !isnan(markers->end[row]) && markers->name[row] == markers->name[start] &&
            slow_start_of(markers, row) == start)
            return row;
    return PROFILE_NONE;
}

static bool slow_marker_of(const struct marker_table *markers, uint32_t row, struct slow_marker *marker)
{
    double start = markers->start[row], end = markers->end[row];
    *marker = (struct slow_marker){start, end, row, PROFILE_NONE, 0, MARKER_INSTANT};
    switch (markers->phase[row]) {
    case 0:
        marker->end = start;
        return !isnan(start);
    case 1:
        marker->kind = MARKER_INTERVAL;
        if (isnan(start))
            marker->start = whole.from < end ? whole.from : end;
        if (isnan(end))
            marker->end = whole.to > start ? whole.to : start;
        if (marker->end < marker->start)
            marker->end = marker->start;
        return !isnan(start) || !isnan(end);
    case 2:
        if (isnan(start))
            return false;
        marker->end_row = slow_end_of(markers, row);
        marker->kind = marker->end_row == PROFILE_NONE ? MARKER_WITHOUT_END : MARKER_INTERVAL;
        marker->end = marker->end_row == PROFILE_NONE ? whole.to : markers->end[marker->end_row];
        if (marker->end < start)
            marker->end = start;
        return true;
    default:
        marker->kind = MARKER_WITHOUT_START;
        marker->start = whole.from < end ? whole.from : end;
        return !isnan(end) && slow_start_of(markers, row) == PROFILE_NONE;
    }
}

/* Markers of the threads by their starts; inserted one by one, after those that start at the same time. */
static void slow_list_make(struct slow_list *list, const struct profile *profile, const uint32_t *threads, size_t count)
{
    list->length = 0;
    for (size_t t = 0; t < count; t++) {
        const struct marker_table *markers = &profile->threads.data[threads[t]].markers;
        for (uint32_t row = 0; row < markers->length; row++) {
            struct slow_marker marker;
            if (!slow_marker_of(markers, row, &marker))
                continue;
            marker.thread = threads[t];
            assert_true(array_push(list, marker));
            for (size_t at = list->length - 1; at > 0 && list->data[at - 1].start > marker.start; at--) {
                list->data[at] = list->data[at - 1];
                list->data[at - 1] = marker;
            }
        }
    }
}

static struct marker_view *view_of(const struct profile *profile)
{
    struct error err;
    struct marker_view *view = marker_view_new(profile, whole, &err);
    assert_non_null(view);
    return view;
}

static void ask(struct marker_view *view, const struct marker_query *query)
{
    struct error err;
    assert_int_equal(marker_view_set_query(view, query, &err), 0);
}

static size_t random_threads(struct random *random, const struct profile *profile, uint32_t *threads)
{
    size_t count = 0;
    for (uint32_t i = 0; i < profile->threads.length; i++)
        if (random_below(random, 3))
            threads[count++] = i;
    return count;
}

static void test_starts_and_ends_are_paired_and_put_in_order(void **state)
{
    (void)state;
    struct slow_list slow = {0};
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct random random = {seed};
        struct profile profile;
        uint32_t threads[3];
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        struct marker_query query = {threads, random_threads(&random, &profile, threads), whole_time, "", 0, 0};
        ask(view, &query);
        slow_list_make(&slow, &profile, threads, query.thread_count);
        const struct marker_list *list = marker_view_get_markers(view);
        assert_int_equal(list->length, slow.length);
        for (size_t i = 0; i < list->length; i++) {
            assert_true(list->data[i].start == slow.data[i].start && list->data[i].end == slow.data[i].end);
            assert_int_equal(list->data[i].row, slow.data[i].row);
            assert_int_equal(list->data[i].end_row, slow.data[i].end_row);
            assert_int_equal(list->data[i].thread, slow.data[i].thread);
            assert_int_equal(list->data[i].kind, slow.data[i].kind);
        }
        marker_view_free(view);
        profile_destroy(&profile);
    }
    array_free(&slow);
}

/* ---- searches, ranges, sorting ---- */

static bool slow_contains(const char *text, const char *term)
{
    for (; *text; text++) {
        size_t i = 0;
        while (term[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)term[i]))
            i++;
        if (!term[i])
            return true;
    }
    return false;
}

/* What a schema does not have is not looked at, but for the type. */
static bool slow_is_known(const struct marker *marker, const char *key)
{
    static const char *const keys[2][2] = {{"what", "size"}, {"text", "count"}};
    return marker->schema == SCHEMA_NONE || strcmp(key, "type") == 0 || strcmp(key, keys[marker->schema][0]) == 0 ||
           strcmp(key, keys[marker->schema][1]) == 0;
}

/* A term whose field is `field` ("": any), in what the marker says of itself; `exact`: the whole text. */
static bool slow_finds(const struct profile *profile, const struct marker *marker, const struct marker_context *context,
                       const char *field, const char *term, bool exact)
{
    struct payload payload = {0};
    struct error err;
    bool found = false;
    assert_int_equal(payload_read(&payload, profile, marker, &err), 0);
    for (size_t i = 0; i < payload.values.length + 2; i++) {
        const struct payload_value *value = i < 2 ? NULL : &payload.values.data[i - 2];
        struct text_buffer text = {0};
        char key[64];
        const struct category *category = &profile->categories.data[marker->category];
        if (value) {
            snprintf(key, sizeof(key), "%.*s", (int)value->key_length, value->key);
            const char *format = marker->schema == 0 && strcmp(key, "what") == 0    ? "unique-string"
                                 : marker->schema == 0 && strcmp(key, "size") == 0  ? "bytes"
                                 : marker->schema == 1 && strcmp(key, "count") == 0 ? "integer"
                                                                                    : "string";
            assert_true(value_text_append(&text, &context->values, format, value->json, value->length));
        } else {
            snprintf(key, sizeof(key), "%s", i ? "cat" : "name");
            assert_true(text_append_z(&text, strings_text(&profile->strings, i ? category->name : marker->name)));
        }
        assert_true(array_push(&text, '\0'));
        bool is_asked = (!*field || strcmp(field, key) == 0) && (!value || slow_is_known(marker, key));
        found = found || (is_asked && (exact ? strcasecmp(text.data, term) == 0 : slow_contains(text.data, term)));
        array_free(&text);
    }
    payload_destroy(&payload);
    return found;
}

static void test_searches_find_what_reading_every_marker_finds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field, *term;
        bool excluded, exact;
    } searches[] = {{"alpha", "", "alpha", false, false},
                    {"BET", "", "bet", false, false},
                    {"name:gc", "name", "gc", false, false},
                    {"-name:io", "name", "io", true, false},
                    {" cat:ker ", "cat", "ker", false, false},
                    {"type:work", "type", "work", false, false},
                    {"what:\"beta\"", "what", "beta", false, true},
                    {"\"gamma,delta\"", "", "gamma,delta", false, true},
                    {"-size: 1", "size", "1", true, false},
                    {"count:1", "count", "1", false, false},
                    {"/^x$/", "", "x", false, true},
                    {"nosuch:thing", "", "nosuch:thing", false, false},
                    {"name:", "", "name:", false, false},
                    {"name::gc", "", "name::gc", false, false},
                    {":gc", "", ":gc", false, false},
                    {"other:alpha", "other", "alpha", false, false}};
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct profile profile;
        const uint32_t thread = 0;
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        for (size_t i = 0; i < sizeof(searches) / sizeof(*searches); i++) {
            /* Half of the time a second term, of which the first is one of two that may match. */
            size_t k = seed % 2 ? (i + 1 + seed) % (sizeof(searches) / sizeof(*searches)) : i;
            char text[100];
            snprintf(text, sizeof(text), k == i ? "%s" : "%s,%s", searches[i].text, searches[k].text);
            struct marker_query query = {&thread, 1, {3, 15}, text, strlen(text), 0};
            ask(view, &query);
            const struct marker_list *list = marker_view_get_markers(view);
            size_t count, at = 0;
            const uint32_t *shown = marker_view_get_matches(view, &count);
            for (uint32_t m = 0; m < list->length; m++) {
                const struct marker *marker = &list->data[m];
                bool hit[2];
                for (size_t t = 0; t < 2; t++)
                    hit[t] = slow_finds(&profile, marker, marker_view_get_context(view), searches[t ? k : i].field,
                                        searches[t ? k : i].term, searches[t ? k : i].exact);
                bool out = (searches[i].excluded && hit[0]) || (searches[k].excluded && hit[1]);
                bool in = (searches[i].excluded && searches[k].excluded) || (!searches[i].excluded && hit[0]) ||
                          (!searches[k].excluded && hit[1]);
                bool inside = marker->start < 15 && (marker->end > 3 || (marker->end == 3 && marker->start == 3));
                if (inside && in && !out) {
                    assert_true(at < count);
                    assert_int_equal(shown[at++], m);
                }
            }
            assert_int_equal(at, count);
        }
        marker_view_free(view);
        profile_destroy(&profile);
    }
}

/* Queries like the one before it, but for some of what it says. */
static void random_marker_query(struct marker_query *query, uint32_t *threads, const struct profile *profile,
                                struct random *random)
{
    static const char *const searches[] = {"", "alpha", "name:gc", "-alpha"};
    if (random_below(random, 3) == 0)
        query->thread_count = random_threads(random, profile, threads);
    if (random_below(random, 3) == 0)
        query->range.from = random_below(random, 8);
    if (random_below(random, 3) == 0)
        query->range.to = 8 + random_below(random, 8);
    if (random_below(random, 3) == 0)
        query->search = searches[random_below(random, 4)];
    if (random_below(random, 3) == 0)
        query->places = random_below(random, 2) ? MARKER_IN_TABLE : MARKER_IN_CHART;
    query->search_length = strlen(query->search);
}

static void assert_same_answers(struct marker_view *one, struct marker_view *other)
{
    size_t count, other_count;
    struct error err;
    const uint32_t *shown = marker_view_get_matches(one, &count),
                   *other_shown = marker_view_get_matches(other, &other_count);
    assert_int_equal(count, other_count);
    if (count)
        assert_memory_equal(shown, other_shown, count * sizeof(*shown));
    const struct marker_chart *chart = marker_view_lay_out(one, &err), *other_chart = marker_view_lay_out(other, &err);
    assert_true(chart && other_chart);
    assert_int_equal(chart->rows.length, other_chart->rows.length);
    for (size_t i = 0; i < chart->rows.length; i++) {
        const struct marker_row *row = &chart->rows.data[i], *other_row = &other_chart->rows.data[i];
        assert_int_equal(row->name, other_row->name);
        assert_int_equal(row->count, other_row->count);
        assert_memory_equal(chart->order + row->first, other_chart->order + other_row->first,
                            row->count * sizeof(*chart->order));
    }
}

static void test_a_view_that_was_asked_before_answers_as_a_new_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct random random = {seed};
        struct profile profile;
        uint32_t threads[3] = {0};
        struct marker_query query = {threads, 1, {0, 20}, "", 0, MARKER_IN_TABLE};
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        for (int step = 0; step < 8; step++) {
            struct marker_view *fresh = view_of(&profile);
            random_marker_query(&query, threads, &profile, &random);
            ask(view, &query);
            ask(fresh, &query);
            assert_same_answers(view, fresh);
            marker_view_free(fresh);
        }
        marker_view_free(view);
        profile_destroy(&profile);
    }
}

static const struct marker_list *sorted_list;
static const struct profile *sorted_profile;

static double slow_duration(const struct marker *marker)
{
    return marker->kind == MARKER_INSTANT ? -1 : marker->end - marker->start;
}

/* By name from Z to A, then by duration, then by start. */
static int slow_compare(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct marker *left = &sorted_list->data[i], *right = &sorted_list->data[k];
    int names =
        strcmp(strings_text(&sorted_profile->strings, right->name), strings_text(&sorted_profile->strings, left->name));
    if (names)
        return names;
    if (slow_duration(left) != slow_duration(right))
        return slow_duration(left) < slow_duration(right) ? -1 : 1;
    return i < k ? -1 : 1;
}

static void test_markers_are_sorted_by_several_columns(void **state)
{
    (void)state;
    static const struct marker_sort keys[] = {{MARKER_NAME, true}, {MARKER_DURATION, false}};
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct profile profile;
        struct error err;
        const uint32_t threads[] = {0, 1, 2};
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        struct marker_query query = {threads, 3, whole_time, "", 0, 0};
        ask(view, &query);
        size_t count;
        const uint32_t *shown = marker_view_get_matches(view, &count);
        uint32_t *slow = malloc((count + 1) * sizeof(*slow));
        assert_non_null(slow);
        for (size_t i = 0; i < count; i++)
            slow[i] = shown[i];
        sorted_list = marker_view_get_markers(view);
        sorted_profile = &profile;
        if (count)
            qsort(slow, count, sizeof(*slow), slow_compare);
        const uint32_t *sorted = marker_view_sort(view, keys, 2, &err);
        assert_non_null(sorted);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(sorted[i], slow[i]);
        free(slow);
        marker_view_free(view);
        profile_destroy(&profile);
    }
}

/* ---- the chart ---- */

/* Rows of one name: index 0 for instants, then intervals. The row of each marker by trying row after row. */
static void slow_rows(const struct marker_list *list, uint32_t *row_of)
{
    for (size_t i = 0; i < list->length; i++) {
        const struct marker *marker = &list->data[i];
        row_of[i] = 0;
        if (marker->kind == MARKER_INSTANT)
            continue;
        for (uint32_t row = 1;; row++) {
            bool is_free = true;
            for (size_t k = 0; k < i; k++) {
                const struct marker *other = &list->data[k];
                if (other->kind != MARKER_INSTANT && other->name == marker->name &&
                    other->category == marker->category && row_of[k] == row && other->end > marker->start)
                    is_free = false;
            }
            if (is_free) {
                row_of[i] = row;
                break;
            }
        }
    }
}

static bool has_instants(const struct marker_list *list, const struct marker_row *row)
{
    for (size_t i = 0; i < list->length; i++)
        if (list->data[i].kind == MARKER_INSTANT && list->data[i].name == row->name &&
            list->data[i].category == row->category)
            return true;
    return false;
}

static void test_markers_lie_in_the_first_row_with_room(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct profile profile;
        struct error err;
        const uint32_t threads[] = {0, 1, 2};
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        struct marker_query query = {threads, 3, whole_time, "", 0, 0};
        ask(view, &query);
        const struct marker_list *list = marker_view_get_markers(view);
        const struct marker_chart *chart = marker_view_lay_out(view, &err);
        assert_non_null(chart);
        uint32_t *row_of = calloc(list->length + 1, sizeof(*row_of));
        assert_non_null(row_of);
        slow_rows(list, row_of);
        size_t seen = 0;
        for (size_t r = 0; r < chart->rows.length; r++) {
            const struct marker_row *row = &chart->rows.data[r];
            uint32_t expected = row->row_of_name + (has_instants(list, row) ? 0 : 1);
            assert_true(row->count > 0);
            for (uint32_t i = row->first; i < row->first + row->count; i++, seen++) {
                assert_int_equal(list->data[chart->order[i]].name, row->name);
                assert_int_equal(list->data[chart->order[i]].category, row->category);
                assert_int_equal(row_of[chart->order[i]], expected);
                assert_int_equal(row->is_of_instants, list->data[chart->order[i]].kind == MARKER_INSTANT);
                assert_true(i == row->first || chart->order[i - 1] < chart->order[i]);
            }
        }
        assert_int_equal(seen, list->length);
        free(row_of);
        marker_view_free(view);
        profile_destroy(&profile);
    }
}

static void test_categories_go_by_the_alphabet_and_other_is_last(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct profile profile;
        struct error err;
        const uint32_t thread = 0;
        random_marker_profile(&profile, seed); /* User, Other, Kernel, Idle */
        static const int places[] = {2, 3, 1, 0};
        struct marker_view *view = view_of(&profile);
        struct marker_query query = {&thread, 1, whole_time, "", 0, 0};
        ask(view, &query);
        const struct marker_chart *chart = marker_view_lay_out(view, &err);
        assert_non_null(chart);
        for (size_t i = 1; i < chart->rows.length; i++)
            assert_true(places[chart->rows.data[i - 1].category] <= places[chart->rows.data[i].category]);
        marker_view_free(view);
        profile_destroy(&profile);
    }
}

/* Each marker of the window is in exactly one rect of its row, and a rect of several is no wider than a pixel. */
static void test_a_window_shows_each_of_its_markers_once(void **state)
{
    (void)state;
    struct marker_rects rects = {0};
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct random random = {seed};
        struct profile profile;
        struct error err;
        const uint32_t threads[] = {0, 1, 2};
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        struct marker_query query = {threads, 3, whole_time, "", 0, 0};
        ask(view, &query);
        const struct marker_list *list = marker_view_get_markers(view);
        const struct marker_chart *chart = marker_view_lay_out(view, &err);
        assert_non_null(chart);
        double from = random_below(&random, 20);
        struct marker_window window = {from, from + 1 + random_below(&random, 10), random_below(&random, 4) * 0.6,
                                       random_below(&random, 3), 3 + random_below(&random, 20)};
        assert_int_equal(marker_chart_list_rects(&rects, chart, list, &window, &err), 0);
        for (size_t b = 0; b < rects.length; b++)
            assert_true(rects.row[b] >= window.first_row && rects.row[b] < window.last_row &&
                        rects.row[b] < chart->rows.length);
        for (uint32_t r = 0; r < chart->rows.length; r++) {
            const struct marker_row *row = &chart->rows.data[r];
            size_t wanted = 0, counted = 0, rect = 0;
            for (size_t b = 0; b < rects.length; b++)
                if (rects.row[b] == r) {
                    counted += rects.count[b];
                    assert_true(rects.count[b] == 1 || rects.end[b] - rects.start[b] <= window.pixel);
                    assert_true(b == 0 || rects.row[b - 1] != r || rects.start[b - 1] <= rects.start[b]);
                }
            for (uint32_t i = row->first; i < row->first + row->count; i++) {
                const struct marker *marker = &list->data[chart->order[i]];
                bool inside = r >= window.first_row && r < window.last_row && marker->end >= window.from &&
                              marker->start < window.to;
                if (!inside)
                    continue;
                wanted++;
                for (rect = 0; rect < rects.length; rect++)
                    if (rects.row[rect] == r && rects.start[rect] <= marker->start && rects.end[rect] >= marker->end)
                        break;
                assert_true(rect < rects.length);
            }
            /* A aggregate at the right edge may hold markers that start beyond it. */
            assert_true(counted >= wanted);
            for (uint32_t i = row->first; i < row->first + row->count; i++)
                if (list->data[chart->order[i]].start >= window.to &&
                    list->data[chart->order[i]].start < window.to + window.pixel)
                    wanted++;
            assert_true(counted <= wanted);
        }
        marker_view_free(view);
        profile_destroy(&profile);
    }
    marker_rects_destroy(&rects);
}

/* Of kinds that are shown there, each marker of the window lies in a rect of its category, or begins in the same pixel
 * as one that ends later. */
static void test_a_strip_shows_each_of_its_markers(void **state)
{
    (void)state;
    struct marker_rects rects = {0};
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct random random = {seed};
        struct profile profile;
        struct error err;
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        double from = random_below(&random, 20);
        struct marker_window window = {
            .from = from, .to = from + 1 + random_below(&random, 10), .pixel = random_below(&random, 3) * 0.5};
        const struct marker_list *list = marker_view_get_thread_markers(view, 0, &err);
        assert_non_null(list);
        assert_int_equal(marker_view_list_track_rects(view, 0, &window, MARKER_IN_OVERVIEW, &rects, &err), 0);
        size_t wanted = 0, counted = 0;
        for (size_t b = 0; b < rects.length; b++)
            counted += rects.count[b];
        for (size_t i = 0; i < list->length; i++) {
            const struct marker *marker = &list->data[i];
            bool is_shown = marker->schema == 1; /* Note */
            if (!is_shown || marker->start >= window.to || marker->end < window.from)
                continue;
            wanted++;
            size_t b = 0;
            while (b < rects.length && !(rects.row[b] == marker->category && rects.start[b] <= marker->start &&
                                         fmax(rects.end[b], rects.start[b] + window.pixel) >= marker->end))
                b++;
            assert_true(b < rects.length);
        }
        assert_int_equal(counted, wanted);
        bool has_note = false;
        const struct marker_table *markers = &profile.threads.data[0].markers;
        for (size_t i = 0; i < markers->length; i++)
            has_note = has_note || (markers->data[i] != PROFILE_NONE &&
                                    strstr(strings_text(&profile.strings, markers->data[i]), "\"Note\""));
        assert_int_equal((marker_view_find_places(view, 0) & MARKER_IN_OVERVIEW) != 0, has_note);
        marker_view_free(view);
        profile_destroy(&profile);
    }
    marker_rects_destroy(&rects);
}

/* ---- graphs ---- */

/* The number in the payload of a Note; NAN for others. */
static double count_of(const struct profile *profile, const struct marker *marker)
{
    const uint32_t rows[] = {marker->end_row, marker->row};
    for (size_t i = 0; i < 2; i++) {
        uint32_t data =
            rows[i] == PROFILE_NONE ? PROFILE_NONE : profile->threads.data[marker->thread].markers.data[rows[i]];
        const char *count = data == PROFILE_NONE ? NULL : strstr(strings_text(&profile->strings, data), "\"count\":");
        if (count)
            return strtod(count + strlen("\"count\":"), NULL);
    }
    return NAN;
}

/* The marker with the largest value among those that reach into a pixel, the first of equal ones; its index, or -1. */
static int slow_pixel_marker(const struct profile *profile, const struct marker_list *list, bool is_bar, double left,
                             double right)
{
    int most = -1;
    for (size_t i = 0; i < list->length; i++) {
        const struct marker *marker = &list->data[i];
        if (marker->schema != 1 || isnan(count_of(profile, marker)))
            continue;
        double end = marker->end;
        for (size_t k = i + 1; !is_bar && k < list->length; k++)
            if (list->data[k].schema == 1 && !isnan(count_of(profile, &list->data[k]))) {
                end = list->data[k].start;
                break;
            }
        bool is_point = marker->start == end && end >= left && end < right;
        if ((is_point || (marker->start < right && end > left)) &&
            (most < 0 || count_of(profile, marker) > count_of(profile, &list->data[most])))
            most = (int)i;
    }
    return most;
}

static void test_a_graph_shows_the_largest_number_in_each_pixel(void **state)
{
    (void)state;
    enum { WIDTH = 40 };
    size_t seen = 0;
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct profile profile;
        struct error err;
        random_marker_profile(&profile, seed);
        struct marker_view *view = view_of(&profile);
        const struct marker_list *list = marker_view_get_thread_markers(view, 0, &err);
        assert_non_null(list);
        for (uint32_t graph = 0; graph < 2; graph++) {
            const bool is_bar = graph == 0;
            const struct marker_points *points = marker_view_get_points(view, 0, 1, graph, &err);
            float values[WIDTH];
            uint32_t markers[WIDTH];
            double from = (double)(seed % 8);
            assert_non_null(points);
            draw_marker_graph(points, is_bar, from, from + WIDTH * 0.25, values, markers, WIDTH);
            for (uint32_t x = 0; x < WIDTH; x++) {
                double left = from + x * 0.25;
                int wanted = slow_pixel_marker(&profile, list, is_bar, left, left + 0.25);
                assert_int_equal((int)markers[x], wanted);
                assert_true(wanted < 0 ? isnan(values[x])
                                       : values[x] == (float)count_of(&profile, &list->data[wanted]));
                seen += wanted >= 0;
            }
        }
        marker_view_free(view);
        profile_destroy(&profile);
    }
    assert_true(seen > 1000);
}

/* ---- labels ---- */

/* A profile with one marker, from 2 to 5 ms. */
static void one_marker(struct profile *profile, const char *schema, const char *payload)
{
    struct random random = {1};
    random_profile(profile, 1);
    profile->meta.marker_schema = strings_add_z(&profile->strings, schema);
    struct marker_table *markers = &profile->threads.data[0].markers;
    random_marker_table(&random, profile, markers, 1);
    markers->name[0] = strings_add_z(&profile->strings, "paint");
    markers->phase[0] = 1;
    markers->category[0] = 2;
    markers->start[0] = 2;
    markers->end[0] = 5;
    markers->data[0] = payload ? strings_add_z(&profile->strings, payload) : PROFILE_NONE;
}

static void assert_label(const char *schema, const char *payload, enum marker_label label, const char *wanted)
{
    struct profile profile;
    struct error err;
    struct payload values = {0};
    struct text_buffer text = {0};
    const uint32_t thread = 0;
    one_marker(&profile, schema, payload);
    struct marker_view *view = view_of(&profile);
    struct marker_query query = {&thread, 1, whole_time, "", 0, 0};
    ask(view, &query);
    const struct marker *marker = &marker_view_get_markers(view)->data[0];
    assert_int_equal(marker_label_append(&text, marker_view_get_context(view), marker, label, &values, &err), 0);
    assert_true(array_push(&text, '\0'));
    assert_string_equal(text.data, wanted);
    array_free(&text);
    payload_destroy(&values);
    marker_view_free(view);
    profile_destroy(&profile);
}

static void test_labels_are_filled_in(void **state)
{
    (void)state;
    static const char fields[] = "\"fields\":[{\"key\":\"n\",\"label\":\"Number\",\"format\":\"integer\"},"
                                 "{\"key\":\"s\",\"format\":\"string\"},{\"key\":\"h\",\"hidden\":true}]}]";
    static const char payload[] = "{\"type\":\"T\",\"n\":1234,\"s\":\"a {b}\",\"h\":\"secret\",\"flag\":true}";
    char schema[600];
#define LABELLED(key, label)                                                                                           \
    (snprintf(schema, sizeof(schema), "[{\"name\":\"T\",\"%s\":\"%s\",%s", key, label, fields), schema)
    assert_label(LABELLED("tableLabel", "{marker.name} {marker.data.n}: {marker.data.s}"), payload, MARKER_TABLE_LABEL,
                 "paint 1,234: a {b}");
    assert_label(LABELLED("tableLabel", "{marker.start} {marker.end} {marker.duration} {marker.category}"), payload,
                 MARKER_TABLE_LABEL, "1 ms 4 ms 3 ms Kernel");
    assert_label(LABELLED("chartLabel", "{marker.data.flag ? 'yes' : 'no'}, {marker.data.none ? 'yes' : 'no'}"),
                 payload, MARKER_CHART_LABEL, "yes, no");
    assert_label(LABELLED("tableLabel", "{marker.data.none}{unknown}{open"), payload, MARKER_TABLE_LABEL, "{open");
    /* What has no template. */
    assert_label(LABELLED("description", ""), payload, MARKER_TABLE_LABEL, "Number: 1,234, s: a {b}");
    assert_label(LABELLED("description", ""), payload, MARKER_CHART_LABEL, "1,234");
    assert_label(LABELLED("description", ""), payload, MARKER_TOOLTIP_LABEL, "paint");
    assert_label("[]", payload, MARKER_TABLE_LABEL, "n: 1234, s: a {b}, h: secret, flag: true");
    assert_label("[]", NULL, MARKER_TABLE_LABEL, "");
    assert_label("not JSON", "not JSON", MARKER_TABLE_LABEL, "");
    assert_label("[{\"name\":\"paint\",\"tableLabel\":\"by name\"}]", "{\"type\":\"other\"}", MARKER_TABLE_LABEL,
                 "by name");
    assert_label("[{\"name\":\"T\",\"fields\":[{\"key\":\"s\",\"label\":\"Old\"},{\"label\":\"Description\",\"value\":"
                 "\"a note\"}]}]",
                 payload, MARKER_TABLE_LABEL, "a {b}");
#undef LABELLED
}

static void test_what_a_schema_says_beside_what_is_known_is_passed_over(void **state)
{
    (void)state;
    static const char payload[] = "{\"type\":\"T\",\"n\":1234}";
    static const char other[] = "{\"name\":\"other\",\"deep\":[{\"name\":\"deeper\"}]}";
    static const char *const schemas[] = {
        "[{\"graphs\":[{\"name\":\"no\",\"fields\":[]},[{}]],\"name\":\"T\",\"tableLabel\":\"its\"}]",
        "[{\"name\":\"T\",\"chartLabel\":{\"tableLabel\":\"no\"},\"tableLabel\":\"its\"}]",
        "[{\"name\":\"T\",\"display\":[{\"tableLabel\":\"no\"},[\"marker-chart\"],7],\"tableLabel\":\"its\"}]",
        "[{\"name\":\"T\",\"display\":{\"tableLabel\":\"no\"},\"tableLabel\":\"its\"}]",
        "[{\"name\":\"T\",\"fields\":{\"tableLabel\":\"no\"},\"tableLabel\":\"its\"}]",
        "[{\"name\":\"T\",\"fields\":[[{\"key\":\"n\"}],7,{\"key\":\"s\",\"more\":{\"key\":\"n\"}}],"
        "\"tableLabel\":\"its\"}]",
        "[[{\"name\":\"T\",\"tableLabel\":\"no\"}],7,{\"name\":\"T\",\"tableLabel\":\"its\"}]"};
    for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++) {
        char longer[400];
        assert_label(schemas[i], payload, MARKER_TABLE_LABEL, "its");
        snprintf(longer, sizeof(longer), "[%s,%s", other, schemas[i] + 1);
        assert_label(longer, payload, MARKER_TABLE_LABEL, "its");
        snprintf(longer, sizeof(longer), "%.*s,%s]", (int)strlen(schemas[i]) - 1, schemas[i], other);
        assert_label(longer, payload, MARKER_TABLE_LABEL, "its");
    }
    /* The format of a table is an object. */
    assert_label("[{\"name\":\"T\",\"fields\":[{\"format\":{\"type\":\"table\",\"columns\":[{\"format\":\"bytes\"}]},"
                 "\"key\":\"n\",\"hidden\":[true],\"label\":\"Number\"},"
                 "{\"key\":\"s\",\"label\":\"Five\"}]}]",
                 "{\"type\":\"T\",\"n\":1234,\"s\":5}", MARKER_TABLE_LABEL, "Number: 1234, Five: 5");
}

/* ---- values ---- */

static void test_values_are_shown_as_their_format_says(void **state)
{
    (void)state;
    static const struct {
        const char *format, *json, *wanted;
    } values[] = {
        {"duration", "0", "0 ms"},
        {"duration", "1", "1 ms"},
        {"duration", "-12.34", "-12.3 ms"},
        {"duration", "340.2", "340 ms"},
        {"duration", "1000", "1 s"},
        {"milliseconds", "0.0015", "1.5 µs"},
        {"duration", "0.001", "1 µs"},
        {"duration", "0.0009", "900 ns"},
        {"duration", "1e19", "1e+16 s"},
        {"seconds", "1.256", "1.26 s"},
        {"microseconds", "10000", "10 ms"},
        {"nanoseconds", "100", "100 ns"},
        {"time", "3.5", "1.5 ms"}, /* from the zero of the profile */
        {"bytes", "1023", "1023 B"},
        {"bytes", "1024", "1.0 KiB"},
        {"bytes", "-102400", "-100 KiB"},
        {"bytes", "2e18", "1776 PiB"},
        {"percentage", "0.12345", "12.35 %"},
        {"hexadecimal", "255", "0xff"},
        {"hexadecimal", "0", "0x0"},
        {"hexadecimal", "-1", "-1"},
        {"hexadecimal", "18446744073709551616", "1.84467440737096e+19"},
        {"integer", "999", "999"},
        {"integer", "1000", "1,000"},
        {"integer", "-123456", "-123,456"},
        {"integer", "1234567", "1,234,567"},
        {"integer", "1e15", "1e+15"},
        {"string", "1234.5", "1234.5"},
        {"string", "true", "true"},
        {"string", "null", ""},
        {"string", "\"plain\"", "plain"},
        {"string", "\"a \\\"quoted\\\" word\"", "a \"quoted\" word"},
        {"string", "\"\\u0000a\\u0000\\u0000b\"", "\uFFFDa\uFFFD\uFFFDb"},
        {"string", "not JSON", "not JSON"},
        {"unique-string", "0", "first"},
        {"flow-id", "0", "first"},
        {"unique-string", "1", ""},
        {"unique-string", "-1", ""},
        {"list", "[]", ""},
        {"list", "[\"a\",\"b\",\"c\"]", "a, b, c"},
        {"bytes", "[1,2048]", "1 B, 2.0 KiB"},
        {"table", "[[1,2],[3,4],[5,6]]", "1, 2\n3, 4\n5, 6"},
        {"string", "{\"a\":1,\"b\":[2,3],\"c\":{\"d\":\"e\"}}", "a: 1, b: 2, 3, c: d: e"},
        {"string", "[{\"a\":1},{\"a\":2}]", "a: 1\na: 2"},
    };
    struct profile profile;
    profile_init(&profile);
    strings_add_z(&profile.strings, "first");
    const struct value_context context = {&profile, 2};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct text_buffer text = {0};
        assert_true(value_text_append(&text, &context, values[i].format, values[i].json, strlen(values[i].json)));
        assert_true(array_push(&text, '\0'));
        assert_int_equal(text.length, strlen(values[i].wanted) + 1);
        assert_string_equal(text.data, values[i].wanted);
        array_free(&text);
    }
    profile_destroy(&profile);
}

static unsigned places_of(const char *schema, const char *payload)
{
    struct profile profile;
    one_marker(&profile, schema, payload);
    struct marker_view *view = view_of(&profile);
    unsigned places = marker_view_find_places(view, 0);
    marker_view_free(view);
    profile_destroy(&profile);
    return places;
}

static void test_network_and_ipc_are_known_without_a_schema(void **state)
{
    (void)state;
    static const char load[] = "{\"type\":\"Network\",\"URI\":\"https://a.example/\",\"count\":2048}";
    static const char message[] = "{\"type\":\"IPC\",\"messageType\":\"Msg_Go\",\"direction\":\"sending\"}";
    assert_label("[]", load, MARKER_TABLE_LABEL, "https://a.example/");
    assert_label("[]", message, MARKER_TABLE_LABEL, "Msg_Go, sending");
    assert_int_equal(places_of("[]", load), MARKER_IN_CHART | MARKER_IN_TABLE | MARKER_IN_NETWORK);
    assert_int_equal(places_of("[]", message), MARKER_IN_CHART | MARKER_IN_TABLE | MARKER_IN_IPC);
    assert_int_equal(places_of("[]", "{\"type\":\"other\"}"), 0);
    /* What the file says of them goes first. */
    static const char own[] = "[{\"name\":\"Network\",\"tableLabel\":\"own\",\"display\":[\"timeline-memory\"]}]";
    assert_label(own, load, MARKER_TABLE_LABEL, "own");
    assert_int_equal(places_of(own, load), MARKER_IN_MEMORY);
}

static void test_a_marker_is_of_the_type_of_its_payload(void **state)
{
    (void)state;
    static const char schemas[] = "[{\"name\":\"T\",\"tableLabel\":\"its\"},{\"name\":\"U\",\"tableLabel\":\"no\"}]";
    assert_label(schemas, "{\"type\":\"T\"}", MARKER_TABLE_LABEL, "its");
    assert_label(schemas, "{\"s\":\"U\",\"type\":\"T\",\"t\":\"U\"}", MARKER_TABLE_LABEL, "its");
    assert_label(schemas, "{ \"type\" : \"\\u0054\"}", MARKER_TABLE_LABEL, "its");
    assert_label(schemas, "{\"s\":{\"type\":\"U\"},\"type\":\"T\"}", MARKER_TABLE_LABEL, "its");
    assert_label(schemas, "{\"type\":7,\"type2\":\"U\"}", MARKER_TABLE_LABEL, "U");
    assert_label(schemas, "{\"type\":\"TU\"}", MARKER_TABLE_LABEL, "");
}

static void test_the_end_of_a_pair_says_more_than_its_start(void **state)
{
    (void)state;
    struct profile profile;
    struct error err;
    struct payload payload = {0};
    const uint32_t thread = 0;
    struct random random = {1};
    random_profile(&profile, 1);
    struct marker_table *markers = &profile.threads.data[0].markers;
    random_marker_table(&random, &profile, markers, 2);
    markers->name[0] = markers->name[1];
    markers->phase[0] = 2;
    markers->phase[1] = 3;
    markers->start[0] = 1;
    markers->end[1] = 2;
    markers->data[0] = strings_add_z(&profile.strings, "{\"type\":\"T\",\"a\":1,\"b\":2}");
    markers->data[1] = strings_add_z(&profile.strings, "{\"type\":\"T\",\"b\":3,\"c\":4}");
    struct marker_view *view = view_of(&profile);
    struct marker_query query = {&thread, 1, whole_time, "", 0, 0};
    ask(view, &query);
    assert_int_equal(marker_view_get_markers(view)->length, 1);
    assert_int_equal(payload_read(&payload, &profile, &marker_view_get_markers(view)->data[0], &err), 0);
    static const char *const wanted[][2] = {{"a", "1"}, {"b", "3"}, {"c", "4"}};
    for (size_t i = 0; i < 3; i++) {
        const struct payload_value *value = payload_find(&payload, wanted[i][0]);
        assert_non_null(value);
        assert_memory_equal(value->json, wanted[i][1], value->length);
    }
    payload_destroy(&payload);
    marker_view_free(view);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_and_ends_are_paired_and_put_in_order),
        cmocka_unit_test(test_searches_find_what_reading_every_marker_finds),
        cmocka_unit_test(test_a_view_that_was_asked_before_answers_as_a_new_one),
        cmocka_unit_test(test_markers_are_sorted_by_several_columns),
        cmocka_unit_test(test_markers_lie_in_the_first_row_with_room),
        cmocka_unit_test(test_categories_go_by_the_alphabet_and_other_is_last),
        cmocka_unit_test(test_a_window_shows_each_of_its_markers_once),
        cmocka_unit_test(test_a_strip_shows_each_of_its_markers),
        cmocka_unit_test(test_a_graph_shows_the_largest_number_in_each_pixel),
        cmocka_unit_test(test_labels_are_filled_in),
        cmocka_unit_test(test_what_a_schema_says_beside_what_is_known_is_passed_over),
        cmocka_unit_test(test_values_are_shown_as_their_format_says),
        cmocka_unit_test(test_network_and_ipc_are_known_without_a_schema),
        cmocka_unit_test(test_a_marker_is_of_the_type_of_its_payload),
        cmocka_unit_test(test_the_end_of_a_pair_says_more_than_its_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

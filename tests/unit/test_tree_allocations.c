/*
 * Allocations, additional sample tables of a thread: reading, saving, and the weight of each. The sums are compared
 * with the Firefox Profiler's way to compute them: it takes the rows of the range, then passes over them with a map
 * from address to allocation.
 */
#include "random_profile.h"
#include "support/profile_text.h"
#include "tree/engine.h"
#include "tree/weight_list.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The minimal file (stack 0: main; 1: main, work; 2: main, work, leaf), with more members in its thread. */
static char *file_with(const char *members)
{
    struct memory memory = {0};
    memory_write(&memory, members, strlen(members), NULL);
    memory_write(&memory, ", \"markers\": {", 14, NULL);
    char *text = text_replace(text_of_file("minimal.json"), "\"markers\": {", memory.data);
    free(memory.data);
    return text;
}

static void read_with(const char *members, struct profile *profile)
{
    struct error err = {""};
    char *text = file_with(members);
    if (read_bytes(text, strlen(text), 7, profile, &err) != 0)
        fail_msg("%s", err.text);
    free(text);
}

static void assert_refused(const char *members, const char *part)
{
    struct error err = {""};
    struct profile profile = {0};
    char *text = file_with(members);
    assert_int_not_equal(read_bytes(text, strlen(text), SIZE_MAX, &profile, &err), 0);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
    free(text);
}

static double total_of(const struct profile *profile, struct engine *engine, const char *id, struct time_range range)
{
    const uint32_t thread = 0;
    struct weight weight;
    struct error err;
    assert_true(find_weight_by_id(profile, id, &weight));
    const struct tree_query query = {.threads = &thread,
                                     .thread_count = 1,
                                     .range = range,
                                     .search = "",
                                     .weight = weight.kind,
                                     .table = weight.table};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    return engine_get_timings(engine)->root_total;
}

static const char *weights_text(const struct profile *profile, char text[512])
{
    struct weight_list list = {0};
    struct error err;
    assert_int_equal(list_weights(&list, profile, &err), 0);
    text[0] = '\0';
    for (size_t i = 0; i < list.length; i++)
        if (list.data[i].table != TABLE_SAMPLES)
            snprintf(text + strlen(text), 512 - strlen(text), "%s%s", text[0] ? ", " : "", list.data[i].id);
    array_free(&list);
    return text;
}

#define JS                                                                                                             \
    "\"jsAllocations\": {\"time\": [1, 2], \"className\": [\"A\", \"B\"], \"weight\": [100, 28], \"weightType\": "     \
    "\"bytes\", \"inNursery\": [true, false], \"stack\": [1, 2], \"length\": 2}"
#define UNBALANCED                                                                                                     \
    "\"nativeAllocations\": {\"time\": [1, 2, 3], \"weight\": [64, -32, 16], \"weightType\": \"bytes\", "              \
    "\"stack\": [0, 1, null], \"length\": 3}"
#define BALANCED                                                                                                       \
    "\"nativeAllocations\": {\"time\": [5, 1, 2], \"weight\": [-64, 64, 16], \"weightType\": \"bytes\", "              \
    "\"stack\": [2, 0, 1], \"memoryAddress\": [4096, 4096, 8192], \"threadId\": [1, 1, 1], \"length\": 3}"

static void test_weights_are_those_that_the_tables_support(void **state)
{
    const struct {
        const char *members, *weights;
    } cases[] = {{"\"x\": 0", ""},
                 {JS, "js-allocations"},
                 {UNBALANCED, "native-allocations, native-deallocations-sites"},
                 {BALANCED, "native-retained-allocations, native-allocations, native-deallocations-memory, "
                            "native-deallocations-sites"},
                 {JS ", " UNBALANCED, "js-allocations, native-allocations, native-deallocations-sites"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct profile profile = {0};
        char text[512];
        read_with(cases[i].members, &profile);
        assert_string_equal(weights_text(&profile, text), cases[i].weights);
        profile_destroy(&profile);
    }
}

static void test_a_thread_without_allocations_holds_no_table_of_them(void **state)
{
    struct profile profile = {0};
    (void)state;
    read_with("\"x\": 0", &profile);
    assert_int_equal(profile.threads.data[0].more.length, 0);
    assert_null(profile.threads.data[0].more.data);
    profile_destroy(&profile);
}

static void test_rows_out_of_order_are_sorted_before_they_are_paired(void **state)
{
    struct profile profile = {0};
    (void)state;
    read_with(BALANCED, &profile);
    const struct sample_table *table = thread_samples(&profile.threads.data[0], TABLE_NATIVE_ALLOCATIONS);
    assert_int_equal(table->length, 3);
    assert_int_equal(table->partner[0], 2);
    assert_int_equal(table->partner[1], PROFILE_NONE);
    assert_int_equal(table->partner[2], 0);
    profile_destroy(&profile);
}

static void test_tables_are_saved_and_read_the_same(void **state)
{
    const char *const cases[] = {JS, UNBALANCED, BALANCED, JS ", " BALANCED};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct profile first = {0}, second = {0};
        struct error err;
        char text[512], again[512];
        read_with(cases[i], &first);
        char *saved = text_of_profile(&first, 0);
        assert_int_equal(read_bytes(saved, strlen(saved), SIZE_MAX, &second, &err), 0);
        assert_string_equal(weights_text(&first, text), weights_text(&second, again));
        for (int kind = TABLE_JS_ALLOCATIONS; kind < SAMPLE_TABLES; kind++) {
            const struct sample_table *a = thread_samples(&first.threads.data[0], (enum sample_table_kind)kind);
            const struct sample_table *b = thread_samples(&second.threads.data[0], (enum sample_table_kind)kind);
            assert_int_equal(a->length, b->length);
            for (size_t row = 0; row < a->length; row++) {
                assert_int_equal(a->stack[row], b->stack[row]);
                assert_true(a->time[row] == b->time[row] && a->weight[row] == b->weight[row]);
                assert_true(!a->address || a->address[row] == b->address[row]);
            }
        }
        free(saved);
        profile_destroy(&first);
        profile_destroy(&second);
    }
}

static void test_broken_tables_are_named(void **state)
{
    (void)state;
    assert_refused("\"nativeAllocations\": {\"time\": [1, 2], \"weight\": [1], \"stack\": [0, 0], \"length\": 2}",
                   "threads[0].nativeAllocations.weight has 1 entries");
    assert_refused("\"nativeAllocations\": {\"time\": [1, 2], \"weight\": [1, 2], \"stack\": [0], \"length\": 2}",
                   "threads[0].nativeAllocations.stack has 1 entries");
    assert_refused("\"jsAllocations\": {\"time\": [1], \"weight\": [1, 2], \"stack\": [0, 0], \"length\": 2}",
                   "threads[0].jsAllocations has 1 times");
    assert_refused("\"nativeAllocations\": {\"time\": [1], \"weight\": [1], \"stack\": [3], \"length\": 1}",
                   "threads[0].nativeAllocations.stack[0] is 3");
    assert_refused("\"jsAllocations\": {\"time\": [1], \"weight\": [null], \"stack\": [0], \"length\": 1}",
                   "threads[0].jsAllocations.weight[0] is not a number");
    assert_refused("\"jsAllocations\": {\"time\": [1], \"stack\": [0], \"length\": 1}",
                   "threads[0].jsAllocations has no weights");
    assert_refused("\"nativeAllocations\": {\"weight\": [1], \"stack\": [0], \"length\": 1}",
                   "threads[0].nativeAllocations has neither time");
    assert_refused("\"nativeAllocations\": {\"time\": [1], \"weight\": [1], \"length\": 1}",
                   "threads[0].nativeAllocations.stack has 0 entries");
    assert_refused("\"nativeAllocations\": {\"time\": [1], \"weight\": [1], \"stack\": [0], \"memoryAddress\": [], "
                   "\"length\": 1}",
                   "threads[0].nativeAllocations.memoryAddress has 0 entries");
}

static void test_addresses_that_are_unknown_or_freed_twice_pair_with_nothing(void **state)
{
    struct profile profile = {0};
    (void)state;
    read_with("\"nativeAllocations\": {\"time\": [1, 2, 3, 4, 5], \"weight\": [8, -8, -8, 4, -4], "
              "\"stack\": [0, 0, 0, 0, 0], \"memoryAddress\": [16, 16, 16, null, null], \"length\": 5}",
              &profile);
    const struct sample_table *table = thread_samples(&profile.threads.data[0], TABLE_NATIVE_ALLOCATIONS);
    assert_int_equal(table->partner[1], 0);
    for (size_t i = 2; i < 5; i++)
        assert_int_equal(table->partner[i], PROFILE_NONE);
    profile_destroy(&profile);
}

/* ---- sums ---- */

enum { MOST_ROWS = 40, ADDRESSES = 5, STACKS = 3 };

struct allocations {
    struct {
        double time, weight;
        int address, stack; /* stack -1: none */
    } rows[MOST_ROWS];
    size_t length;
};

static void random_allocations(struct allocations *table, struct random *random)
{
    double time = 0;
    table->length = random_below(random, MOST_ROWS + 1);
    for (size_t i = 0; i < table->length; i++) {
        table->rows[i].time = time += (double)random_below(random, 3);
        table->rows[i].weight = (double)random_below(random, 200) - 100;
        table->rows[i].address = (int)random_below(random, ADDRESSES);
        table->rows[i].stack = (int)random_below(random, STACKS + 1) - 1;
    }
}

static void put_column(char *out, size_t size, const struct allocations *table, const char *key, int column)
{
    snprintf(out + strlen(out), size - strlen(out), "\"%s\": [", key);
    for (size_t i = 0; i < table->length; i++) {
        const double values[] = {table->rows[i].time, table->rows[i].weight, table->rows[i].address * 16.0,
                                 table->rows[i].stack};
        snprintf(out + strlen(out), size - strlen(out), "%s%g", i ? "," : "", values[column]);
    }
    snprintf(out + strlen(out), size - strlen(out), "], ");
}

static void read_allocations(const struct allocations *table, struct profile *profile)
{
    char members[4096] = "\"nativeAllocations\": {";
    put_column(members, sizeof(members), table, "time", 0);
    put_column(members, sizeof(members), table, "weight", 1);
    put_column(members, sizeof(members), table, "memoryAddress", 2);
    put_column(members, sizeof(members), table, "stack", 3);
    snprintf(members + strlen(members), sizeof(members) - strlen(members), "\"length\": %zu}", table->length);
    read_with(members, profile);
}

/* Bytes per stack; [STACKS]: of rows without one. */
struct sums {
    double bytes[STACKS + 1];
};

static double *bytes_of(struct sums *sums, int stack)
{
    return &sums->bytes[stack < 0 ? STACKS : stack];
}

/* What each weight counts. */
struct counted {
    struct sums allocated, retained, deallocated, sites;
};

static void count_rows(struct counted *counted, const struct allocations *table, struct time_range range)
{
    int live[ADDRESSES];
    bool is_retained[MOST_ROWS] = {false};
    *counted = (struct counted){0};
    for (int i = 0; i < ADDRESSES; i++)
        live[i] = -1;
    for (size_t i = 0; i < table->length; i++) {
        int stack = table->rows[i].stack, *last = &live[table->rows[i].address];
        double weight = table->rows[i].weight;
        if (table->rows[i].time < range.from || table->rows[i].time >= range.to)
            continue;
        if (weight >= 0) {
            *bytes_of(&counted->allocated, stack) += weight;
            *last = (int)i;
            is_retained[i] = true;
            continue;
        }
        *bytes_of(&counted->sites, stack) += weight;
        if (*last < 0)
            continue;
        *bytes_of(&counted->deallocated, table->rows[*last].stack) += weight;
        is_retained[*last] = false;
        *last = -1;
    }
    for (size_t i = 0; i < table->length; i++)
        if (is_retained[i])
            *bytes_of(&counted->retained, table->rows[i].stack) += table->rows[i].weight;
}

static void check_weight(const struct profile *profile, struct engine *engine, const char *id, struct time_range range,
                         const struct sums *sums)
{
    double whole = fabs(sums->bytes[0]) + fabs(sums->bytes[1]) + fabs(sums->bytes[2]);
    assert_true(total_of(profile, engine, id, range) == whole);
    struct func_timings functions;
    struct error err;
    double selfs[STACKS] = {0}, totals[STACKS] = {0}; /* stack i is that of func i */
    assert_int_equal(engine_list_functions(engine, FUNCS_BY_SELF, &functions, &err), 0);
    for (size_t i = 0; i < functions.length; i++) {
        selfs[functions.rows[i].func] = functions.rows[i].self;
        totals[functions.rows[i].func] = functions.rows[i].total;
    }
    double below = 0;
    for (int i = STACKS - 1; i >= 0; i--) {
        below += sums->bytes[i];
        assert_true(selfs[i] == sums->bytes[i]);
        assert_true(totals[i] == below);
    }
    func_timings_destroy(&functions);
}

static void test_native_allocations_of_any_range_sum_as_in_the_firefox_profiler(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct random random = {seed};
        struct allocations table;
        struct profile profile = {0}, reference = {0};
        struct error err;
        random_allocations(&table, &random);
        read_allocations(&table, &profile);
        read_allocations(&table, &reference);
        struct engine *engine = engine_new(&profile, &err);
        assert_non_null(engine);
        for (int i = 0; table.length && i < 10; i++) {
            struct time_range range = {(double)random_below(&random, 40), (double)random_below(&random, 90)};
            struct counted counted;
            if (i == 0)
                range = whole_time;
            count_rows(&counted, &table, range);
            check_weight(&reference, engine, "native-allocations", range, &counted.allocated);
            check_weight(&reference, engine, "native-retained-allocations", range, &counted.retained);
            check_weight(&reference, engine, "native-deallocations-memory", range, &counted.deallocated);
            check_weight(&reference, engine, "native-deallocations-sites", range, &counted.sites);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void test_weights_of_other_tables_leave_the_samples_as_they_are(void **state)
{
    struct profile profile = {0}, reference = {0};
    struct error err;
    (void)state;
    read_with(JS ", " BALANCED, &profile);
    read_with(JS ", " BALANCED, &reference);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    for (int i = 0; i < 2; i++) {
        assert_true(total_of(&reference, engine, "recorded", whole_time) == 3);
        assert_true(total_of(&reference, engine, "js-allocations", whole_time) == 128);
        assert_true(total_of(&reference, engine, "native-allocations", whole_time) == 80);
        assert_true(total_of(&reference, engine, "native-retained-allocations", whole_time) == 16);
    }
    struct time_range full = engine_get_full_range(engine);
    assert_true(full.from == 1 && full.to == 6);
    engine_free(engine);
    profile_destroy(&reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_are_those_that_the_tables_support),
        cmocka_unit_test(test_a_thread_without_allocations_holds_no_table_of_them),
        cmocka_unit_test(test_rows_out_of_order_are_sorted_before_they_are_paired),
        cmocka_unit_test(test_tables_are_saved_and_read_the_same),
        cmocka_unit_test(test_broken_tables_are_named),
        cmocka_unit_test(test_addresses_that_are_unknown_or_freed_twice_pair_with_nothing),
        cmocka_unit_test(test_native_allocations_of_any_range_sum_as_in_the_firefox_profiler),
        cmocka_unit_test(test_weights_of_other_tables_leave_the_samples_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Counters of a recording: readings in a spool, energy of a directory like the kernel's, series that are bounded.
 */
#include "assemble/replay_counters.h"
#include "os/clock.h"
#include "spool/counter_kinds.h"
#include "record/counters.h"
#include "record/system_counters.h"
#include "support/flat_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/prof-counters-XXXXXX";

static void path_of(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", directory, name);
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    path_of(name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_zone(const char *zone, const char *name, const char *energy, const char *most)
{
    char path[256];
    path_of(zone, path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/name", zone);
    write_file(path, name);
    snprintf(path, sizeof(path), "%s/energy_uj", zone);
    write_file(path, energy);
    snprintf(path, sizeof(path), "%s/max_energy_range_uj", zone);
    write_file(path, most);
}

/* The counters of `of` in a spool. `values`: what they have, which the reader frees. */
static size_t read_spool(const char *path, uint32_t of, struct spool_counters *readings, uint64_t values[][16],
                         size_t most)
{
    struct spool_reader *reader;
    struct spool_record record;
    size_t count = 0;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    while (spool_reader_read(reader, &record, NULL) > 0) {
        const struct spool_list *list = &record.counters.values;
        if (record.kind != SPOOL_COUNTERS || record.counters.of != of)
            continue;
        assert_true(count < most && list->count <= 16);
        memcpy(values[count], list->items, list->count * sizeof(*list->items));
        readings[count++] = record.counters;
    }
    spool_reader_close(reader);
    return count;
}

static void test_a_reading_is_read_as_it_was_written(void **state)
{
    (void)state;
    char path[256];
    struct spool_writer *spool;
    path_of("readings", path);
    assert_int_equal(spool_writer_new(&spool, path, NULL), 0);
    uint64_t first[COUNTER_KINDS] = {0}, second[COUNTER_KINDS];
    for (size_t i = 0; i < COUNTER_KINDS; i++)
        first[i] = i == COUNTER_SWAP ? COUNTER_UNKNOWN : i * i * i * 1000003;
    memcpy(second, first, sizeof(second));
    second[COUNTER_CPU_TIME] += 50000000;
    struct counter_reading reading = {
        .whose = 7, .time = 5000000000, .is_base = true, .count = COUNTER_KINDS, .values = first};
    assert_int_equal(counter_writer_write(spool, &reading, NULL), 0);
    struct sample sample = {.thread = 7, .time = 5000500000, .frame_count = 2, .frames = (const uint64_t[]){10, 20}};
    assert_int_equal(spool_writer_sample(spool, &sample, NULL), 0);
    reading = (struct counter_reading){
        .whose = 7, .time = 5060000000, .since = 5030000000, .count = COUNTER_KINDS, .values = second};
    assert_int_equal(counter_writer_write(spool, &reading, NULL), 0);
    assert_int_equal(spool_writer_close(spool, NULL), 0);

    struct spool_counters got[4];
    uint64_t values[4][16];
    assert_int_equal(read_spool(path, 7, got, values, 4), 2);
    assert_true(got[0].is_base && !got[1].is_base);
    assert_int_equal(got[0].time_ns, 5000000000);
    assert_int_equal(got[0].since_ns, 0);
    assert_int_equal(got[1].time_ns, 5060000000);
    assert_int_equal(got[1].since_ns, 5030000000);
    assert_memory_equal(values[0], first, sizeof(first));
    assert_memory_equal(values[1], second, sizeof(second));
}

static void test_energy_goes_on_where_its_counter_begins_again(void **state)
{
    (void)state;
    char path[256], power[256];
    struct spool_writer *spool;
    struct system_counters *counters;
    path_of("power", power);
    assert_int_equal(mkdir(power, 0700), 0);
    make_zone("power/intel-rapl:1", "package-1\n", "5000\n", "10000\n");
    make_zone("power/intel-rapl:0", "package-0\n", "9000\n", "10000\n");
    make_zone("power/intel-rapl-mmio:0", "package-0\n", "1\n", "10000\n"); /* the same energy once more */
    path_of("energy", path);
    assert_int_equal(spool_writer_new(&spool, path, NULL), 0);
    assert_int_equal(system_counters_new(&counters, false, true, power, NULL), 0);
    assert_non_null(counters);
    assert_string_equal(system_counters_list_power_names(counters), "package-0,package-1");
    assert_int_equal(system_counters_read(counters, spool, 1000, 200, false, NULL), 0);
    write_file("power/intel-rapl:0/energy_uj", "500\n");
    write_file("power/intel-rapl:1/energy_uj", "5007\n");
    assert_int_equal(system_counters_read(counters, spool, 1100, 200, false, NULL), 0); /* too early */
    assert_int_equal(system_counters_read(counters, spool, 1200, 200, false, NULL), 0);
    system_counters_free(counters);
    assert_int_equal(spool_writer_close(spool, NULL), 0);

    struct spool_counters got[4];
    uint64_t values[4][16];
    assert_int_equal(read_spool(path, COUNTERS_OF_POWER, got, values, 4), 2);
    assert_true(got[0].is_base && got[0].values.count == 2 && !got[1].is_base);
    assert_true(values[0][0] == 0 && values[0][1] == 0);
    assert_true(values[1][0] == 1500 && values[1][1] == 7);
}

static void test_without_energy_and_cpus_nothing_is_counted(void **state)
{
    (void)state;
    struct system_counters *counters;
    assert_int_equal(system_counters_new(&counters, false, true, "/nonexistent", NULL), 0);
    assert_null(counters);
}

static void test_each_cpu_is_busy_for_longer_and_longer(void **state)
{
    (void)state;
    char path[256];
    struct spool_writer *spool;
    struct system_counters *counters;
    path_of("cpus", path);
    assert_int_equal(spool_writer_new(&spool, path, NULL), 0);
    assert_int_equal(system_counters_new(&counters, true, false, "", NULL), 0);
    assert_int_equal(system_counters_read(counters, spool, 1000, 0, false, NULL), 0);
    for (uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 100000000; clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
        ;
    assert_int_equal(system_counters_read(counters, spool, 2000, 0, false, NULL), 0);
    system_counters_free(counters);
    assert_int_equal(spool_writer_close(spool, NULL), 0);
    struct spool_counters got[2];
    uint64_t values[2][16], sum = 0;
    if (sysconf(_SC_NPROCESSORS_CONF) > 16)
        skip();
    assert_int_equal(read_spool(path, COUNTERS_OF_CPUS, got, values, 2), 2);
    assert_int_equal(got[0].values.count, got[1].values.count);
    for (size_t i = 0; i < got[0].values.count; i++) {
        assert_true(values[1][i] >= values[0][i]);
        sum += values[1][i] - values[0][i];
    }
    assert_true(sum >= 70000000); /* in steps of 10 ms */
}

static void add(struct replay_counters *counters, uint32_t whose, uint64_t time, uint64_t memory, uint64_t cpu)
{
    uint64_t values[COUNTER_KINDS] = {0};
    values[COUNTER_MEMORY] = memory;
    values[COUNTER_CPU_TIME] = cpu;
    const struct spool_counters reading = {.of = whose, .time_ns = time, .values = {values, COUNTER_KINDS}};
    assert_int_equal(replay_counters_add(counters, &reading, NULL), 0);
}

static void test_very_many_readings_keep_their_peak_and_their_sum(void **state)
{
    (void)state;
    enum { COUNT = 20000, MOST = 12000, PEAK = 777 };
    struct replay_counters counters = {.most = MOST};
    for (uint64_t i = 0; i <= COUNT; i++)
        add(&counters, 3, i * 50, i == 12345 ? PEAK : i % 100, i * 10);
    const struct replay_series *series = replay_counters_find(&counters, 3);
    size_t count = series->readings.length;
    uint64_t peak = 0;
    assert_true(count > MOST / COUNTER_KINDS / 4 && count * COUNTER_KINDS <= MOST);
    for (size_t i = 0; i < count; i++) {
        uint64_t memory = replay_series_get_value(series, i, COUNTER_MEMORY);
        peak = memory > peak ? memory : peak;
        assert_int_equal(replay_series_get_value(series, i, COUNTER_CPU_TIME) * 5, series->readings.data[i].time);
        assert_true(i == 0 || series->readings.data[i].time > series->readings.data[i - 1].time);
    }
    assert_int_equal(peak, PEAK);
    assert_int_equal(replay_series_get_value(series, count - 1, COUNTER_CPU_TIME), COUNT * 10);
    replay_counters_destroy(&counters);
}

static void test_readings_that_make_no_sense_are_left_out(void **state)
{
    (void)state;
    struct replay_counters counters = {0};
    uint64_t values[COUNTER_KINDS] = {0};
    struct spool_counters reading = {.of = 3, .time_ns = 100, .values = {values, 3}};
    assert_int_equal(replay_counters_add(&counters, &reading, NULL), 0);
    assert_null(replay_counters_find(&counters, 3));
    add(&counters, 3, 100, 1, 1);
    add(&counters, 3, 50, 2, 2); /* before the last */
    const struct replay_series *series = replay_counters_find(&counters, 3);
    assert_int_equal(series->readings.length, 2);
    assert_int_equal(series->readings.data[1].time, 100);
    replay_counters_destroy(&counters);
}

static void test_lists_of_counters(void **state)
{
    (void)state;
    uint32_t wanted;
    assert_true(counters_parse("all", &wanted) && wanted == COUNT_ALL);
    assert_true(counters_parse("none", &wanted) && wanted == 0);
    assert_true(counters_parse("io,cpu", &wanted) && wanted == (1 << COUNT_IO | 1 << COUNT_CPU));
    assert_false(counters_parse("", &wanted));
    assert_false(counters_parse("cpu,", &wanted));
    assert_false(counters_parse("cp", &wanted));
    assert_false(counters_parse("cpus", &wanted));
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reading_is_read_as_it_was_written),
        cmocka_unit_test(test_energy_goes_on_where_its_counter_begins_again),
        cmocka_unit_test(test_without_energy_and_cpus_nothing_is_counted),
        cmocka_unit_test(test_each_cpu_is_busy_for_longer_and_longer),
        cmocka_unit_test(test_very_many_readings_keep_their_peak_and_their_sum),
        cmocka_unit_test(test_readings_that_make_no_sense_are_left_out),
        cmocka_unit_test(test_lists_of_counters),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

/* A spool that is read in parts returns each sample once: while it grows, and while a flight recorder rewrites its
 * newest chunk and drops its oldest. */
#include "spool/spool.h"
#include "support/directory.h"
#include "support/flat_records.h"

#include <unistd.h>

static void write_thread(struct spool_writer *writer)
{
    const struct spool_event events[] = {
        {.kind = SPOOL_PROCESS, .number = 0, .parent = SPOOL_NO_NUMBER, .pid = 4711, .time = 10, .name = "sleep"},
        {.kind = SPOOL_THREAD, .number = 0, .process = 0, .tid = 4711, .time = 10, .name = "sleep"},
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
        assert_int_equal(spool_writer_event(writer, &events[i], NULL), 0);
}

static void write_samples(struct spool_writer *writer, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        uint64_t frames[3] = {0x1100 + i % 64, 0x1200 + i, 0x1300};
        struct sample sample = {.thread = 0, .time = 100 + i, .frame_count = 3, .frames = frames};
        assert_int_equal(spool_writer_sample(writer, &sample, NULL), 0);
    }
    assert_int_equal(spool_writer_flush(writer, NULL), 0);
}

/* What a reader gives from `place` on, which goes on to its end. */
struct part {
    uint64_t first, count, events, missed;
};

static struct part read_part(struct spool_place *place)
{
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    struct part part = {0};
    int item;
    assert_int_equal(spool_reader_open(&reader, in_directory("spool"), NULL), 0);
    spool_reader_skip(reader, *place);
    while ((item = spool_reader_next(reader, &event, &sample, NULL)) > 0) {
        if (item == SPOOL_ITEM_EVENT) {
            part.events++;
            continue;
        }
        if (!part.count)
            part.first = sample.time - 100;
        assert_int_equal(sample.time - 100, part.first + part.count);
        assert_int_equal(sample.frames[1], 0x1200 + part.first + part.count); /* decoded with those before it */
        part.count++;
    }
    assert_int_equal(item, SPOOL_END);
    part.missed = spool_reader_count_missed_chunks(reader);
    *place = spool_reader_get_place(reader);
    spool_reader_close(reader);
    return part;
}

static void read_while_it_grows(const struct spool_bounds *bounds)
{
    static const uint64_t ends[] = {1, 1, 2, 500, 501, 20000, 60000, 60003, 150000};
    struct spool_writer *writer;
    struct spool_place place = {0};
    uint64_t done = 0;
    assert_int_equal(spool_writer_new_bounded(&writer, in_directory("spool"), bounds, NULL), 0);
    write_thread(writer);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        write_samples(writer, done, ends[i]);
        struct part part = read_part(&place);
        assert_int_equal(part.count, ends[i] - done);
        assert_true(!part.count || part.first == done);
        assert_int_equal(part.events, 2);
        assert_int_equal(part.missed, 0);
        done = ends[i];
    }
    assert_int_equal(read_part(&place).count, 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
    assert_int_equal(read_part(&place).count, 0);
    unlink(in_directory("spool"));
}

static void test_each_sample_is_in_one_part(void **state)
{
    (void)state;
    read_while_it_grows(&(struct spool_bounds){0});
}

static void test_each_sample_of_a_flight_recorder_is_in_one_part(void **state)
{
    (void)state;
    read_while_it_grows(&(struct spool_bounds){.bytes = 4 << 20});
}

static void test_what_a_flight_recorder_dropped_in_between_is_told(void **state)
{
    struct spool_writer *writer;
    struct spool_place place = {0};
    (void)state;
    assert_int_equal(
        spool_writer_new_bounded(&writer, in_directory("spool"), &(struct spool_bounds){.bytes = 1 << 20}, NULL), 0);
    write_thread(writer);
    write_samples(writer, 0, 1000);
    assert_int_equal(read_part(&place).count, 1000);
    write_samples(writer, 1000, 600000);
    struct part part = read_part(&place);
    assert_true(part.first > 1000);
    assert_int_equal(part.first + part.count, 600000);
    assert_true(part.missed > 0);
    assert_int_equal(read_part(&place).missed, 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_sample_is_in_one_part),
        cmocka_unit_test(test_each_sample_of_a_flight_recorder_is_in_one_part),
        cmocka_unit_test(test_what_a_flight_recorder_dropped_in_between_is_told),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}

/* Rings are read across their end, in place where possible, and several rings in causal order. */
#include "sample/perf_merge.h"
#include "sample/perf_ring.h"

#include "perf_bytes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RING_SIZE = 1024 };

/* A ring in plain memory; the test plays the kernel. */
struct fake_ring {
    struct perf_event_mmap_page page;
    unsigned char data[RING_SIZE];
    struct perf_ring ring;
};

static void fake_ring_init(struct fake_ring *fake, uint64_t position)
{
    memset(fake, 0, sizeof(*fake));
    fake->page.data_head = fake->page.data_tail = position;
    fake->ring = (struct perf_ring){.page = &fake->page, .data = fake->data, .size = RING_SIZE, .tail = position};
}

static void fake_ring_write(struct fake_ring *fake, const struct record_bytes *record)
{
    assert_true(fake->page.data_head + record->size - fake->page.data_tail <= RING_SIZE);
    for (size_t i = 0; i < record->size; i++)
        fake->data[(fake->page.data_head + i) % RING_SIZE] = record->bytes[i];
    fake->page.data_head += record->size;
}

static void write_comm(struct fake_ring *fake, const char *name, uint64_t time)
{
    struct record_bytes record;
    make_comm(&record, 1, 1, name, 0, time);
    fake_ring_write(fake, &record);
}

static void test_records_survive_the_end_of_the_ring(void **unused)
{
    (void)unused;
    static unsigned char bounce[PERF_RING_RECORD_MAX];
    for (uint64_t position = 0; position < RING_SIZE; position += 8) {
        struct fake_ring fake;
        struct record_bytes made;
        uint32_t type;
        size_t size;
        fake_ring_init(&fake, 5 * RING_SIZE + position);
        make_sample(&made, 1, 2, 77, 64);
        fake_ring_write(&fake, &made);
        assert_true(perf_ring_peek(&fake.ring, perf_ring_read_head(&fake.ring), &type, &size));
        assert_int_equal(type, PERF_RECORD_SAMPLE);
        assert_int_equal(size, made.size);
        assert_int_equal(perf_ring_read_u64(&fake.ring, 24), 77);
        const unsigned char *bytes = perf_ring_get_record(&fake.ring, size, bounce);
        assert_memory_equal(bytes, made.bytes, made.size);
        bool wraps = position + made.size > RING_SIZE;
        assert_true(wraps == (bytes == bounce));
        perf_ring_skip(&fake.ring, size);
        assert_int_equal(fake.page.data_tail, fake.page.data_head);
        assert_false(perf_ring_peek(&fake.ring, perf_ring_read_head(&fake.ring), &type, &size));
    }
}

static void test_record_that_makes_no_sense_empties_the_ring(void **unused)
{
    (void)unused;
    static const uint16_t lies[] = {0, 7, 12, 4096};
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct fake_ring fake;
        uint32_t type;
        size_t size;
        fake_ring_init(&fake, 0);
        write_comm(&fake, "one", 1);
        memcpy(fake.data + 6, &lies[i], 2);
        assert_false(perf_ring_peek(&fake.ring, perf_ring_read_head(&fake.ring), &type, &size));
        assert_int_equal(fake.ring.damaged, 1);
        assert_int_equal(fake.page.data_tail, fake.page.data_head);
    }
}

static void test_head_that_ran_away_does_no_harm(void **unused)
{
    (void)unused;
    struct fake_ring fake;
    uint32_t type;
    size_t size;
    fake_ring_init(&fake, 0);
    fake.page.data_head = UINT64_MAX / 2;
    assert_false(perf_ring_peek(&fake.ring, perf_ring_read_head(&fake.ring), &type, &size));
    assert_int_equal(fake.ring.damaged, 1);
}

/* ---- several rings ---- */

struct fake_rings {
    struct fake_ring rings[3];
    struct perf_ring *pointers[3];
    struct perf_merge *merge;
};

static void fake_rings_init(struct fake_rings *fakes)
{
    for (size_t i = 0; i < 3; i++) {
        fake_ring_init(&fakes->rings[i], 0);
        fakes->pointers[i] = &fakes->rings[i].ring;
    }
    fakes->merge = perf_merge_new(&test_layout, fakes->pointers, 3);
    assert_non_null(fakes->merge);
}

static void assert_next(struct fake_rings *fakes, const char *name, size_t ring)
{
    struct perf_merge_record raw;
    struct perf_record record;
    assert_true(perf_merge_next(fakes->merge, &raw));
    assert_int_equal(perf_record_parse(&test_layout, raw.bytes, raw.size, &record), 0);
    assert_string_equal(record.comm.name, name);
    assert_int_equal(raw.ring, ring);
}

static void assert_round_ends(struct fake_rings *fakes)
{
    struct perf_merge_record raw;
    assert_false(perf_merge_next(fakes->merge, &raw));
}

static void test_rings_are_merged_by_time(void **unused)
{
    (void)unused;
    struct fake_rings fakes;
    fake_rings_init(&fakes);
    write_comm(&fakes.rings[0], "second", 20);
    write_comm(&fakes.rings[0], "fifth", 50);
    write_comm(&fakes.rings[1], "first", 10);
    write_comm(&fakes.rings[1], "fourth", 40);
    write_comm(&fakes.rings[2], "third", 30);
    assert_true(perf_merge_begin(fakes.merge));
    assert_next(&fakes, "first", 1);
    assert_next(&fakes, "second", 0);
    assert_next(&fakes, "third", 2);
    assert_next(&fakes, "fourth", 1);
    assert_next(&fakes, "fifth", 0);
    assert_round_ends(&fakes);
    assert_false(perf_merge_begin(fakes.merge));
    perf_merge_free(fakes.merge);
}

/* The kernel writes while a round is read: its records wait for the next, even those that are earlier. */
static void test_what_comes_during_a_round_waits_for_the_next(void **unused)
{
    (void)unused;
    struct fake_rings fakes;
    fake_rings_init(&fakes);
    write_comm(&fakes.rings[0], "a", 10);
    write_comm(&fakes.rings[0], "c", 30);
    assert_true(perf_merge_begin(fakes.merge));
    assert_next(&fakes, "a", 0);
    write_comm(&fakes.rings[1], "b", 20);
    write_comm(&fakes.rings[0], "d", 40);
    assert_next(&fakes, "c", 0);
    assert_round_ends(&fakes);
    assert_true(perf_merge_begin(fakes.merge));
    assert_next(&fakes, "b", 1);
    assert_next(&fakes, "d", 0);
    assert_round_ends(&fakes);
    perf_merge_free(fakes.merge);
}

static void test_round_over_damage_ends(void **unused)
{
    (void)unused;
    struct fake_rings fakes;
    fake_rings_init(&fakes);
    write_comm(&fakes.rings[0], "good", 10);
    size_t bad_at = fakes.rings[0].page.data_head;
    write_comm(&fakes.rings[0], "bad", 20);
    memset(fakes.rings[0].data + bad_at + 6, 0xff, 2);
    write_comm(&fakes.rings[1], "other", 30);
    assert_true(perf_merge_begin(fakes.merge));
    assert_next(&fakes, "good", 0);
    assert_next(&fakes, "other", 1);
    assert_round_ends(&fakes);
    assert_false(perf_merge_begin(fakes.merge));
    assert_int_equal(fakes.rings[0].ring.damaged, 1);
    perf_merge_free(fakes.merge);
}

static void test_many_records_stay_in_order_over_many_rounds(void **unused)
{
    (void)unused;
    struct fake_rings fakes;
    fake_rings_init(&fakes);
    uint64_t time = 0, last = 0, read = 0, state = 1;
    while (read < 3000) {
        for (int i = 0; i < 12; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            struct fake_ring *fake = &fakes.rings[(state >> 40) % 3];
            if (fake->page.data_head - fake->page.data_tail < RING_SIZE - 64)
                write_comm(fake, "x", ++time);
        }
        struct perf_merge_record raw;
        assert_true(perf_merge_begin(fakes.merge));
        for (; perf_merge_next(fakes.merge, &raw); read++) {
            struct perf_record record;
            assert_int_equal(perf_record_parse(&test_layout, raw.bytes, raw.size, &record), 0);
            assert_int_equal(record.time, last + 1);
            last = record.time;
        }
    }
    perf_merge_free(fakes.merge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_survive_the_end_of_the_ring),
        cmocka_unit_test(test_record_that_makes_no_sense_empties_the_ring),
        cmocka_unit_test(test_head_that_ran_away_does_no_harm),
        cmocka_unit_test(test_rings_are_merged_by_time),
        cmocka_unit_test(test_what_comes_during_a_round_waits_for_the_next),
        cmocka_unit_test(test_round_over_damage_ends),
        cmocka_unit_test(test_many_records_stay_in_order_over_many_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

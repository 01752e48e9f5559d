/* Chunks give back what was put in, alone, and survive damage. */
#include "spool/chunk.h"
#include "support/flat_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool put(struct chunk_writer *writer, const struct sample *sample)
{
    struct spool_record record;
    flat_sample_to_record(sample, &record);
    return chunk_writer_append(writer, record.kind, &record.metadata);
}

static int get(struct chunk_reader *reader, struct sample *sample)
{
    struct spool_record record;
    int code = chunk_reader_next(reader, &record, NULL);
    if (code == 1)
        flat_sample_of(&record, sample);
    return code;
}

enum { THREADS = 5, DEEPEST = 60 };

/* xorshift64*, so that a failing case can be repeated. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

struct recorded {
    struct sample sample;
    uint64_t frames[DEEPEST];
};

/* A sample like its thread's previous one, with another leaf part. */
static void vary(struct recorded *next, const struct recorded *previous, uint64_t *state)
{
    uint32_t before = previous->sample.frame_count;
    uint32_t kept = before ? (uint32_t)(next_random(state) % (before + 1)) : 0;
    uint32_t fresh = next_random(state) % 4 ? (uint32_t)(next_random(state) % 6) : 0;
    if (kept + fresh > DEEPEST)
        fresh = DEEPEST - kept;
    uint32_t count = kept + fresh;
    for (uint32_t i = 0; i < fresh; i++)
        next->frames[i] = next_random(state) >> (next_random(state) % 60);
    memcpy(next->frames + fresh, previous->frames + before - kept, kept * sizeof(uint64_t));
    next->sample = (struct sample){
        .thread = previous->sample.thread,
        .cpu = (uint32_t)(next_random(state) % 3),
        .time = previous->sample.time + next_random(state) % 2000000,
        .cpu_time = next_random(state) % 1000000,
        .flags = next_random(state) % 5 ? 0 : SAMPLE_TRUNCATED,
        .frame_count = count,
        .kernel_frame_count = (uint32_t)(next_random(state) % (count + 1)),
        .frames = next->frames,
    };
    if (next_random(state) % 4 == 0) {
        next->sample.wait = 1 + next_random(state) % UINT64_C(5000000000);
        next->sample.reason = (uint32_t)(next_random(state) % 9);
        next->sample.object = (uint32_t)(next_random(state) % 70000);
        next->sample.flags |= next_random(state) % 2 ? SAMPLE_WAIT_GOES_ON : 0;
        next->sample.waker = next_random(state) % 2 ? (uint32_t)(next_random(state) % 70000) : 0;
    } else if (next_random(state) % 4 == 0) {
        next->sample.cpu_time = 0;
        next->sample.event = 1 + (uint32_t)(next_random(state) % 16);
        next->sample.period = next_random(state) >> (next_random(state) % 64);
    }
}

static void assert_same_sample(const struct sample *a, const struct sample *b)
{
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->cpu, b->cpu);
    assert_true(a->time == b->time);
    assert_true(a->cpu_time == b->cpu_time);
    assert_true(a->wait == b->wait);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->object, b->object);
    assert_int_equal(a->waker, b->waker);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->event, b->event);
    assert_true(a->period == b->period);
    assert_int_equal(a->frame_count, b->frame_count);
    assert_int_equal(a->kernel_frame_count, b->kernel_frame_count);
    if (a->frame_count)
        assert_memory_equal(a->frames, b->frames, a->frame_count * sizeof(uint64_t));
}

static void test_samples_come_back_as_they_were(void **unused)
{
    (void)unused;
    uint64_t state = 42;
    struct chunk_writer *writer = chunk_writer_new();
    struct chunk_reader *reader = chunk_reader_new();
    struct recorded *all = calloc(20000, sizeof(*all));
    struct recorded last[THREADS];
    memset(last, 0, sizeof(last));
    for (uint32_t i = 0; i < THREADS; i++) {
        last[i].sample.thread = i * 1000003;
        last[i].sample.time = UINT64_C(123456789012345);
    }
    for (int round = 0; round < 20; round++) {
        size_t count = 0;
        chunk_writer_reset(writer);
        for (;; count++) {
            struct recorded *previous = &last[next_random(&state) % THREADS];
            vary(&all[count], previous, &state);
            if (!put(writer, &all[count].sample))
                break;
            *previous = all[count];
        }
        assert_in_range(count, 1000, 19999);
        size_t size;
        const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
        assert_in_range(size, 1, CHUNK_SIZE);
        chunk_reader_start(reader, bytes, size);
        struct sample got;
        for (size_t i = 0; i < count; i++) {
            all[i].sample.frames = all[i].frames;
            assert_int_equal(get(reader, &got), 1);
            assert_same_sample(&got, &all[i].sample);
        }
        assert_int_equal(get(reader, &got), 0);
    }
    free(all);
    chunk_writer_free(writer);
    chunk_reader_free(reader);
}

static void test_a_sleeping_thread_costs_few_bytes(void **unused)
{
    (void)unused;
    struct chunk_writer *writer = chunk_writer_new();
    uint64_t frames[40];
    for (size_t i = 0; i < 40; i++)
        frames[i] = UINT64_C(0x7f0000000000) + i * 1000;
    struct sample sample = {.thread = 3, .cpu = 1, .time = 1000000, .frame_count = 40, .frames = frames};
    assert_true(put(writer, &sample));
    size_t first, size;
    chunk_writer_get_bytes(writer, &first);
    for (int i = 0; i < 100; i++) {
        sample.time += 1000000;
        assert_true(put(writer, &sample));
    }
    chunk_writer_get_bytes(writer, &size);
    assert_in_range(size - first, 100, 500);
    chunk_writer_free(writer);
}

static void test_a_stack_too_deep_keeps_its_leaf_part_and_is_marked(void **unused)
{
    (void)unused;
    struct chunk_writer *writer = chunk_writer_new();
    struct chunk_reader *reader = chunk_reader_new();
    uint32_t deep = CHUNK_MAX_FRAMES + 100;
    uint64_t *frames = calloc(deep, sizeof(*frames));
    uint64_t state = 7;
    for (uint32_t i = 0; i < deep; i++)
        frames[i] = next_random(&state); /* the longest encoding there is */
    struct sample sample = {.thread = 1, .time = 5, .frame_count = deep, .frames = frames};
    assert_true(put(writer, &sample));
    size_t size;
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    chunk_reader_start(reader, bytes, size);
    struct sample got;
    assert_int_equal(get(reader, &got), 1);
    assert_int_equal(got.frame_count, CHUNK_MAX_FRAMES);
    assert_int_equal(got.flags, SAMPLE_TRUNCATED);
    assert_memory_equal(got.frames, frames, CHUNK_MAX_FRAMES * sizeof(*frames));
    free(frames);
    chunk_writer_free(writer);
    chunk_reader_free(reader);
}

/* What a writer holds after these samples is read back as the same. */
static void assert_comes_back(const struct sample *samples, size_t count)
{
    struct chunk_writer *writer = chunk_writer_new();
    struct chunk_reader *reader = chunk_reader_new();
    for (size_t i = 0; i < count; i++)
        assert_true(put(writer, &samples[i]));
    size_t size;
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    chunk_reader_start(reader, bytes, size);
    struct sample got;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(get(reader, &got), 1);
        assert_same_sample(&got, &samples[i]);
    }
    assert_int_equal(get(reader, &got), 0);
    chunk_writer_free(writer);
    chunk_reader_free(reader);
}

static void test_an_empty_chunk_has_no_sample(void **unused)
{
    (void)unused;
    assert_comes_back(NULL, 0);
}

static void test_the_largest_and_smallest_values_come_back(void **unused)
{
    (void)unused;
    uint64_t far_apart[] = {UINT64_MAX, 0, UINT64_MAX, UINT64_C(1) << 63, 0};
    const struct sample samples[] = {
        {.thread = UINT32_MAX,
         .cpu = UINT32_MAX,
         .time = UINT64_MAX,
         .cpu_time = UINT64_MAX,
         .flags = ~(uint32_t)(SAMPLE_WAIT_GOES_ON | SAMPLE_COUNTERS | SAMPLE_COUNTERS_BASE)},
        {.thread = 0, .frame_count = 5, .kernel_frame_count = 5, .frames = far_apart},
        {.thread = UINT32_MAX, .time = UINT64_MAX, .frame_count = 5, .frames = far_apart},
    };
    assert_comes_back(samples, 3);
}

/* Samples of other CPUs come a little late. */
static void test_zeros_of_waits_and_counters_come_back(void **unused)
{
    (void)unused;
    static const struct spool_wait waits[] = {{.time_ns = 9, .wait_ns = 7, .unseen_ns = 3, .waker = 2},
                                              {.time_ns = 20, .wait_ns = 7}};
    static const struct spool_counters counters[] = {{.time_ns = 9, .since_ns = 4}, {.time_ns = 20}};
    struct chunk_writer *writer = chunk_writer_new();
    struct chunk_reader *reader = chunk_reader_new();
    struct spool_record record;
    size_t size;
    for (int i = 0; i < 2; i++) {
        assert_true(chunk_writer_append(writer, SPOOL_WAIT, &waits[i]));
        assert_true(chunk_writer_append(writer, SPOOL_COUNTERS, &counters[i]));
    }
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    chunk_reader_start(reader, bytes, size);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chunk_reader_next(reader, &record, NULL), 1);
        assert_int_equal(record.wait.wait_ns, waits[i].wait_ns);
        assert_int_equal(record.wait.unseen_ns, waits[i].unseen_ns);
        assert_int_equal(record.wait.waker, waits[i].waker);
        assert_int_equal(chunk_reader_next(reader, &record, NULL), 1);
        assert_int_equal(record.counters.time_ns, counters[i].time_ns);
        assert_int_equal(record.counters.since_ns, counters[i].since_ns);
    }
    chunk_writer_free(writer);
    chunk_reader_free(reader);
}

static void test_time_may_run_backwards(void **unused)
{
    (void)unused;
    uint64_t frame[] = {0x1000};
    struct sample samples[50];
    for (uint64_t i = 0; i < 50; i++)
        samples[i] =
            (struct sample){.thread = 1, .cpu = i % 2, .time = 1000000 - i * 20000, .frame_count = 1, .frames = frame};
    assert_comes_back(samples, 50);
}

static void test_stacks_that_grow_and_shrink_come_back(void **unused)
{
    (void)unused;
    enum { COUNT = 2 * DEEPEST };
    uint64_t outer[DEEPEST];
    struct sample samples[COUNT];
    for (uint32_t i = 0; i < DEEPEST; i++)
        outer[i] = 0x400000 + i;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t depth = i < DEEPEST ? i : COUNT - i; /* 0 to DEEPEST and back: the same callers all the way */
        samples[i] = (struct sample){.thread = 7, .time = i, .frame_count = depth, .frames = outer + DEEPEST - depth};
    }
    assert_comes_back(samples, COUNT);
}

static void test_the_same_addresses_may_become_kernel_frames(void **unused)
{
    (void)unused;
    uint64_t frames[] = {3, 2, 1};
    const struct sample samples[] = {
        {.thread = 1, .frame_count = 3, .frames = frames},
        {.thread = 1, .frame_count = 3, .kernel_frame_count = 2, .frames = frames},
        {.thread = 1, .frame_count = 3, .kernel_frame_count = 2, .frames = frames},
        {.thread = 1, .frame_count = 3, .frames = frames},
    };
    assert_comes_back(samples, 4);
}

static void test_a_sample_that_does_not_fit_leaves_the_chunk_as_it_was(void **unused)
{
    (void)unused;
    struct chunk_writer *writer = chunk_writer_new();
    struct chunk_reader *reader = chunk_reader_new();
    uint64_t frames[DEEPEST], state = 11;
    struct sample sample = {.thread = 1, .frame_count = DEEPEST, .frames = frames};
    size_t count = 0, full, after;
    do {
        for (uint32_t i = 0; i < DEEPEST; i++)
            frames[i] = next_random(&state);
        sample.time = ++count;
    } while (put(writer, &sample));
    chunk_writer_get_bytes(writer, &full);
    sample.thread = 2; /* nor does it fit for another thread */
    assert_false(put(writer, &sample));
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &after);
    assert_int_equal(after, full);
    chunk_reader_start(reader, bytes, after);
    struct sample got;
    for (size_t i = 1; i < count; i++) {
        assert_int_equal(get(reader, &got), 1);
        assert_int_equal(got.time, i);
    }
    assert_int_equal(get(reader, &got), 0);

    chunk_writer_reset(writer);
    assert_true(put(writer, &sample));
    bytes = chunk_writer_get_bytes(writer, &after);
    chunk_reader_start(reader, bytes, after);
    assert_int_equal(get(reader, &got), 1);
    assert_same_sample(&got, &sample);
    chunk_writer_free(writer);
    chunk_reader_free(reader);
}

static void test_damaged_bytes_end_in_an_error_not_in_a_crash(void **unused)
{
    (void)unused;
    uint64_t state = 99;
    struct chunk_writer *writer = chunk_writer_new();
    struct chunk_reader *reader = chunk_reader_new();
    struct recorded last = {.sample = {.thread = 1, .time = 1}}, next;
    for (int i = 0; i < 50; i++) {
        vary(&next, &last, &state);
        assert_true(put(writer, &next.sample));
        last = next;
    }
    size_t size;
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    struct sample got;
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut + 1); /* of this size, so that the sanitizer sees a read past it */
        memcpy(part, bytes, cut);
        chunk_reader_start(reader, part, cut);
        int samples = 0;
        while (get(reader, &got) == 1)
            samples++;
        assert_in_range(samples, 0, 49);
        free(part);
    }
    unsigned char *copy = malloc(size);
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, bytes, size);
        for (int flips = 0; flips < 4; flips++)
            copy[next_random(&state) % size] = (unsigned char)next_random(&state);
        chunk_reader_start(reader, copy, size);
        while (get(reader, &got) == 1)
            assert_in_range(got.frame_count, 0, CHUNK_MAX_FRAMES);
    }
    free(copy);
    chunk_writer_free(writer);
    chunk_reader_free(reader);
}

static void test_the_deepest_stacks_may_share_all_their_frames(void **unused)
{
    (void)unused;
    static uint64_t frames[CHUNK_MAX_FRAMES];
    for (uint32_t i = 0; i < CHUNK_MAX_FRAMES; i++)
        frames[i] = i;
    const struct sample samples[] = {
        {.thread = 1, .frame_count = CHUNK_MAX_FRAMES, .frames = frames},
        {.thread = 1, .frame_count = CHUNK_MAX_FRAMES, .kernel_frame_count = 2, .frames = frames},
    };
    assert_comes_back(samples, 2);
}

/* A chunk that is refused is refused for good: what follows has no meaning. */
static void assert_refused(const unsigned char *bytes, size_t size, const char *reason)
{
    struct chunk_reader *reader = chunk_reader_new();
    struct spool_record got;
    struct error err = {""};
    int code;
    chunk_reader_start(reader, bytes, size);
    while ((code = chunk_reader_next(reader, &got, &err)) == 1)
        assert_in_range(got.sample.frames.count, 0, CHUNK_MAX_FRAMES);
    assert_true(code < 0);
    assert_non_null(strstr(err.text, reason));
    assert_true(chunk_reader_next(reader, &got, NULL) < 0);
    chunk_reader_free(reader);
}

static void test_a_thread_number_beyond_32_bits_is_refused(void **unused)
{
    (void)unused;
    static unsigned char copy[100];
    struct chunk_writer *writer = chunk_writer_new();
    assert_true(put(writer, &(struct sample){.thread = UINT32_MAX}));
    size_t size;
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    memcpy(copy, bytes, size);
    assert_int_equal(copy[5], 0x0f); /* the last byte of the number */
    copy[5] = 0x1f;
    assert_refused(copy, sizeof(copy), "in the middle");
    chunk_writer_free(writer);
}

static void test_more_frames_than_a_stack_can_have_are_refused(void **unused)
{
    (void)unused;
    static uint64_t frames[CHUNK_MAX_FRAMES];
    static unsigned char copy[CHUNK_SIZE];
    struct chunk_writer *writer = chunk_writer_new();
    struct sample sample = {.thread = 1, .frame_count = CHUNK_MAX_FRAMES - 1, .frames = frames + 1};
    size_t size, fresh;
    for (uint32_t i = 0; i < CHUNK_MAX_FRAMES; i++)
        frames[i] = i;
    assert_true(put(writer, &sample));
    sample.frame_count = CHUNK_MAX_FRAMES; /* the same and one more */
    sample.frames = frames;
    assert_true(put(writer, &sample));
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    memcpy(copy, bytes, size);
    fresh = size - 2; /* the number of frames before the frame itself; what follows is zero and reads as frames */
    assert_int_equal(copy[fresh], 1);
    copy[fresh] = 100;
    assert_refused(copy, sizeof(copy), "implausible");
    chunk_writer_free(writer);
}

/* What the chunk before said of a thread is not known to who reads this one alone. */
static void test_a_chunk_is_read_without_those_before_it(void **unused)
{
    (void)unused;
    uint64_t frames[] = {1, 2, 3};
    const struct sample sample = {.thread = 1, .cpu = 2, .frame_count = 3, .kernel_frame_count = 1, .frames = frames};
    struct chunk_writer *writer = chunk_writer_new();
    for (int i = 0; i < 3; i++) {
        struct chunk_reader *reader = chunk_reader_new();
        struct sample got;
        size_t size;
        chunk_writer_reset(writer);
        assert_true(put(writer, &sample));
        const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
        chunk_reader_start(reader, bytes, size);
        assert_int_equal(get(reader, &got), 1);
        assert_same_sample(&got, &sample);
        chunk_reader_free(reader);
    }
    chunk_writer_free(writer);
}

static void test_a_chunk_that_begins_with_no_thread_is_refused(void **unused)
{
    (void)unused;
    const struct sample sample = {.thread = 1};
    struct chunk_writer *writer = chunk_writer_new();
    size_t first, size;
    assert_true(put(writer, &sample));
    chunk_writer_get_bytes(writer, &first);
    assert_true(put(writer, &sample));
    const unsigned char *bytes = chunk_writer_get_bytes(writer, &size);
    assert_refused(bytes + first, size - first, "in the middle");
    chunk_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_come_back_as_they_were),
        cmocka_unit_test(test_a_sleeping_thread_costs_few_bytes),
        cmocka_unit_test(test_a_stack_too_deep_keeps_its_leaf_part_and_is_marked),
        cmocka_unit_test(test_an_empty_chunk_has_no_sample),
        cmocka_unit_test(test_the_largest_and_smallest_values_come_back),
        cmocka_unit_test(test_zeros_of_waits_and_counters_come_back),
        cmocka_unit_test(test_time_may_run_backwards),
        cmocka_unit_test(test_stacks_that_grow_and_shrink_come_back),
        cmocka_unit_test(test_the_same_addresses_may_become_kernel_frames),
        cmocka_unit_test(test_a_sample_that_does_not_fit_leaves_the_chunk_as_it_was),
        cmocka_unit_test(test_damaged_bytes_end_in_an_error_not_in_a_crash),
        cmocka_unit_test(test_the_deepest_stacks_may_share_all_their_frames),
        cmocka_unit_test(test_a_thread_number_beyond_32_bits_is_refused),
        cmocka_unit_test(test_more_frames_than_a_stack_can_have_are_refused),
        cmocka_unit_test(test_a_chunk_is_read_without_those_before_it),
        cmocka_unit_test(test_a_chunk_that_begins_with_no_thread_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

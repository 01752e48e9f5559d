/*
 * Whether the 95 % intervals of estimated waits contain the truth: a thread with short waits of three reasons, of which
 * readings at random times meet some, as record/waits.c stores them.
 */
#include "random_profile.h"
#include "support/wait_profile.h"
#include "tree/wait_groups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RUNS = 2000, WAITS = 12000, REASONS = 3, CLASSES = 10 };

static const int reasons[REASONS] = {REASON_LOCK, REASON_SLEEP, REASON_PIPE};
static const double reading_interval = 4; /* ms of waiting, on average */

struct truth {
    double total[REASONS], count[REASONS];
};

/* A number from 0 to 1, both excluded. */
static double chance(struct random *random)
{
    return (random_below(random, 1 << 24) + 0.5) / (1 << 24);
}

/* ms: 16 us to 1 ms, most of them short. */
static double random_length(struct random *random)
{
    return 0.016 * pow(2, 6 * chance(random) * chance(random));
}

static int class_of(double ms)
{
    int number = 0;
    for (double limit = 0.016; ms >= limit; limit *= 2)
        number++;
    return number;
}

/* The waits that readings meet stand for those of their class since the last one; the rest becomes the sum of waits
 * that were not seen. */
static void make_waits(struct profile *profile, struct random *random, struct truth *truth)
{
    struct thread *thread = wait_profile_thread(profile, "worker", 0);
    uint32_t stacks[REASONS], main = wait_profile_call(profile, PROFILE_NONE, "main", -1);
    static const char *const names[REASONS] = {"lock", "sleep", "pipe"};
    for (int i = 0; i < REASONS; i++)
        stacks[i] = wait_profile_call(profile, main, names[i], reasons[i]);
    double unseen[CLASSES] = {0}, now = 0, next = -reading_interval * log(chance(random)), waited = 0;
    *truth = (struct truth){0};
    for (int i = 0; i < WAITS; i++) {
        double length = random_length(random), draw = chance(random);
        int reason = draw < 0.1 ? 0 : draw < 0.4 ? 1 : 2, class = class_of(length);
        now += 0.01;
        truth->total[reason] += length;
        truth->count[reason]++;
        bool is_read = next < waited + length;
        for (waited += length; next < waited;)
            next -= reading_interval * log(chance(random));
        unseen[class] += length;
        if (is_read) {
            wait_profile_wait(thread, stacks[reason], now, now + length, 0.01);
            thread->samples.weight[thread->samples.length - 1] = unseen[class];
            unseen[class] = 0;
        }
        now += length;
    }
    thread->end = now;
}

static void test_intervals_contain_the_truth(void **state)
{
    size_t totals[REASONS] = {0}, counts[REASONS] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct random random = {seed * 7 + 1};
        struct profile profile;
        struct truth truth;
        struct error err;
        struct wait_groups groups = {0};
        const uint32_t threads[] = {3};
        wait_profile_make(&profile);
        make_waits(&profile, &random, &truth);
        struct engine *engine = engine_new(&profile, &err);
        assert_non_null(engine);
        const struct tree_query query = {
            .threads = threads, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_OFF_CPU_TIME};
        assert_int_equal(engine_set_query(engine, &query, &err), 0);
        assert_int_equal(engine_group_waits(engine, WAITS_BY_REASON, &groups, &err), 0);
        for (size_t i = 0; i < groups.list.length; i++) {
            const struct wait_group *group = &groups.list.data[i];
            for (int at = 0; at < REASONS; at++) {
                if (group->key != (uint32_t)reasons[at])
                    continue;
                totals[at] += fabs(group->total - truth.total[at]) <= group->total_error;
                counts[at] += fabs(group->count - truth.count[at]) <= group->count_error;
            }
        }
        wait_groups_destroy(&groups);
        engine_free(engine);
    }
    for (int at = 0; at < REASONS; at++)
        print_message("reason %d: %.1f %% of the totals, %.1f %% of the counts\n", at,
                      100.0 * (double)totals[at] / RUNS, 100.0 * (double)counts[at] / RUNS);
    for (int at = 0; at < REASONS; at++) {
        assert_in_range(totals[at], RUNS * 90 / 100, RUNS * 995 / 1000);
        assert_in_range(counts[at], RUNS * 90 / 100, RUNS * 99 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_contain_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

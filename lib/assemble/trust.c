#include "assemble/trust.h"

#include "assemble/replay_events.h"
#include "base/search.h"
#include "spool/info.h"

static uint64_t count_requested(uint64_t cpu_time, uint64_t interval)
{
    return interval ? (cpu_time + interval / 2) / interval : 0;
}

/* Returns the requested samples of all threads. The counts of a flight recorder include dropped samples. */
static uint64_t count_all_requested(const struct replay *replay)
{
    uint64_t used = replay_get_info_number(replay, INFO_CPU_TIME, 0);
    if (replay->spool.keeps_last || replay_has_only_events(replay))
        return 0;
    return count_requested(used > replay->cpu_time.covered ? used : replay->cpu_time.covered, replay->infos.interval);
}

static struct trust_counts count_thread(const struct replay *replay, const struct replay_thread *thread)
{
    return (struct trust_counts){
        .requested = count_requested(thread->cpu_time.covered + thread->cpu_time.ran_to_waits + thread->cpu_time.rest,
                                     replay->infos.interval),
        .samples = thread->samples,
        .truncated = thread->truncated,
        .completed_live = thread->completed_live,
        .without_cfi = thread->without_cfi};
}

DEFINE_COMPARE(compare_samples_descending, struct thread_trust,
               ORDER_THEN(b->counts.samples, a->counts.samples, ORDER(a->thread, b->thread)))

static bool is_unnamed(const struct replay *replay, const struct symbolization *symbolization, uint32_t stack)
{
    return stack != REPLAY_NONE && symbolization->named.data[replay->stacks.items.data[stack].frame].is_unnamed;
}

static int count_unnamed(struct thread_trust *thread, struct sample_cursor *cursor, const struct replay *replay,
                         const struct symbolization *symbolization, struct error *err)
{
    struct stored_sample sample = {0};
    int code = sample_cursor_start(cursor, replay->samples.store, thread->thread, err);
    while (!code && (code = sample_cursor_next(cursor, &sample, err)) > 0) {
        thread->counts.unnamed += !stored_sample_is_wait(&sample) && is_unnamed(replay, symbolization, sample.stack);
        code = 0;
    }
    return code;
}

static int list_threads(struct trust *trust, const struct replay *replay, struct error *err)
{
    for (size_t i = 0; i < replay->threads.length; i++) {
        const struct replay_thread *thread = &replay->threads.data[i];
        if (!thread->samples)
            continue;
        struct thread_trust row = {.thread = (uint32_t)i, .counts = count_thread(replay, thread)};
        if (!array_push(&trust->threads, row))
            return error_no_memory(err);
        trust->all.samples += row.counts.samples;
        trust->all.truncated += row.counts.truncated;
        trust->all.completed_live += row.counts.completed_live;
        trust->all.without_cfi += row.counts.without_cfi;
    }
    array_sort(&trust->threads, compare_samples_descending);
    if (trust->threads.length > TRUST_THREADS) {
        trust->others = trust->threads.length - TRUST_THREADS;
        trust->threads.length = TRUST_THREADS;
    }
    return 0;
}

int trust_find(struct trust *trust, const struct replay *replay, const struct symbolization *symbolization,
               struct error *err)
{
    trust->all.requested = count_all_requested(replay);
    for (size_t i = 0; i < replay->stacks.frames.length; i++)
        if (symbolization->named.data[i].is_unnamed)
            trust->all.unnamed += replay->stacks.frames.data[i].samples;
    int code = list_threads(trust, replay, err);
    struct sample_cursor cursor = {0};
    for (size_t i = 0; !code && trust->all.unnamed && !trust->is_quick && i < trust->threads.length; i++)
        code = count_unnamed(&trust->threads.data[i], &cursor, replay, symbolization, err);
    sample_cursor_destroy(&cursor);
    return code;
}

void trust_destroy(struct trust *trust)
{
    array_free(&trust->threads);
}

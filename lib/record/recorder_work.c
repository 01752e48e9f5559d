#include "record/recorder_work.h"

#include "os/clock.h"

enum { RECORDS_MAX = 20000 }; /* in a spool */

static int store_record(struct recorder_work *work, const char *name, uint64_t start, uint64_t end, struct error *err)
{
    const struct spool_recorder_work record = {.time_ns = start, .end_ns = end, .name = name};
    if (work->records >= RECORDS_MAX)
        return 0;
    work->records++;
    return spool_write_recorder_work(work->spool, &record, err);
}

int recorder_work_store(struct recorder_work *work, const char *name, uint64_t start, struct error *err)
{
    enum { LONG_NS = 1000000 };
    uint64_t now = monotonic_ns();
    return now < start + LONG_NS ? 0 : store_record(work, name, start, now, err);
}

/* Stores a record about the stacks that were unwound since the last call. */
static int flush(void *self, uint64_t now, struct error *err)
{
    struct recorder_work *work = self;
    char name[96];
    uint64_t start = work->since, stacks = work->stacks;
    snprintf(name, sizeof(name), "Unwind: %.1f ms for %" PRIu64 " stack%s", (double)work->unwinding / 1e6, stacks,
             stacks == 1 ? "" : "s");
    work->unwinding = work->stacks = 0;
    work->since = now;
    return stacks ? store_record(work, name, start, now, err) : 0;
}

struct producer recorder_work_as_producer(struct recorder_work *work)
{
    return (struct producer){.self = work, .flush = flush, .finish = flush};
}

#include "assemble/replay_marks.h"

/* A CPU number above it comes from a damaged spool. */
enum { MOST_CPUS = 65536 };

static int add(struct replay_marks *marks, const struct replay_mark *mark, struct error *err)
{
    return array_push(&marks->items, *mark) ? 0 : error_no_memory(err);
}

/* The kernel tells of lost samples when its buffer has room again: they were lost since the CPU's last one. */
static int add_lost(struct replay_marks *marks, const struct spool_event *event, struct error *err)
{
    struct replay_mark mark = {
        .kind = REPLAY_MARK_LOST, .start = event->time, .end = event->time, .count = event->count, .cpu = event->cpu};
    if (event->start)
        mark.start = event->start;
    else if (event->cpu < marks->last_on_cpu.length && marks->last_on_cpu.data[event->cpu])
        mark.start = marks->last_on_cpu.data[event->cpu];
    if (mark.start > mark.end)
        mark.start = mark.end;
    marks->lost += event->count;
    return add(marks, &mark, err);
}

/* The last mark of its kind that has no end yet; NULL: none. */
static struct replay_mark *find_open(struct replay_marks *marks, enum replay_mark_kind kind)
{
    for (size_t i = marks->items.length; i-- > 0;)
        if (marks->items.data[i].kind == kind)
            return marks->items.data[i].end ? NULL : &marks->items.data[i];
    return NULL;
}

static void close_open(struct replay_marks *marks, enum replay_mark_kind kind, uint64_t time)
{
    struct replay_mark *open = find_open(marks, kind);
    if (open)
        open->end = time > open->start ? time : open->start;
}

int replay_marks_event(struct replay_marks *marks, const struct spool_event *event, struct error *err)
{
    struct replay_mark mark = {
        .start = event->time, .cpu = SPOOL_NO_NUMBER, .text = STRING_NONE, .count = event->count};
    switch (event->kind) {
    case SPOOL_LOST:
        return add_lost(marks, event, err);
    case SPOOL_PAUSED:
        mark.kind = REPLAY_MARK_PAUSED;
        return find_open(marks, REPLAY_MARK_PAUSED) ? 0 : add(marks, &mark, err);
    case SPOOL_RESUMED:
        close_open(marks, REPLAY_MARK_PAUSED, event->time);
        return 0;
    case SPOOL_MARK:
        mark.kind = REPLAY_MARK_USER;
        mark.end = event->time;
        mark.text = strings_add_z(&marks->texts, event->value);
        return mark.text == STRING_NONE ? error_no_memory(err) : add(marks, &mark, err);
    case SPOOL_RUN:
        mark.kind = REPLAY_MARK_RUN;
        close_open(marks, REPLAY_MARK_RUN, event->time);
        return add(marks, &mark, err);
    default:
        return 0;
    }
}

int replay_marks_sample(struct replay_marks *marks, const struct sample *sample, struct error *err)
{
    if (sample->cpu >= MOST_CPUS)
        return 0;
    while (marks->last_on_cpu.length <= sample->cpu)
        if (!array_push_zero(&marks->last_on_cpu))
            return error_no_memory(err);
    if (sample->time > marks->last_on_cpu.data[sample->cpu])
        marks->last_on_cpu.data[sample->cpu] = sample->time;
    return 0;
}

int replay_marks_end(struct replay_marks *marks, uint64_t lost, uint64_t end, struct error *err)
{
    if (lost <= marks->lost)
        return 0;
    struct replay_mark mark = {
        .kind = REPLAY_MARK_LOST, .start = end, .end = end, .count = lost - marks->lost, .cpu = SPOOL_NO_NUMBER};
    marks->lost = lost;
    return add(marks, &mark, err);
}

void replay_marks_drop_before(struct replay_marks *marks, uint64_t time)
{
    size_t kept = 0;
    for (size_t i = 0; i < marks->items.length; i++)
        if (!marks->items.data[i].end || marks->items.data[i].end >= time)
            marks->items.data[kept++] = marks->items.data[i];
    marks->items.length = kept;
}

void replay_marks_destroy(struct replay_marks *marks)
{
    strings_destroy(&marks->texts);
    array_free(&marks->items);
    array_free(&marks->last_on_cpu);
}

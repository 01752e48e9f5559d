#include "assemble/replay_marks.h"

/* Limit of CPU numbers: a larger number comes from a damaged spool. */
enum { MOST_CPUS = 65536 };

static int add_mark(struct replay_marks *marks, const struct replay_mark *mark, struct error *err)
{
    return array_push(&marks->items, *mark) ? 0 : error_no_memory(err);
}

/* Adds a loss of samples. The kernel reports a loss when the full ring has free space again, so the loss starts at the
 * CPU's last sample. */
int replay_marks_add_lost(struct replay_marks *marks, const struct spool_lost *lost, struct error *err)
{
    struct replay_mark mark = {
        .kind = REPLAY_MARK_LOST, .start = lost->time_ns, .end = lost->time_ns, .count = lost->count, .cpu = lost->cpu};
    if (lost->start_ns)
        mark.start = lost->start_ns;
    else if (lost->cpu < marks->last_on_cpu.length && marks->last_on_cpu.data[lost->cpu])
        mark.start = marks->last_on_cpu.data[lost->cpu];
    if (mark.start > mark.end)
        mark.start = mark.end;
    marks->lost += lost->count;
    return add_mark(marks, &mark, err);
}

/* Returns the last mark of a kind without an end, or NULL for none. */
static struct replay_mark *find_open_mark(struct replay_marks *marks, enum replay_mark_kind kind)
{
    for (size_t i = marks->items.length; i-- > 0;)
        if (marks->items.data[i].kind == kind)
            return marks->items.data[i].end ? NULL : &marks->items.data[i];
    return NULL;
}

static void close_open(struct replay_marks *marks, enum replay_mark_kind kind, uint64_t time)
{
    struct replay_mark *open = find_open_mark(marks, kind);
    if (open)
        open->end = time > open->start ? time : open->start;
}

static struct replay_mark get_mark_at(enum replay_mark_kind kind, uint64_t time)
{
    return (struct replay_mark){.kind = kind, .start = time, .cpu = SPOOL_NO_NUMBER, .text = STRING_NONE};
}

int replay_marks_start_pause(struct replay_marks *marks, const struct spool_paused *paused, struct error *err)
{
    struct replay_mark mark = get_mark_at(REPLAY_MARK_PAUSED, paused->time_ns);
    return find_open_mark(marks, REPLAY_MARK_PAUSED) ? 0 : add_mark(marks, &mark, err);
}

void replay_marks_end_pause(struct replay_marks *marks, const struct spool_resumed *resumed)
{
    close_open(marks, REPLAY_MARK_PAUSED, resumed->time_ns);
}

int replay_marks_add_user_mark(struct replay_marks *marks, const struct spool_user_mark *user, struct error *err)
{
    struct replay_mark mark = get_mark_at(REPLAY_MARK_USER, user->time_ns);
    mark.end = user->time_ns;
    mark.text = strings_add_z(&marks->texts, user->text);
    return mark.text == STRING_NONE ? error_no_memory(err) : add_mark(marks, &mark, err);
}

int replay_marks_add_run(struct replay_marks *marks, const struct spool_run *run, struct error *err)
{
    struct replay_mark mark = get_mark_at(REPLAY_MARK_RUN, run->time_ns);
    mark.count = run->run;
    close_open(marks, REPLAY_MARK_RUN, run->time_ns);
    return add_mark(marks, &mark, err);
}

int replay_marks_store_sample(struct replay_marks *marks, uint32_t cpu, uint64_t time, struct error *err)
{
    if (cpu >= MOST_CPUS)
        return 0;
    while (marks->last_on_cpu.length <= cpu)
        if (!array_push_zero(&marks->last_on_cpu))
            return error_no_memory(err);
    if (time > marks->last_on_cpu.data[cpu])
        marks->last_on_cpu.data[cpu] = time;
    return 0;
}

int replay_marks_end(struct replay_marks *marks, uint64_t lost, uint64_t end, struct error *err)
{
    if (lost <= marks->lost)
        return 0;
    struct replay_mark mark = {
        .kind = REPLAY_MARK_LOST, .start = end, .end = end, .count = lost - marks->lost, .cpu = SPOOL_NO_NUMBER};
    marks->lost = lost;
    return add_mark(marks, &mark, err);
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

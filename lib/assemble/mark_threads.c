#include "assemble/mark_threads.h"

#include "base/search.h"

/* A thread with its tid. */
struct known_thread {
    uint32_t tid, thread;
    uint64_t start;
};

DEFINE_COMPARE(compare_threads, struct known_thread,
               ORDER_THEN(a->tid, b->tid, ORDER_THEN(a->start, b->start, ORDER(a->thread, b->thread))))

/* Returns the thread with this pid and tid at this time; before the first such thread, the first. */
static uint32_t find_thread(const struct replay *replay, const struct known_thread *known, size_t count, uint32_t pid,
                            uint32_t tid, uint64_t time)
{
    size_t at = search_count(known, count, element->tid < tid || (element->tid == tid && element->start <= time));
    if (at && known[at - 1].tid == tid)
        at--;
    if (at == count || known[at].tid != tid)
        return REPLAY_NONE;
    const struct replay_thread *thread = &replay->threads.data[known[at].thread];
    return replay->processes.data[thread->process].pid == pid ? known[at].thread : REPLAY_NONE;
}

static uint64_t get_mark_end(const struct program_mark *mark)
{
    return mark->kind == SPOOL_MARK_SPAN ? mark->end : mark->time;
}

/* Sets has_marks in threads with marks, so that they have a row even without samples, up to a limit of rows. */
static void set_owner(struct replay *replay, uint32_t number, size_t *rows)
{
    enum { MOST_ROWS = 1000 };
    struct replay_thread *thread = &replay->threads.data[number];
    const struct replay_process *process = &replay->processes.data[thread->process];
    if (thread->has_marks || (!replay_is_shown(replay, thread) && ++*rows > MOST_ROWS))
        return;
    thread->has_marks = true;
    if (process->main_thread != REPLAY_NONE)
        replay->threads.data[process->main_thread].has_marks = true;
}

static void find_all_threads(struct replay *replay, const struct known_thread *known, size_t count, uint64_t first_time)
{
    struct program_marks *marks = &replay->program_marks;
    size_t kept = 0, rows = 0;
    for (size_t i = 0; i < marks->items.length; i++) {
        struct program_mark mark = marks->items.data[i];
        if (get_mark_end(&mark) < first_time)
            continue;
        mark.thread = find_thread(replay, known, count, mark.pid, mark.tid, mark.time);
        if (mark.thread == REPLAY_NONE)
            mark.thread = find_thread(replay, known, count, mark.pid, mark.pid, mark.time);
        if (mark.thread == REPLAY_NONE) {
            marks->homeless++;
            continue;
        }
        set_owner(replay, mark.thread, &rows);
        marks->items.data[kept++] = mark;
    }
    marks->items.length = kept;
}

int find_threads_of_marks(struct replay *replay, uint64_t first_time, struct error *err)
{
    size_t count = 0;
    if (!replay->program_marks.items.length && !replay->program_marks.signals.length)
        return 0;
    struct known_thread *known = malloc((replay->threads.length + 1) * sizeof(*known));
    if (!known)
        return error_no_memory(err);
    for (size_t i = 0; i < replay->threads.length; i++)
        if (replay->threads.data[i].known)
            known[count++] = (struct known_thread){
                .tid = replay->threads.data[i].tid, .thread = (uint32_t)i, .start = replay->threads.data[i].start};
    qsort(known, count, sizeof(*known), compare_threads);
    find_all_threads(replay, known, count, first_time);
    for (size_t i = 0; i < replay->program_marks.signals.length; i++) {
        struct process_signal *signal = &replay->program_marks.signals.data[i];
        signal->thread = find_thread(replay, known, count, signal->pid, signal->tid, signal->time);
    }
    free(known);
    return 0;
}

#include "assemble/assembly_window.h"

int assembly_window_begin(struct assembly *assembly, struct error *err)
{
    const struct recording_window *window = assembly->window;
    struct window_threads *threads = &assembly->window_threads;
    size_t count = assembly->replay.threads.length;
    if (window->zero)
        assembly->start_ns = window->zero;
    if (window->threads.length && !array_append(threads, window->threads.data, window->threads.length))
        return error_no_memory(err);
    while (threads->length < count)
        if (!array_push(threads, (struct window_thread){0}))
            return error_no_memory(err);
    return 0;
}

void assembly_window_set_range(struct assembly *assembly, const struct replay_thread *from, uint64_t last,
                               struct thread *thread)
{
    uint32_t number = (uint32_t)(from - assembly->replay.threads.data);
    uint64_t before = recording_window_get_thread(assembly->window, number).time, end = from->last_time;
    if (before)
        thread->start = assembly_convert_to_ms(assembly, before);
    if (!end)
        end = before ? before : from->start;
    if (from->end > end)
        end = from->end;
    if (!assembly->window->is_last)
        thread->end = assembly_convert_to_ms(assembly, end);
    else if (isnan(thread->end))
        thread->end = fmin(assembly_convert_to_ms(assembly, last), thread->process_end); /* NAN is no bound */
    if (number < assembly->window_threads.length)
        assembly->window_threads.data[number].time = end;
}

void assembly_window_move_to(struct recording_window *window, struct assembly *assembly, uint64_t end)
{
    struct window_threads before = window->threads;
    window->from = window->to;
    window->to = assembly_convert_to_ms(assembly, end);
    window->place = assembly->replay.spool.window_end;
    window->missed += assembly->replay.spool.window_missed;
    window->zero = assembly->start_ns;
    window->threads = assembly->window_threads;
    assembly->window_threads = before;
}

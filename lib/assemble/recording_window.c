#include "assemble/recording_window.h"

int recording_window_copy(struct recording_window *copy, const struct recording_window *window, struct error *err)
{
    const struct window_threads *threads = &window->threads;
    *copy = *window;
    copy->threads = (struct window_threads){0};
    return !threads->length || array_append(&copy->threads, threads->data, threads->length) ? 0 : error_no_memory(err);
}

void recording_window_destroy(struct recording_window *window)
{
    array_free(&window->threads);
}

struct window_thread recording_window_get_thread(const struct recording_window *window, uint32_t thread)
{
    return thread < window->threads.length ? window->threads.data[thread] : (struct window_thread){0};
}

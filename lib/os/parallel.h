/* Threads: a parallel loop, and detached threads. */
#pragma once

#include "base/standard.h"

#include <pthread.h>

/* Calls run(context, i) once for each i < count, starting in ascending order, on up to `threads` new threads with
 * `stack_size` bytes of stack each. Returns when all calls are done. If no thread can start, the caller's thread does
 * the work. */
void parallel_for(unsigned threads, size_t stack_size, size_t count, void (*run)(void *context, size_t i),
                  void *context);

/* Starts a detached thread with all signals blocked. Returns false if the thread cannot start. */
bool thread_start_detached(void *(*body)(void *context), void *context);

/* Initializes a condition for timed waits by the clock of make_monotonic_time_after_ms(). */
void condition_init(pthread_cond_t *condition);

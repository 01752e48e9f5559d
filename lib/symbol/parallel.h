/* Threads: a loop whose rounds run on several, and those that nobody waits for. */
#ifndef PROF_SYMBOL_PARALLEL_H
#define PROF_SYMBOL_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Calls run(context, i) once for each i < count, in ascending order of start, on up to `threads` new threads with
 * `stack_size` bytes of stack each; returns when all are done. Where no thread can be made, the caller's does it all.
 */
void parallel_for(unsigned threads, size_t stack_size, size_t count, void (*run)(void *context, size_t i),
                  void *context);

/* Starts a thread that nobody waits for; no signal goes to it. False if there is none to be had. */
bool thread_start_alone(void *(*body)(void *context), void *context);

/* Waits of this condition end by the clock of monotonic_after_ms(). */
void condition_init(pthread_cond_t *condition);

#endif

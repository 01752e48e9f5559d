/* A loop whose rounds run on several threads. */
#ifndef PROF_SYMBOL_PARALLEL_H
#define PROF_SYMBOL_PARALLEL_H

#include <stddef.h>

/* Calls run(context, i) once for each i < count, in ascending order of start, on up to `threads` new threads with
 * `stack_size` bytes of stack each; returns when all are done. Where no thread can be made, the caller's does it all.
 */
void parallel_for(unsigned threads, size_t stack_size, size_t count, void (*run)(void *context, size_t i),
                  void *context);

#endif

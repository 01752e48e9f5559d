/*
 * Names of variables: the symbols of data that contain addresses. Only symbol tables have such symbols, so prof reads
 * no debug info.
 */
#pragma once

#include "symbol/symbol.h"

/*
 * Fills `symbol`, symbol_address and symbol_size of jobs[i].answers with the variable that contains each address. All
 * are zero if no variable with a size contains the address. Runs the jobs on `threads` threads. `search` may be NULL.
 * Fails only when memory runs out; the caller frees the answers with symbol_answers_destroy() in any case.
 */
int data_symbols_find(struct symbol_job *jobs, size_t count, unsigned threads, const struct debug_search *search,
                      struct error *err);

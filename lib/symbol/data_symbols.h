/*
 * Names of variables: the symbols of data that contain addresses. Only symbol tables have such symbols, so prof reads
 * no debug info.
 */
#pragma once

#include "symbol/symbol.h"

/*
 * Fills jobs[i].answers: `symbol`, symbol_address and symbol_size of the variable with a size that contains each
 * address; all zero if none does. Runs the jobs on `threads` threads. `search` may be NULL. Fails only when memory runs
 * out; the caller frees the answers with symbol_answers_destroy() in any case.
 */
int data_symbols_find(struct symbol_job *jobs, size_t count, unsigned threads, const struct debug_search *search,
                      struct error *err);

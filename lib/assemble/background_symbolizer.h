/*
 * Names that are looked up while the recording still runs, by a thread that runs only where nothing else wants to: what
 * is known when it ends need not be waited for. The rest of the code around is looked up too, for what is still to come
 * and for the next recording.
 */
#ifndef PROF_ASSEMBLE_BACKGROUND_SYMBOLIZER_H
#define PROF_ASSEMBLE_BACKGROUND_SYMBOLIZER_H

#include "base/error.h"
#include "symbol/symbol.h"

struct background_symbolizer;

/* Starts to read the recording that is, or will be, at `spool_path`, with a symbolizer of these options. It searches on
 * this machine alone: what a server has is fetched once the target has ended, which would notice it. The texts of
 * options->search must last as long as the process. NULL if all this is not possible: it is not needed either. */
struct background_symbolizer *background_symbolizer_start(const char *spool_path,
                                                          const struct symbolizer_options *options);

/* Tells it to end, and does not wait. NULL is allowed, here and below. */
void background_symbolizer_stop(struct background_symbolizer *background);

/* Ends it. Returns the symbolizer, which knows what was looked up and is the caller's now, as is what it searches from
 * now on (symbolizer_search); NULL if the thread could not end soon, because others keep its processor busy. */
struct symbolizer *background_symbolizer_take(struct background_symbolizer *background);

/* Goes on in the same way with what a symbolizer can learn from its lookups (symbolizer_learn_more), for the next
 * recording, and frees it in the end. NULL is allowed. */
void background_symbolizer_continue(struct symbolizer *symbolizer, const struct debug_search *search);

#endif

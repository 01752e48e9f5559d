/*
 * The findings about CPU time: functions, lines, and the costs of memory and the kernel.
 */
#pragma once

#include "tree/finding_list.h"

/* Appends the findings. `relevance`: 0 to 1, the part of the run that more CPU speed would shorten. */
int findings_add_cpu(struct findings *findings, struct engine *engine, double relevance, struct error *err);

/* Appends "94% of self time is in functions without symbols: libz.so", without a full stop, and stores the share, 0
 * to 1. Appends nothing for a share below 10 %. `functions`: the result of engine_list_all_functions(), by self time.
 */
int describe_unnamed_code(struct text_buffer *text, double *share, const struct engine *engine,
                          const struct func_timings *functions, struct error *err);

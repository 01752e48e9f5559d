/* Writes the metadata of a perf.data file to the spool, under the names of spool/info.h. Part of perf_data_import.c. */
#pragma once

#include "perf_data/perf_data_state.h"

/* Returns the time of the first record, ns since the epoch. */
uint64_t perf_data_info_get_start_realtime(const struct perf_data_feed *feed);
int perf_data_info_start(struct perf_data_feed *feed);
int perf_data_info_end(struct perf_data_feed *feed);

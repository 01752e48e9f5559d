/*
 * Feeds the records of a perf.data file to a spool, as the recorder feeds the records of its rings. Part of
 * perf_data_import.c.
 */
#pragma once

#include "perf_data/perf_data_record.h"
#include "perf_data/perf_data_state.h"

int perf_data_feed_open(struct perf_data_feed *feed, const char *spool_path, const char *perf_cache);
int perf_data_feed_examine(struct perf_data_feed *feed, uint32_t type, const unsigned char *bytes, size_t size);
int perf_data_feed_start(struct perf_data_feed *feed);

/* Feeds the next record, in order of time. `time` is the time of the record, or 0. */
int perf_data_feed_record(struct perf_data_feed *feed, struct perf_data_record *parsed, uint64_t time);

int perf_data_feed_finish(struct perf_data_feed *feed);
int perf_data_feed_close(struct perf_data_feed *feed, struct error *err);

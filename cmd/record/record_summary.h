/*
 * The summary at the end of `prof record`: the saved file, the quality of its data, and settings that improve it. It
 * has at most five lines, except with --verbose.
 */
#pragma once

#include "assemble/assemble.h"

#include <stdbool.h>
#include <stddef.h>

enum { SUMMARY_LINES = 5, SUMMARY_NOTES = 24, SUMMARY_DETAILS = 16384 };

/* Zeroed but for the first four. */
struct record_summary {
    const char *output; /* the profile; "-": the standard output */
    bool quiet, verbose;
    bool has_debug_servers; /* which were asked already */
    const char *notes[SUMMARY_NOTES];
    size_t note_count;
    char details[SUMMARY_DETAILS]; /* lines, if verbose */
    size_t details_length;
};

/* Adds a sentence about the recording, the caller's. */
void record_summary_add_note(struct record_summary *summary, const char *sentence);

/* If verbose, collects the metadata of the profile about the quality of its data. */
struct metadata_listener record_summary_listener(struct record_summary *summary);

/* `saved` NULL: no profile was saved; prints only the notes. */
void record_summary_print(const struct record_summary *summary, const struct assemble_result *saved);

/*
 * What `prof record` says at the end: what was saved, how far it can be trusted, and what would make it better. At most
 * five lines, unless it is to be verbose.
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
void record_summary_note(struct record_summary *summary, const char *sentence);

/* Collects what the profile says of the quality of its data, if verbose. */
struct metadata_listener record_summary_listener(struct record_summary *summary);

/* `saved` NULL: nothing was; says only the notes. */
void record_summary_print(const struct record_summary *summary, const struct assemble_result *saved);

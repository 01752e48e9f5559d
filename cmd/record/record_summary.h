/*
 * The summary at the end of `prof record`: the saved file, the quality of its data, and settings that improve it. The
 * summary has at most five lines, except with --verbose.
 */
#pragma once

#include "assemble/assemble.h"

enum { SUMMARY_LINES = 5, SUMMARY_NOTES = 24, SUMMARY_DETAILS = 16384 };

/* The caller sets the first four fields, and zeroes all others. */
struct record_summary {
    const char *output; /* path of the profile; "-": standard output */
    bool quiet, verbose;
    bool has_debug_servers; /* symbolization already asked debug servers */
    const char *notes[SUMMARY_NOTES];
    size_t note_count;
    char details[SUMMARY_DETAILS]; /* text of --verbose, in lines */
    size_t details_length;
};

/* Adds a sentence about the recording. The caller owns the sentence, which must outlive the summary. */
void record_summary_add_note(struct record_summary *summary, const char *sentence);

/* If verbose, collects the metadata of the profile about the quality of its data. */
struct metadata_listener make_summary_listener(struct record_summary *summary);

/* Prints the summary. `saved`: result of the saved profile, or NULL (prof saved none, and only the notes are
 * printed). */
void record_summary_print(const struct record_summary *summary, const struct assemble_result *saved);

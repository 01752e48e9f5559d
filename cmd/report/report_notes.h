/*
 * The notes of the user in the reports (profile/notes.h).
 */
#pragma once

#include "base/json_write.h"
#include "cmd/report/report.h"

enum { REPORT_NOTES = 8 }; /* the notes in the head of a report and in a summary */

/* Prints a line for each note, with the heading "Notes", and at most `most` notes. Prints nothing without notes. */
int report_print_notes(const struct report *report, size_t most, struct error *err);

/* Writes the member "notes", with at most `most` notes, and at most `longest` bytes of each text. */
int report_write_notes(struct json_writer *json, const struct report *report, size_t most, size_t longest,
                       struct error *err);

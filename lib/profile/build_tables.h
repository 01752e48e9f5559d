/*
 * Builds the shared tables of a profile from those of a file. Also has what build.c and build_samples.c share.
 */
#pragma once

#include "base/text_buffer.h"
#include "profile/raw.h"

struct build {
    struct raw_profile *raw;
    struct profile *profile;
    uint32_t *string_of_text;   /* text -> string of the profile, PROFILE_NONE: not there yet */
    bool same_numbers;          /* the shared strings have the indexes that the file gives them */
    struct hash string_fields;  /* of build_payloads.c: type and key of the fields of payloads that are strings */
    struct text_buffer payload; /* that is being rewritten */
    double cpu_scale;           /* µs per unit of CPU time; 0: the file does not say the unit */
    struct error *err;
};

/* The string of a text, added if it is new. PROFILE_NONE stays what it is. A negative errno value if memory ran out. */
int build_text(struct build *build, uint32_t *text);

/* The string of an element of a COLUMN_REF; `strings` is the table that its numbers mean. `path` and `row` are for the
 * error. */
int build_ref(struct build *build, const struct column *strings, uint32_t *ref, const char *path, size_t row);

/* Makes a column of `rows` rows: one that is absent is filled with `missing` (written as a number: -1 is PROFILE_NONE
 * or no address), one of another length is an error. */
int build_column(struct build *build, struct column *column, enum column_type type, size_t rows, double missing,
                 const char *path);

/* The rows of a table whose main column is `column`: what `length` says, else the length of the column. */
size_t build_rows(raw_length length, const struct column *column);

/* Moves the column's elements to the caller, who owns them from now on. */
void *build_take(struct column *column);

/* Fills the empty tables of `part` (whose strings are those of the profile) from `raw`; numbers of strings mean
 * `strings`. */
int build_tables(struct build *build, struct raw_tables *raw, const struct column *strings, struct profile *part);

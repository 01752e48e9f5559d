/*
 * Builds the shared tables of a profile from the tables of a file. Also declares helpers of build.c and
 * build_samples.c.
 */
#pragma once

#include "base/text_buffer.h"
#include "profile/raw.h"

struct build {
    struct raw_profile *raw;
    struct profile *profile;
    uint32_t
        *string_of_text; /* for each text of the file, its string in the profile, or PROFILE_NONE if not added yet */
    bool same_numbers;   /* shared strings have the same indexes as in the file */
    struct hash string_fields;  /* for build_payloads.c: type and key of the payload fields that are strings */
    struct hash old_libraries;  /* for build_old.c: the libraries of `raw` by their texts */
    struct text_buffer payload; /* text of the payload being rewritten */
    bool sorted;                /* a thread's samples were out of order */
    double cpu_scale;           /* µs per unit of CPU time, or 0 (the file does not state the unit) */
    struct error *err;
};

/* Replaces a text of the file by its string in the profile, which is added if new. PROFILE_NONE stays. Returns a
 * negative errno value if memory ran out. */
int build_text(struct build *build, uint32_t *text);

#define COLUMN_NEEDED INFINITY

struct column_plan {
    struct column *column;
    enum column_type type;
    double missing;  /* default of a missing column: -1 is PROFILE_NONE or no address; COLUMN_NEEDED: an error */
    const char *key; /* in the table, for errors */
    void *out;       /* address of the pointer that will own the elements, or NULL (the elements stay in the column) */
};

/* Builds all columns of a table with `rows` rows; a shorter column is an error. `table` is the place in the file, for
 * errors. Converts the elements of a COLUMN_REF, which may be indexes into `strings`, to strings of the profile. */
int build_columns(struct build *build, const char *table, const struct column *strings, const struct column_plan *plans,
                  size_t count, size_t rows);

#define BUILD_COLUMNS(build, table, strings, plans, rows)                                                              \
    build_columns((build), (table), (strings), (plans), sizeof(plans) / sizeof(*(plans)), (rows))

/* Returns the number of rows of a table: `length` if the file states the length, else the length of the main column
 * `column`. */
size_t build_rows(raw_length length, const struct column *column);

/* Truncates a column to the rows of its table, as readers of the format do. */
void build_truncate_column(struct column *column, size_t rows);

/* Moves the column's elements to the caller, who owns them. */
void *build_take_column(struct column *column);

/* Fills the empty tables of `part` (whose strings are those of the profile) from `raw`; string indexes refer to
 * `strings`. */
int build_tables(struct build *build, struct raw_tables *raw, const struct column *strings, struct profile *part);

/* Adds the table rows of a growing profile (append.h). */
int build_added_tables(struct build *build);

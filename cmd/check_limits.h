/*
 * The limits of `prof check --fail-if`: their syntax, and their values in a comparison.
 */
#pragma once

#include "cmd/report/report.h"

enum limit_subject { LIMIT_ALL, LIMIT_SELF, LIMIT_TOTAL };

/* The quantity that prof compares with the number of a limit. */
enum limit_kind {
    LIMIT_CHANGE_PERCENT, /* "+3%": the change, in percent of the base */
    LIMIT_CHANGE,         /* "+20ms" */
    LIMIT_SHARE,          /* "20%": the share of the new side's total */
    LIMIT_AMOUNT          /* "500ms": the time on the new side */
};

enum limit_result { LIMIT_MET, LIMIT_WITHIN_NOISE, LIMIT_NO_FUNCTION, LIMIT_EXCEEDED };

struct limit {
    const char *text; /* the argument */
    enum limit_subject subject;
    char *pattern; /* pattern of function names; owned, or NULL for LIMIT_ALL */
    enum limit_kind kind;
    bool is_upper;   /* "> VALUE": a greater value fails */
    double value;    /* number of the limit, in percent or in the unit of the weight (ms for times) */
    bool is_of_time; /* the number of the limit has a unit of time */

    /* measure_all_limits() sets these members. */
    struct change_estimate change;
    double measured; /* in the unit of `value` */
    unsigned pass;   /* number of the pass that measures the limit, from 1, or 0 if not measured yet */
    uint32_t group;  /* number of the limit's group of functions in the pass, or PROFILE_NONE for LIMIT_ALL */
    bool has_funcs;  /* the pattern matches a function */
    enum limit_result result;
};

/* Parses a limit such as "total > +3%", "self(parse*) > 20%" or "total(render) < 500ms". Returns false for any other
 * text. */
bool parse_limit(struct limit *limit, const char *text);
void destroy_limit(struct limit *limit);

/* Measures the limits over the samples that the report selects, and sets their results. Tests all changes together. A
 * change within noise exceeds no limit. Returns an exit status, after a message if it is not 0. */
int measure_all_limits(struct limit *limits, size_t count, const struct report *report);

/* Writes the measured value: "+5.1%", "12.0%" or "+20.3 ms". */
void format_limit(const struct limit *limit, const struct report *report, char out[QUANTITY_TEXT_MAX]);

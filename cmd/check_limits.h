/*
 * The limits of `prof check --fail-if`: their syntax, and their values in a comparison.
 */
#pragma once

#include "cmd/report/report.h"

enum limit_subject { LIMIT_ALL, LIMIT_SELF, LIMIT_TOTAL };

/* What the number of a limit is compared with. */
enum limit_kind {
    LIMIT_CHANGE_PERCENT, /* "+3%": the change, of the base */
    LIMIT_CHANGE,         /* "+20ms" */
    LIMIT_SHARE,          /* "20%": of the new side's total */
    LIMIT_AMOUNT          /* "500ms": of the new side */
};

enum limit_result { LIMIT_KEPT, LIMIT_WITHIN_NOISE, LIMIT_NO_FUNCTION, LIMIT_PASSED };

struct limit {
    const char *text; /* the argument */
    enum limit_subject subject;
    char *pattern; /* of functions; owned; NULL for LIMIT_ALL */
    enum limit_kind kind;
    bool is_upper;   /* "> VALUE": more than that fails */
    double value;    /* in percent, or in the unit of the weight, ms for times */
    bool is_of_time; /* the number has a unit of time */

    /* limits_measure() */
    struct change_estimate change;
    double measured; /* as value */
    unsigned pass;   /* that measures it, 1 the first; 0: none yet */
    uint32_t group;  /* of its functions in that pass; PROFILE_NONE for LIMIT_ALL */
    bool has_funcs;  /* some function has the name of the pattern */
    enum limit_result result;
};

/* "total > +3%", "self(parse*) > 20%", "total(render) < 500ms". False if it is none. */
bool limit_parse(struct limit *limit, const char *text);
void limit_destroy(struct limit *limit);

/* What the query of the report has. Changes that are not more than noise keep their limits; they are judged together.
 * Returns an exit status, after a message if it is not 0. */
int limits_measure(struct limit *limits, size_t count, const struct report *report);

/* "+5.1%", "12.0%", "+20.3 ms" */
void limit_format(const struct limit *limit, const struct report *report, char out[QUANTITY_TEXT_MAX]);

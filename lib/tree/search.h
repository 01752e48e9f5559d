/*
 * The search filter: which call nodes have every term of a search on their path.
 *
 * A search is a list of terms separated by commas, all of which must match; blanks around a term do not count:
 *
 *     term          some frame has it in its function name, its source file name or its library name
 *     "term"        some frame has exactly this function name, library name, or source file name, path or its last part
 *     /expression/  the same for a regular expression, see pattern.h
 *     lib:term      only in library names; file:term only in source file names; also before " and /
 *     -term         no frame matches the term; also before all of these
 *
 * Letters of ASCII match in either case. Between quotes and slashes a comma is nothing special. What only looks like a
 * regular expression is looked for as it is written.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/pattern.h"
#include "tree/search_text.h"

enum { SEARCH_MAX_TERMS = 16 };

enum search_field { SEARCH_EVERYWHERE, SEARCH_LIBRARIES, SEARCH_FILES };

struct search_term {
    struct span written;   /* the term in the given text */
    size_t offset, length; /* the term in lower case, in search.text */
    enum search_field field;
    bool exact;
    bool excluded;
    bool has_pattern;
    struct pattern pattern;
};

struct search {
    ARRAY(char) text; /* the terms in lower case, one after another */
    struct search_term terms[SEARCH_MAX_TERMS];
    size_t term_count;   /* terms after the sixteenth are ignored */
    uint16_t excluded;   /* bit t: term t must match nothing */
    uint16_t *func_mask; /* per func of a stack view: bit t is set if term t matches it */
};

/* Parses only the terms. */
int search_parse(struct search *search, const char *text, size_t length, struct error *err);

/* Matches the terms with all funcs of the profile. The search keeps nothing of `text` but `written`. */
int search_init(struct search *search, const struct profile *profile, const char *text, size_t length,
                struct error *err);

/* Whether the function itself matches one of the terms, and none that is excluded; false if there are no terms. Only
 * after search_init(). */
bool search_func_matches(const struct search *search, uint32_t func);

/* Sets matching[n] to 1 for each node whose path, itself included, matches all terms and nothing that is excluded.
 * `matching` has room for all nodes. */
int search_nodes(const struct search *search, const struct call_nodes *nodes, uint8_t *matching, struct error *err);

void search_destroy(struct search *search);

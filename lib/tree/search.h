/*
 * The search filter: which call nodes have every term of a search on their path.
 *
 * A search is a list of terms separated by commas, all of which must match; blanks around a term do not count. A term
 * matches a stack if some frame of it has the term in its function name, its source file name or its library name,
 * letters of ASCII in either case.
 */
#ifndef PROF_TREE_SEARCH_H
#define PROF_TREE_SEARCH_H

#include "tree/call_nodes.h"

enum { SEARCH_MAX_TERMS = 16 };

struct search {
    ARRAY(char) text; /* the terms in lower case, one after another */
    struct {
        size_t offset, length;
    } terms[SEARCH_MAX_TERMS];
    size_t term_count;   /* terms after the sixteenth are ignored */
    uint16_t *func_mask; /* per func of a stack view: bit t is set if term t matches it */
};

/* Matches the terms with all funcs of the profile. The search keeps nothing of `text`. */
int search_init(struct search *search, const struct profile *profile, const char *text, size_t length,
                struct error *err);

/* Sets kept[n] to 1 for each node whose path, itself included, matches all terms. `kept` has room for all nodes. */
int search_nodes(const struct search *search, const struct call_nodes *nodes, uint8_t *kept, struct error *err);

void search_destroy(struct search *search);

#endif

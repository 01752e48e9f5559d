/*
 * The search filter selects the call nodes whose path matches every term of a search.
 *
 * A search is a list of terms separated by commas, all of which must match; blanks around a term do not count:
 *
 *     term          a frame contains it in its function name without arguments (func_name.h), source file name or
 *                   library name; a term with < or ( also finds arguments
 *     "term"        a frame has exactly this function name, library name, or source file name, path or its last part
 *     /expression/  like "term", with a regular expression (pattern.h)
 *     lib:term      only in library names; file:term only in source file names; args:term in function names with
 *                   their arguments; may precede " and /
 *     -term         no frame matches the term; may precede all other forms
 *
 * Matching ignores ASCII case. A comma between quotes or slashes is literal. An invalid regular expression is searched
 * as plain text.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/search_text.h"

enum search_field { SEARCH_EVERYWHERE, SEARCH_LIBRARIES, SEARCH_FILES, SEARCH_ARGUMENTS };

struct search {
    struct search_terms terms;
    enum search_field fields[SEARCH_MAX_TERMS];
    uint16_t excluded;        /* bit t: term t must match no frame */
    uint16_t needs_arguments; /* bit t: term t is exact, or has a bracket */
    uint16_t *func_mask;      /* for each func of a stack view, bit t is set if term t matches the func */
};

/* Parses only the terms. */
int search_parse(struct search *search, const char *text, size_t length, struct error *err);

/* Finds the terms that each func of the profile matches. The `written` spans of terms point into `text`. */
int search_init(struct search *search, const struct profile *profile, const char *text, size_t length,
                struct error *err);

/* Returns whether the function matches a term and no excluded term, or false without terms. Call search_init()
 * first. */
bool search_func_matches(const struct search *search, uint32_t func);

/* Sets matching[n] to 1 for each node whose path (including the node) matches all terms and no excluded term.
 * `matching` has room for all nodes. */
int search_mark_matching_nodes(const struct search *search, const struct call_nodes *nodes, uint8_t *matching,
                               struct error *err);

void search_destroy(struct search *search);

/* The nodes that match a search, cached because the query and every track of the timeline request the same. */
struct matching_nodes {
    ARRAY(char) search;
    uint8_t *matching;     /* NULL before the first search */
    uint8_t *matched_func; /* for each func, whether its names contain a search term */
    bool valid;
};

/* Returns whether the nodes are those of this search. */
bool matching_nodes_belong_to(const struct matching_nodes *cached, const char *text, size_t length);

/* Finds the nodes that match the search, unless the cache has them. Destroy the cache before `nodes` changes. */
int matching_nodes_update(struct matching_nodes *cached, const struct profile *profile, const struct call_nodes *nodes,
                          const char *text, size_t length, struct error *err);

/* Frees and empties the cache. */
void matching_nodes_destroy(struct matching_nodes *cached);

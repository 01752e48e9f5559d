/*
 * Fuzzy text matching: "vpb" finds "std::vector<int>::push_back", and so does "push vec". The command palette of the
 * page uses it for commands, threads and functions.
 *
 * The query consists of words separated by blanks. A word matches a text that contains its letters in order, with
 * anything between them; words match independently. The score of a match is the sum over its letters:
 *     12   directly after the previous letter
 *     10   at the start of a part of the text: its first letter, after punctuation, or a capital after a lower-case
 *     letter
 *      1   at any other position
 * The best match of the text counts, plus 4 if the text starts there, plus 20 if the word is the whole text. ASCII case
 * is ignored.
 */
#pragma once

#include "base/standard.h"

enum {
    FUZZY_WORDS = 8,      /* later words are ignored */
    FUZZY_LETTERS = 64,   /* limit of letters in a word; later letters are ignored */
    FUZZY_LONGEST = 1024, /* bytes of a text */
    FUZZY_NOWHERE = -1
};

struct fuzzy_word {
    char letters[FUZZY_LETTERS]; /* letters in lower case */
    size_t length;
    uint64_t set; /* see collect_fuzzy_letters() */
};

struct fuzzy_text {
    const char *at;
    size_t length;
};

/* Returns the set of letters in a text, to exclude words with other letters quickly. */
uint64_t collect_fuzzy_letters(struct fuzzy_text text);

/* Splits the search text into words. Returns their number. */
size_t split_fuzzy_words(struct fuzzy_word words[FUZZY_WORDS], const char *text, size_t length);

/* Returns the best score of a word in the text, or FUZZY_NOWHERE for no match. */
int fuzzy_compute_score(struct fuzzy_text text, const struct fuzzy_word *word);

/* Like fuzzy_compute_score(); also sets the bits `mark` in marks[i] for each matched byte i. */
int fuzzy_mark_matches(struct fuzzy_text text, const struct fuzzy_word *word, uint8_t *marks, uint8_t mark);

/* Whether the text contains the word as a substring. */
bool fuzzy_is_part(struct fuzzy_text text, const struct fuzzy_word *word);

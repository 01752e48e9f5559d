/*
 * How well a text has the letters that somebody types: "vpb" finds "std::vector<int>::push_back", and so does "push
 * vec". The page's palette finds commands, threads and functions by it.
 *
 * What is typed is words with blanks between. A word is found in a text if its letters are in it in this order, with
 * anything between; each word may be anywhere. How good a place is, is the sum over its letters of
 *
 *     12   right after the letter before
 *     10   where a part of the text begins: at its start, after a sign, or a capital after a small letter
 *      1   elsewhere
 *
 * and the best of all places counts; besides it 4 if the text starts there, and 20 if the word is the whole text.
 * Letters of ASCII are found in either case.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FUZZY_WORDS = 8,      /* words after the eighth, */
    FUZZY_LETTERS = 64,   /* and letters of a word after the 64th are not looked at */
    FUZZY_LONGEST = 1024, /* bytes that a text may have */
    FUZZY_NOWHERE = -1
};

struct fuzzy_word {
    char letters[FUZZY_LETTERS]; /* small ones */
    size_t length;
    uint64_t set; /* see fuzzy_letters() */
};

struct fuzzy_text {
    const char *at;
    size_t length;
};

/* Returns the set of letters in a text, to exclude words with other letters quickly. */
uint64_t fuzzy_letters(struct fuzzy_text text);

/* Splits the search text into words. Returns their number. */
size_t fuzzy_words(struct fuzzy_word words[FUZZY_WORDS], const char *text, size_t length);

/* Returns the best score of a word in the text; FUZZY_NOWHERE: no match. */
int fuzzy_score(struct fuzzy_text text, const struct fuzzy_word *word);

/* Likewise; also sets the bits `mark` in marks[i] for each matched byte i. */
int fuzzy_mark(struct fuzzy_text text, const struct fuzzy_word *word, uint8_t *marks, uint8_t mark);

/* Whether the text contains the word as a substring. */
bool fuzzy_is_part(struct fuzzy_text text, const struct fuzzy_word *word);

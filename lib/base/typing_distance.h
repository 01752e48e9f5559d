/*
 * The edit distance of two words, to suggest the word that the user meant.
 */
#pragma once

#include "base/standard.h"

enum { TYPING_WORD_MAX = 96 }; /* letters of a word */

/* Returns the edit distance of two words (Levenshtein): letters to add, remove or replace. SIZE_MAX if a word is too
 * long. */
size_t compute_typing_distance(const char *a, const char *b);

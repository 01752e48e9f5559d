/*
 * Most names do not have the letters that are typed: which letters a string has is kept as a set of 64 bits, so that
 * one comparison leaves them out. Of the others the best places are found letter by letter: the best way to put the
 * first i letters with the i-th at place j follows from the best ways to put those before it further left. Only the
 * best few funcs are kept, in a heap with the worst of them on top.
 */
#include "tree/find_names.h"

#include "tree/search_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AFTER_LAST = 12, AT_PART = 10, ELSEWHERE = 1, AT_START = 4, WHOLE = 20, IN_LIBRARY = 1, NOWHERE = -1 };

struct word {
    char letters[FIND_LETTERS]; /* small ones */
    size_t length;
    uint64_t set;
};

struct text {
    const char *at;
    size_t length;
};

static bool is_letter(char c)
{
    return (text_lower(c) >= 'a' && text_lower(c) <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static uint64_t bit_of(char c)
{
    enum { DIGITS_AT = 26, SIGNS_AT = 36, SIGNS = 28 };
    c = text_lower(c);
    if (c >= 'a' && c <= 'z')
        return UINT64_C(1) << (c - 'a');
    if (c >= '0' && c <= '9')
        return UINT64_C(1) << (DIGITS_AT + (c - '0'));
    return UINT64_C(1) << (SIGNS_AT + (unsigned char)c % SIGNS);
}

static struct text text_of(const struct profile *profile, uint32_t string)
{
    if (string >= profile->strings.entries.length)
        return (struct text){"", 0};
    const struct string_entry *entry = &profile->strings.entries.data[string];
    return (struct text){entry->text, entry->length < FIND_LONGEST ? entry->length : FIND_LONGEST};
}

static uint64_t set_of(struct text text)
{
    uint64_t set = 0;
    for (size_t i = 0; i < text.length; i++)
        set |= bit_of(text.at[i]);
    return set;
}

/* ---- words ---- */

static size_t split_words(struct word *words, const char *text, size_t length)
{
    size_t count = 0;
    for (size_t at = 0; at < length;) {
        while (at < length && text_is_blank(text[at]))
            at++;
        if (at == length || count == FIND_WORDS)
            break;
        struct word *word = &words[count++];
        *word = (struct word){.length = 0};
        for (; at < length && !text_is_blank(text[at]); at++)
            if (word->length < FIND_LETTERS)
                word->letters[word->length++] = text_lower(text[at]);
        word->set = set_of((struct text){word->letters, word->length});
    }
    return count;
}

/* ---- places ---- */

static bool begins_part(struct text name, size_t at)
{
    if (at == 0)
        return true;
    char before = name.at[at - 1], here = name.at[at];
    return is_letter(here) && (!is_letter(before) || (before >= 'a' && before <= 'z' && here >= 'A' && here <= 'Z'));
}

static bool has_letters_in_order(struct text name, const struct word *word)
{
    size_t found = 0;
    for (size_t i = 0; i < name.length && found < word->length; i++)
        found += text_lower(name.at[i]) == word->letters[found];
    return found == word->length;
}

static bool is_at(struct text name, size_t at, const struct word *word)
{
    if (word->length > name.length - at)
        return false;
    for (size_t i = 0; i < word->length; i++)
        if (text_lower(name.at[at + i]) != word->letters[i])
            return false;
    return true;
}

static int best_of(int a, int b)
{
    return a > b ? a : b;
}

/* The best way to put the letters of a word into a name that has them in this order. `ways[j]`: with the last letter so
 * far at j, NOWHERE if it is another one. */
static int score_of_letters(struct text name, const struct word *word)
{
    int16_t ways[FIND_LONGEST];
    for (size_t j = 0; j < name.length; j++)
        ways[j] = text_lower(name.at[j]) != word->letters[0] ? NOWHERE
                  : j == 0                                   ? AT_PART + AT_START
                  : begins_part(name, j)                     ? AT_PART
                                                             : ELSEWHERE;
    for (size_t i = 1; i < word->length; i++) {
        int left = NOWHERE, last = NOWHERE; /* the best of those further left; the one right before */
        for (size_t j = 0; j < name.length; j++) {
            int before = ways[j], way = NOWHERE;
            if (text_lower(name.at[j]) == word->letters[i]) {
                if (last != NOWHERE)
                    way = last + AFTER_LAST;
                if (left != NOWHERE)
                    way = best_of(way, left + (begins_part(name, j) ? AT_PART : ELSEWHERE));
            }
            ways[j] = (int16_t)way;
            left = best_of(left, last);
            last = before;
        }
    }
    int best = NOWHERE;
    for (size_t j = 0; j < name.length; j++)
        best = best_of(best, ways[j]);
    return best;
}

static int score_in_name(struct text name, const struct word *word)
{
    if (!has_letters_in_order(name, word))
        return NOWHERE;
    if (is_at(name, 0, word)) /* nothing is better */
        return AT_PART + AT_START + AFTER_LAST * (int)(word->length - 1) + (name.length == word->length ? WHOLE : 0);
    return score_of_letters(name, word);
}

static bool is_part_of(struct text text, const struct word *word)
{
    for (size_t at = 0; at + word->length <= text.length; at++)
        if (is_at(text, at, word))
            return true;
    return false;
}

static int score_of_func(const struct name_finder *finder, uint32_t func, const struct word *words, size_t count)
{
    const struct profile *profile = finder->profile;
    uint32_t string = profile->funcs.name[func], resource = profile->funcs.resource[func];
    uint32_t lib = resource < profile->resources.length ? profile->resources.data[resource].name : PROFILE_NONE;
    struct text name = text_of(profile, string);
    uint64_t letters = string < profile->strings.entries.length ? finder->letters[string] : 0;
    int score = 0;
    for (size_t i = 0; i < count; i++) {
        int word_score = words[i].set & ~letters ? NOWHERE : score_in_name(name, &words[i]);
        if (word_score == NOWHERE && lib < profile->strings.entries.length && !(words[i].set & ~finder->letters[lib]) &&
            is_part_of(text_of(profile, lib), &words[i]))
            word_score = IN_LIBRARY;
        if (word_score == NOWHERE)
            return NOWHERE;
        score += word_score;
    }
    return score;
}

/* ---- the best of them ---- */

static bool is_better(const struct name_finder *finder, struct found_name a, struct found_name b)
{
    const struct profile *profile = finder->profile;
    if (a.score != b.score)
        return a.score > b.score;
    if (finder->weight[a.func] != finder->weight[b.func])
        return finder->weight[a.func] > finder->weight[b.func];
    size_t a_length = text_of(profile, profile->funcs.name[a.func]).length;
    size_t b_length = text_of(profile, profile->funcs.name[b.func]).length;
    return a_length != b_length ? a_length < b_length : a.func < b.func;
}

/* Puts `name` at the place `at` of a heap of `length`, or further down until nothing worse is below it. */
static void sift_down(const struct name_finder *finder, struct found_name *heap, size_t length, size_t at,
                      struct found_name name)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= length)
            break;
        if (child + 1 < length && is_better(finder, heap[child], heap[child + 1]))
            child++;
        if (!is_better(finder, name, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = name;
}

static bool keep(const struct name_finder *finder, struct found_names *found, size_t limit, struct found_name name)
{
    if (found->length == limit) {
        if (limit && is_better(finder, name, found->data[0]))
            sift_down(finder, found->data, limit, 0, name);
        return true;
    }
    if (!array_push(found, name))
        return false;
    if (found->length == limit)
        for (size_t at = limit / 2; at-- > 0;)
            sift_down(finder, found->data, limit, at, found->data[at]);
    return true;
}

/* The best first: the worst, on top of the heap, goes to its end, again and again. */
static void sort_found(const struct name_finder *finder, struct found_names *found)
{
    struct found_name *heap = found->data;
    for (size_t at = found->length / 2; at-- > 0;)
        sift_down(finder, heap, found->length, at, heap[at]);
    for (size_t left = found->length; left > 1; left--) {
        struct found_name last = heap[left - 1];
        heap[left - 1] = heap[0];
        sift_down(finder, heap, left - 1, 0, last);
    }
}

int name_finder_find(const struct name_finder *finder, const char *text, size_t length, size_t limit,
                     struct found_names *found, struct error *err)
{
    struct word words[FIND_WORDS];
    size_t count = split_words(words, text, length);
    found->length = 0;
    for (uint32_t func = 0; func < finder->profile->funcs.length; func++) {
        int score = score_of_func(finder, func, words, count);
        if (score != NOWHERE && !keep(finder, found, limit, (struct found_name){func, score}))
            return error_no_memory(err);
    }
    sort_found(finder, found);
    return 0;
}

/* ---- the finder ---- */

int name_finder_init(struct name_finder *finder, const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    *finder = (struct name_finder){profile, malloc((strings + 1) * sizeof(*finder->letters)),
                                   calloc(profile->funcs.length + 1, sizeof(*finder->weight))};
    if (!finder->letters || !finder->weight) {
        name_finder_destroy(finder);
        return error_no_memory(err);
    }
    for (uint32_t i = 0; i < strings; i++)
        finder->letters[i] = set_of(text_of(profile, i));
    return 0;
}

void name_finder_weigh(struct name_finder *finder, const struct func_timings *functions)
{
    memset(finder->weight, 0, finder->profile->funcs.length * sizeof(*finder->weight));
    for (size_t i = 0; i < functions->length; i++)
        if (functions->rows[i].func < finder->profile->funcs.length)
            finder->weight[functions->rows[i].func] = fabs(functions->rows[i].total);
}

void name_finder_destroy(struct name_finder *finder)
{
    free(finder->letters);
    free(finder->weight);
    *finder = (struct name_finder){.profile = NULL};
}

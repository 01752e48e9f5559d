/*
 * Fuzzy matching by dynamic programming. A step adds one letter of the word: the best placement that ends with this
 * letter at position j extends the best placement of the earlier letters before position j.
 */
#include "tree/fuzzy.h"

#include "tree/search_text.h"

enum { AFTER_LAST = 12, AT_PART = 10, ELSEWHERE = 1, AT_START = 4, WHOLE = 20 };

static bool is_letter(char c)
{
    return (to_lower_ascii(c) >= 'a' && to_lower_ascii(c) <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static uint64_t get_character_bit(char c)
{
    enum { DIGITS_AT = 26, SIGNS_AT = 36, SIGNS = 28 };
    c = to_lower_ascii(c);
    if (c >= 'a' && c <= 'z')
        return UINT64_C(1) << (c - 'a');
    if (c >= '0' && c <= '9')
        return UINT64_C(1) << (DIGITS_AT + (c - '0'));
    return UINT64_C(1) << (SIGNS_AT + (unsigned char)c % SIGNS);
}

uint64_t collect_fuzzy_letters(struct fuzzy_text text)
{
    uint64_t set = 0;
    for (size_t i = 0; i < text.length; i++)
        set |= get_character_bit(text.at[i]);
    return set;
}

/* ---- words ---- */

size_t split_fuzzy_words(struct fuzzy_word words[FUZZY_WORDS], const char *text, size_t length)
{
    size_t count = 0;
    for (size_t at = 0; at < length;) {
        while (at < length && text_is_blank(text[at]))
            at++;
        if (at == length || count == FUZZY_WORDS)
            break;
        struct fuzzy_word *word = &words[count++];
        *word = (struct fuzzy_word){.length = 0};
        for (; at < length && !text_is_blank(text[at]); at++)
            if (word->length < FUZZY_LETTERS)
                word->letters[word->length++] = to_lower_ascii(text[at]);
        word->set = collect_fuzzy_letters((struct fuzzy_text){word->letters, word->length});
    }
    return count;
}

/* ---- places ---- */

static bool is_part_start(struct fuzzy_text text, size_t at)
{
    if (at == 0)
        return true;
    char before = text.at[at - 1], here = text.at[at];
    return is_letter(here) && (!is_letter(before) || (before >= 'a' && before <= 'z' && here >= 'A' && here <= 'Z'));
}

static bool has_letters_in_order(struct fuzzy_text text, const struct fuzzy_word *word)
{
    size_t found = 0;
    for (size_t i = 0; i < text.length && found < word->length; i++)
        found += to_lower_ascii(text.at[i]) == word->letters[found];
    return found > 0 && found == word->length;
}

static bool matches_at(struct fuzzy_text text, size_t at, const struct fuzzy_word *word)
{
    if (word->length > text.length - at)
        return false;
    for (size_t i = 0; i < word->length; i++)
        if (to_lower_ascii(text.at[at + i]) != word->letters[i])
            return false;
    return true;
}

static int get_max_score(int a, int b)
{
    return a > b ? a : b;
}

/* The placements of the first letter: the score of each position, FUZZY_NOWHERE for other letters. */
static void score_first_letter(int16_t *ways, struct fuzzy_text text, char letter)
{
    for (size_t j = 0; j < text.length; j++)
        ways[j] = to_lower_ascii(text.at[j]) != letter ? FUZZY_NOWHERE
                  : j == 0                             ? AT_PART + AT_START
                  : is_part_start(text, j)             ? AT_PART
                                                       : ELSEWHERE;
}

/* Extends the placements `before` (which may be `ways`) by one letter. */
static void score_next_letter(int16_t *ways, const int16_t *before, struct fuzzy_text text, char letter)
{
    int left = FUZZY_NOWHERE, last = FUZZY_NOWHERE; /* the best score further left; the score directly to the left */
    for (size_t j = 0; j < text.length; j++) {
        int here = before[j], way = FUZZY_NOWHERE;
        if (to_lower_ascii(text.at[j]) == letter) {
            if (last != FUZZY_NOWHERE)
                way = last + AFTER_LAST;
            if (left != FUZZY_NOWHERE)
                way = get_max_score(way, left + (is_part_start(text, j) ? AT_PART : ELSEWHERE));
        }
        ways[j] = (int16_t)way;
        left = get_max_score(left, last);
        last = here;
    }
}

static size_t find_best_position(const int16_t *ways, size_t length)
{
    size_t best = 0;
    for (size_t j = 1; j < length; j++)
        if (ways[j] > ways[best])
            best = j;
    return best;
}

/* A match at the start of the text has the best score. */
static int score_at_start(struct fuzzy_text text, const struct fuzzy_word *word)
{
    return AT_PART + AT_START + AFTER_LAST * (int)(word->length - 1) + (text.length == word->length ? WHOLE : 0);
}

int fuzzy_compute_score(struct fuzzy_text text, const struct fuzzy_word *word)
{
    int16_t ways[FUZZY_LONGEST];
    if (text.length == 0 || !has_letters_in_order(text, word))
        return FUZZY_NOWHERE;
    if (matches_at(text, 0, word))
        return score_at_start(text, word);
    score_first_letter(ways, text, word->letters[0]);
    for (size_t i = 1; i < word->length; i++)
        score_next_letter(ways, ways, text, word->letters[i]);
    return ways[find_best_position(ways, text.length)];
}

int fuzzy_mark_matches(struct fuzzy_text text, const struct fuzzy_word *word, uint8_t *marks, uint8_t mark)
{
    static const size_t none = SIZE_MAX;
    int16_t ways[FUZZY_LETTERS][FUZZY_LONGEST];
    if (text.length == 0 || !has_letters_in_order(text, word))
        return FUZZY_NOWHERE;
    if (matches_at(text, 0, word)) {
        for (size_t j = 0; j < word->length; j++)
            marks[j] |= mark;
        return score_at_start(text, word);
    }
    score_first_letter(ways[0], text, word->letters[0]);
    for (size_t i = 1; i < word->length; i++)
        score_next_letter(ways[i], ways[i - 1], text, word->letters[i]);
    size_t at = find_best_position(ways[word->length - 1], text.length);
    int score = ways[word->length - 1][at];
    for (size_t i = word->length - 1, from; at != none; i--, at = from) {
        marks[at] |= mark;
        from = none;
        if (i == 0)
            break;
        if (ways[i - 1][at - 1] != FUZZY_NOWHERE && ways[i][at] == ways[i - 1][at - 1] + AFTER_LAST) {
            from = at - 1;
            continue;
        }
        int wanted = ways[i][at] - (is_part_start(text, at) ? AT_PART : ELSEWHERE);
        for (size_t j = 0; from == none && j + 1 < at; j++)
            if (ways[i - 1][j] == wanted)
                from = j;
    }
    return score;
}

bool fuzzy_is_part(struct fuzzy_text text, const struct fuzzy_word *word)
{
    for (size_t at = 0; at + word->length <= text.length; at++)
        if (matches_at(text, at, word))
            return true;
    return false;
}

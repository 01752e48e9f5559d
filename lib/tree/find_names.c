/*
 * Each string has a set of its letters in 64 bits, so one comparison excludes most names. A heap with the worst match
 * on top keeps the best funcs.
 */
#include "tree/find_names.h"

#include "tree/fuzzy.h"

enum { IN_LIBRARY = 1 };

static struct fuzzy_text get_string_text(const struct profile *profile, uint32_t string)
{
    if (string >= profile->strings.entries.length)
        return (struct fuzzy_text){"", 0};
    const struct string_entry *entry = &profile->strings.entries.data[string];
    return (struct fuzzy_text){entry->text, entry->length < FUZZY_LONGEST ? entry->length : FUZZY_LONGEST};
}

static int score_func(const struct name_finder *finder, uint32_t func, const struct fuzzy_word *words, size_t count)
{
    const struct profile *profile = finder->profile;
    uint32_t string = profile->funcs.name[func], resource = profile->funcs.resource[func];
    uint32_t lib = resource < profile->resources.length ? profile->resources.data[resource].name : PROFILE_NONE;
    struct fuzzy_text name = get_string_text(profile, string);
    uint64_t letters = string < profile->strings.entries.length ? finder->letters[string] : 0;
    int score = 0;
    for (size_t i = 0; i < count; i++) {
        int word_score = words[i].set & ~letters ? FUZZY_NOWHERE : fuzzy_compute_score(name, &words[i]);
        if (word_score == FUZZY_NOWHERE && lib < profile->strings.entries.length &&
            !(words[i].set & ~finder->letters[lib]) && fuzzy_is_part(get_string_text(profile, lib), &words[i]))
            word_score = IN_LIBRARY;
        if (word_score == FUZZY_NOWHERE)
            return FUZZY_NOWHERE;
        score += word_score;
    }
    return score;
}

/* ---- heap of the best matches ---- */

static bool is_better(const struct name_finder *finder, struct found_name a, struct found_name b)
{
    const struct profile *profile = finder->profile;
    if (a.score != b.score)
        return a.score > b.score;
    if (finder->weight[a.func] != finder->weight[b.func])
        return finder->weight[a.func] > finder->weight[b.func];
    size_t a_length = get_string_text(profile, profile->funcs.name[a.func]).length;
    size_t b_length = get_string_text(profile, profile->funcs.name[b.func]).length;
    return a_length != b_length ? a_length < b_length : a.func < b.func;
}

/* Places `name` at index `at` of a heap of `length`, or further down until no worse name is below it. */
static void move_down(const struct name_finder *finder, struct found_name *heap, size_t length, size_t at,
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

static bool keep_if_better(const struct name_finder *finder, struct found_names *found, size_t limit,
                           struct found_name name)
{
    if (found->length == limit) {
        if (limit && is_better(finder, name, found->data[0]))
            move_down(finder, found->data, limit, 0, name);
        return true;
    }
    if (!array_push(found, name))
        return false;
    if (found->length == limit)
        for (size_t at = limit / 2; at-- > 0;)
            move_down(finder, found->data, limit, at, found->data[at]);
    return true;
}

/* Sorts the heap, best first: repeatedly moves the worst from the top to the end. */
static void sort_found(const struct name_finder *finder, struct found_names *found)
{
    struct found_name *heap = found->data;
    for (size_t at = found->length / 2; at-- > 0;)
        move_down(finder, heap, found->length, at, heap[at]);
    for (size_t left = found->length; left > 1; left--) {
        struct found_name last = heap[left - 1];
        heap[left - 1] = heap[0];
        move_down(finder, heap, left - 1, 0, last);
    }
}

int name_finder_find(const struct name_finder *finder, const char *text, size_t length, size_t limit,
                     struct found_names *found, struct error *err)
{
    struct fuzzy_word words[FUZZY_WORDS];
    size_t count = split_fuzzy_words(words, text, length);
    found->length = 0;
    for (uint32_t func = 0; func < finder->profile->funcs.length; func++) {
        int score = score_func(finder, func, words, count);
        if (score != FUZZY_NOWHERE &&
            !keep_if_better(finder, found, limit, (struct found_name){func, score, finder->weight[func]}))
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
        finder->letters[i] = collect_fuzzy_letters(get_string_text(profile, i));
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

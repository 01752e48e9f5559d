/*
 * Counts the distinct words of a file: the example of README.md.
 *
 *     cc -O2 -g -o before/unique docs/unique.c                 one list of all words
 *     cc -O2 -g -DLISTS=4096 -o after/unique docs/unique.c    a hash table of short lists
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LISTS
#define LISTS 1
#endif

struct word {
    struct word *next;
    char text[64];
};

static struct word *lists[LISTS];
static size_t count;

static unsigned hash(const char *text)
{
    unsigned value = 5381;
    while (*text)
        value = value * 33 + (unsigned char)*text++;
    return value;
}

static struct word *find_word(struct word *list, const char *text)
{
    while (list && strcmp(list->text, text) != 0)
        list = list->next;
    return list;
}

static void add_word(const char *text)
{
    struct word **list = &lists[hash(text) % LISTS];
    if (find_word(*list, text))
        return;
    struct word *word = calloc(1, sizeof(*word));
    if (!word)
        exit(1);
    strcpy(word->text, text);
    word->next = *list;
    *list = word;
    count++;
}

int main(int argc, char **argv)
{
    char text[64];
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 2;
    while (fscanf(file, "%63s", text) == 1)
        add_word(text);
    printf("%zu distinct words\n", count);
    return 0;
}

#include "base/typing_distance.h"

static size_t get_smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

size_t compute_typing_distance(const char *a, const char *b)
{
    size_t length = strlen(b), row[TYPING_WORD_MAX + 1];
    if (strlen(a) > TYPING_WORD_MAX || length > TYPING_WORD_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (; *a; a++) {
        size_t diagonal = row[0]++;
        for (size_t i = 1; i <= length; i++) {
            size_t above = row[i];
            row[i] = get_smallest(above + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

#include "process/thread_filter.h"

#include <fnmatch.h>

bool thread_filter_matches(const struct thread_filter *filter, const char *name)
{
    bool matches = !filter->count;
    for (size_t i = 0; i < filter->count && !matches; i++)
        matches = fnmatch(filter->patterns[i], name, 0) == 0;
    return matches;
}

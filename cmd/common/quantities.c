#include "cmd/common/quantities.h"

struct unit {
    const char *name;
    double factor; /* bytes or ns */
};

static const struct unit sizes[] = {{"K", 0x1p10},   {"KB", 0x1p10}, {"KiB", 0x1p10}, {"M", 0x1p20},   {"MB", 0x1p20},
                                    {"MiB", 0x1p20}, {"G", 0x1p30},  {"GB", 0x1p30},  {"GiB", 0x1p30}, {NULL, 0}};
static const struct unit times[] = {{"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0}};

/* Parses a positive number that is followed by one of the units. */
static bool parse_quantity(const char *text, const struct unit *units, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || !(number > 0 && number < 1e9))
        return false;
    for (; units->name; units++)
        if (strcmp(end, units->name) == 0) {
            *value = (uint64_t)(number * units->factor);
            return *value != 0;
        }
    return false;
}

bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *number >= least && *number <= most;
}

bool parse_size(const char *text, uint64_t *bytes)
{
    return parse_quantity(text, sizes, bytes);
}

bool parse_time(const char *text, uint64_t *ns)
{
    return parse_quantity(text, times, ns);
}

bool parse_seconds(const char *text, uint64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0 && seconds <= 1e9))
        return false;
    *ns = (uint64_t)(seconds * 1e9);
    return *ns != 0;
}

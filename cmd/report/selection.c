#include "cmd/report/selection.h"

#include "base/utf8.h"
#include "cmd/common/ui.h"

/* Parses seconds, or ms with that suffix. */
static bool parse_seconds(const char *text, char **end, double *seconds)
{
    *seconds = strtod(text, end);
    if (*end == text || !isfinite(*seconds))
        return false;
    if (strncmp(*end, "ms", 2) == 0) {
        *seconds /= 1000;
        *end += 2;
    } else if (**end == 's') {
        ++*end;
    }
    return true;
}

/* "1.5,3", ",200ms", "2," */
static bool parse_range(const char *text, double *from, double *to)
{
    char *end = (char *)text;
    if (*text != ',' && !parse_seconds(text, &end, from))
        return false;
    if (*end != ',')
        return false;
    const char *second = end + 1;
    if (*second && (!parse_seconds(second, &end, to) || *end))
        return false;
    return !(*to <= *from);
}

int selection_parse_range(const char *command, const char *text, double *from, double *to)
{
    return parse_range(text, from, to)
               ? 0
               : ui_usage(command, "'%s' is not a range; give two times in seconds, like 1.5,3 or 200ms,", text);
}

/* Returns how well a thread matches --thread: by tid, by index, by its whole name, or by a part of its name. */
enum { FITS_TID = 4, FITS_INDEX = 3, FITS_NAME = 2, FITS_PART = 1, FITS_NOT = 0 };

static int match_thread(const struct profile *profile, uint32_t index, const char *wanted)
{
    const struct thread *thread = &profile->threads.data[index];
    char number[16];
    snprintf(number, sizeof(number), "%u", index);
    if (strcmp(profile_text(profile, thread->tid), wanted) == 0)
        return FITS_TID;
    if (strcmp(number, wanted) == 0)
        return FITS_INDEX;
    if (strcmp(profile_text(profile, thread->name), wanted) == 0)
        return FITS_NAME;
    return strcasestr(profile_text(profile, thread->name), wanted) ? FITS_PART : FITS_NOT;
}

static int print_unknown_thread(const struct profile *profile, const char *path, const char *wanted)
{
    enum { MOST_NAMED = 12 };
    ui_fail("no thread of %s has the name or number '%s'; the profile has these threads:", path, wanted);
    size_t count = profile->threads.length;
    for (uint32_t i = 0; i < count && i < MOST_NAMED; i++) {
        const struct thread *thread = &profile->threads.data[i];
        fflush(stdout);
        const char *name = profile_text(profile, thread->name);
        ui_print_message("  %u  tid %.40s  %.*s", i, profile_text(profile, thread->tid), utf8_cut(name, 80), name);
    }
    if (count > MOST_NAMED)
        ui_print_message("  and %zu more", count - MOST_NAMED);
    return EXIT_FAILURE;
}

int selection_find_threads(const struct profile *profile, const char *path, const char *wanted,
                           struct thread_list *found)
{
    int best = FITS_NOT;
    for (uint32_t i = 0; i < profile->threads.length; i++) {
        int fit = match_thread(profile, i, wanted);
        best = fit > best ? fit : best;
    }
    if (best == FITS_NOT)
        return print_unknown_thread(profile, path, wanted);
    for (uint32_t i = 0; i < profile->threads.length; i++)
        if (match_thread(profile, i, wanted) == best && !array_push(found, i))
            return ui_fail("out of memory");
    return EXIT_SUCCESS;
}

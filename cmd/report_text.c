/*
 * Text of a profile in a terminal. A name can hold anything (a profile may come from anywhere), so nothing in it may
 * move the cursor, change colours, turn the direction of writing or be there without being seen.
 */
#include "report.h"

#include "base/utf8.h"
#include "tree/func_names.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 60, WEIGHT_TEXT = 64 };

void report_look_at_terminal(struct report *report)
{
    setlocale(LC_CTYPE, "");
    report->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        report->width = size.ws_col;
    else if (columns && atoi(columns) > 0)
        report->width = (unsigned)atoi(columns);
    if (report->width && report->width < NARROWEST)
        report->width = NARROWEST;
}

static unsigned put_ellipsis(const struct report *report)
{
    fputs(report->utf8 ? "…" : "~", stdout);
    return 1;
}

unsigned report_put_text(const struct report *report, const char *text, unsigned columns)
{
    const char *end = text + strlen(text);
    unsigned used = 0;
    while (text < end) {
        size_t length = utf8_length(text, end);
        bool whole = length > 0 && utf8_is_visible(utf8_decode(text, length)) && (length == 1 || report->utf8);
        size_t step = length ? length : 1;
        if (columns && used + 1 == columns && text + step < end)
            return used + put_ellipsis(report);
        if (whole)
            fwrite(text, 1, length, stdout);
        else
            putchar('?');
        text += step;
        used++;
    }
    return used;
}

static unsigned count_characters(const char *text)
{
    unsigned count = 0;
    for (const char *end = text + strlen(text); text < end; count++) {
        size_t length = utf8_length(text, end);
        text += length ? length : 1;
    }
    return count;
}

const char *report_origin(const struct profile *profile, uint32_t func)
{
    struct func_names names = func_names_of(profile, func);
    uint32_t origin = names.lib != PROFILE_NONE ? names.lib : names.file;
    return origin != PROFILE_NONE ? strings_text(&profile->strings, origin) : NULL;
}

void report_put_func(const struct report *report, uint32_t func, unsigned columns)
{
    enum { LEAST_NAME = 20, MOST_ORIGIN = 30 };
    const char *name = strings_text(&report->profile->strings, func_names_of(report->profile, func).name);
    const char *origin = report_origin(report->profile, func);
    if (!origin || !origin[0] || (columns && columns < LEAST_NAME + 10)) {
        report_put_text(report, name, columns);
        return;
    }
    unsigned origin_columns = count_characters(origin);
    if (columns && origin_columns > MOST_ORIGIN)
        origin_columns = MOST_ORIGIN;
    if (columns && columns < LEAST_NAME + origin_columns + 4)
        origin_columns = columns - LEAST_NAME - 4;
    report_put_text(report, name, columns ? columns - origin_columns - 4 : 0);
    const char *bracket = origin[0] == '[' ? "" : "["; /* "[kernel.kallsyms]" has its own */
    printf("  %s", bracket);
    report_put_text(report, origin, columns ? origin_columns : 0);
    fputs(*bracket ? "]" : "", stdout);
}

/* Puts commas between the thousands of the digits that `text` begins with (after a sign). */
static void group_thousands(char *text, size_t size)
{
    char *digits = text + (*text == '-');
    size_t count = strspn(digits, "0123456789");
    while (count > 3 && strlen(text) + 2 <= size) {
        count -= 3;
        memmove(digits + count + 1, digits + count, strlen(digits + count) + 1);
        digits[count] = ',';
    }
}

void report_format_count(double count, char *out, size_t size)
{
    snprintf(out, size, "%.0f", count);
    group_thousands(out, size);
}

static void format_bytes(double weight, char *out, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; fabs(weight) >= 1024 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        weight /= 1024;
    snprintf(out, size, unit ? "%.1f %s" : "%.0f %s", weight, units[unit]);
}

void report_format_weight(const struct report *report, double weight, char *out, size_t size)
{
    if (weight == 0)
        snprintf(out, size, "%s", report->utf8 ? "–" : "-");
    else if (report->weight_type == WEIGHT_BYTES)
        format_bytes(weight, out, size);
    else if (fabs(weight) >= 1e15)
        snprintf(out, size, "%.6g", weight);
    else
        snprintf(out, size, weight == floor(weight) && report->weight_type == WEIGHT_SAMPLES ? "%.0f" : "%.1f", weight);
    if (weight != 0 && report->weight_type != WEIGHT_BYTES)
        group_thousands(out, size);
}

const char *report_unit(const struct report *report)
{
    static const char *const names[] = {
        [WEIGHT_SAMPLES] = "samples", [WEIGHT_TRACING_MS] = "ms", [WEIGHT_BYTES] = "bytes"};
    return names[report->weight_type];
}

static const char *library_name(const struct report *report, uint32_t resource)
{
    const struct profile *profile = report->profile;
    return resource < profile->resources.length
               ? strings_text(&profile->strings, profile->resources.data[resource].name)
               : "(no library)";
}

static const char *category_name(const struct report *report, uint32_t category)
{
    const struct profile *profile = report->profile;
    return category < profile->categories.length
               ? strings_text(&profile->strings, profile->categories.data[category].name)
               : "Other";
}

const char *report_group_name(const struct report *report, uint32_t index)
{
    return report->options.what == REPORT_LIBRARIES ? library_name(report, index) : category_name(report, index);
}

int report_list_groups(const struct report *report, struct func_timings *groups, struct error *err)
{
    return report->options.what == REPORT_LIBRARIES ? engine_libraries(report->engine, groups, err)
                                                    : engine_categories(report->engine, groups, err);
}

const char *report_center_name(const struct report *report)
{
    uint32_t index = report->center.index;
    switch (report->center.kind) {
    case BUTTERFLY_LIBRARY:
        return library_name(report, index);
    case BUTTERFLY_CATEGORY:
        return category_name(report, index);
    default:
        return strings_text(&report->profile->strings, func_names_of(report->profile, index).name);
    }
}

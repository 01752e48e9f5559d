/*
 * Prints text of a profile in a terminal. A profile may come from an untrusted source: its names must not move the
 * cursor, change colors, change the writing direction or hide text.
 */
#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

#include "base/utf8.h"
#include "tree/func_name.h"
#include "tree/stack_view.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { NARROWEST = 40 };

void report_detect_terminal(struct report *report)
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
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool wants_none = (no_color && *no_color) || !terminal || strcmp(terminal, "dumb") == 0;
    enum report_color_when when = report->options.color;
    report->color = when == COLOR_ALWAYS || (when == COLOR_AUTO && isatty(STDOUT_FILENO) && !wants_none);
}

void report_print_color(const struct report *report, enum report_color color)
{
    static const char *const codes[] = {
        [COLOR_NORMAL] = "\033[m", [COLOR_BOLD] = "\033[1m",  [COLOR_DIM] = "\033[2m",
        [COLOR_HOT] = "\033[31m",  [COLOR_WARM] = "\033[32m", [COLOR_WARNING] = "\033[33m"};
    if (report->color)
        ui_write(codes[color], strlen(codes[color]));
}

void report_print_title(const struct report *report, const char *format, ...)
{
    char title[REPORT_LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(title, sizeof(title), format, args);
    va_end(args);
    report_print_color(report, COLOR_BOLD);
    ui_print("%s", title);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

unsigned report_measure_room(const struct report *report, unsigned used)
{
    enum { LEAST = 8 };
    return report->width == 0 ? 0 : report->width > used + LEAST ? report->width - used : LEAST;
}

/* ---- characters and their columns ---- */

/* A character of a text: its printable replacement and its width. */
struct glyph {
    const char *bytes;
    size_t length;
    unsigned columns;
};

struct glyphs {
    const char *at, *end;
    bool utf8;
    unsigned marks; /* number of consecutive zero-width characters */
};

static struct glyphs start_glyphs(const struct report *report, const char *text)
{
    return (struct glyphs){text, text + strlen(text), report->utf8, 0};
}

static bool next_glyph(struct glyphs *text, struct glyph *glyph)
{
    enum { MOST_MARKS = 2, ELLIPSIS = 0x2026 };
    if (text->at == text->end)
        return false;
    size_t length = utf8_measure_character(text->at, text->end);
    uint32_t code = length ? utf8_decode(text->at, length) : 0;
    int width = length == 1 ? 1 : text->utf8 && length ? wcwidth((wchar_t)code) : -1;
    text->marks = width == 0 ? text->marks + 1 : 0;
    if (width < 0 || text->marks > MOST_MARKS || !utf8_is_visible(code))
        *glyph = (struct glyph){code == ELLIPSIS ? "~" : "?", 1, 1};
    else
        *glyph = (struct glyph){text->at, length, (unsigned)width};
    text->at += length ? length : 1;
    return true;
}

unsigned report_measure_text(const struct report *report, const char *text)
{
    struct glyphs glyphs = start_glyphs(report, text);
    unsigned columns = 0;
    for (struct glyph glyph; next_glyph(&glyphs, &glyph);)
        columns += glyph.columns;
    return columns;
}

/* Prints a glyph. In Markdown, a name such as "Vec<int>" is no markup. */
static void write_glyph(const struct report *report, const struct glyph *glyph)
{
    if (report->options.markdown && glyph->length == 1 && strchr("<>&|`*[]\\~#", *glyph->bytes))
        ui_write("\\", 1);
    ui_write(glyph->bytes, glyph->length);
}

/* Prints the first `head` and the last `tail` of `all` columns, with an ellipsis between them. */
static unsigned print_ends(const struct report *report, const char *text, unsigned all, unsigned head, unsigned tail)
{
    struct glyphs glyphs = start_glyphs(report, text);
    unsigned at = 0, used = 0;
    bool is_cut = false;
    for (struct glyph glyph; next_glyph(&glyphs, &glyph); at += glyph.columns) {
        if (at + glyph.columns > head && at < all - tail) {
            ui_print("%s", is_cut ? "" : report->utf8 ? "…" : "~");
            used += !is_cut;
            is_cut = true;
            continue;
        }
        write_glyph(report, &glyph);
        used += glyph.columns;
    }
    return used;
}

unsigned report_print_text(const struct report *report, const char *text, unsigned columns)
{
    unsigned all = report_measure_text(report, text);
    return columns && all > columns ? print_ends(report, text, all, columns - 1, 0)
                                    : print_ends(report, text, all, all, 0);
}

unsigned report_print_shortened(const struct report *report, const char *text, unsigned columns)
{
    unsigned all = report_measure_text(report, text), tail = columns ? (columns - 1) / 2 : 0;
    return columns && all > columns ? print_ends(report, text, all, columns - 1 - tail, tail)
                                    : print_ends(report, text, all, all, 0);
}

void report_print_right_aligned(const struct report *report, const char *text, unsigned columns)
{
    unsigned used = report_measure_text(report, text);
    ui_print("%*s", used < columns ? (int)(columns - used) : 0, "");
    report_print_text(report, text, 0);
}

void report_print_wrapped(const struct report *report, const char *text, unsigned indent, unsigned used)
{
    while (*text) {
        char word[256];
        size_t length = strcspn(text, " "), copied = length < sizeof(word) ? length : sizeof(word) - 1;
        while (copied < length && copied > 0 && (text[copied] & 0xc0) == 0x80)
            copied--;
        memcpy(word, text, copied);
        word[copied] = '\0';
        unsigned columns = report_measure_text(report, word);
        if (report->width && used > indent && used + 1 + columns > report->width) {
            ui_print("\n%*s", (int)indent, "");
            used = indent;
        } else if (used > indent) {
            putchar(' ');
            used++;
        }
        used += report_print_text(report, word, report->width > used ? report->width - used : 0);
        text += copied + (copied == length && text[length] == ' ');
    }
    putchar('\n');
}

/* ---- names ---- */

const char *report_get_func_name(const struct report *report, uint32_t func)
{
    return profile_text(report->profile, get_func_names(report->profile, func).name);
}

void report_append_func(const struct report *report, uint32_t func, char *text)
{
    enum { MOST_NAME = 80 };
    struct text_buffer name = {0};
    const char *whole = report_get_func_name(report, func);
    bool is_stripped = text_append_func_name(&name, whole) && text_append(&name, "", 1);
    const char *shown = is_stripped ? name.data : whole;
    report_append_format(text, "%.*s", utf8_cut(shown, MOST_NAME), shown);
    array_free(&name);
}

const char *report_get_thread_name(const struct report *report, uint32_t thread)
{
    return profile_thread_name(report->profile, thread);
}

const char *report_get_origin(const struct profile *profile, uint32_t func)
{
    struct func_names names = get_func_names(profile, func);
    uint32_t origin = names.lib != PROFILE_NONE ? names.lib : names.file;
    return origin != PROFILE_NONE ? strings_text(&profile->strings, origin) : NULL;
}

enum inlining report_get_inlining(const struct report *report, uint32_t func)
{
    return func < report->inlining.length ? (enum inlining)report->inlining.data[func] : INLINED_NEVER;
}

void report_print_func(const struct report *report, uint32_t func, const char *count, unsigned columns)
{
    enum { LEAST_NAME = 20, LEAST_ORIGIN = 10, MOST_ORIGIN = 24 };
    static const char *const marks[] = {
        [INLINED_NEVER] = "", [INLINED_SOMETIMES] = " (partly inlined)", [INLINED_ALWAYS] = " (inlined)"};
    char after[REPORT_LINE_SIZE];
    snprintf(after, sizeof(after), "%s%s", count, marks[report_get_inlining(report, func)]);
    const char *name = report_get_func_name(report, func);
    const char *origin = report_get_origin(report->profile, func);
    bool bracket = origin && origin[0] != '['; /* "[kernel.kallsyms]" has its own brackets */
    unsigned around = bracket ? 4 : 2, origin_columns = origin && origin[0] ? report_measure_text(report, origin) : 0;
    if (columns) { /* the name has precedence; the origin gets the remaining columns */
        unsigned after_columns = report_measure_text(report, after), name_columns = report_measure_text(report, name);
        columns = columns > after_columns + LEAST_NAME / 2 ? columns - after_columns : LEAST_NAME / 2;
        unsigned left = columns > name_columns + around ? columns - name_columns - around : 0;
        unsigned most = left < LEAST_ORIGIN ? LEAST_ORIGIN : left < MOST_ORIGIN ? left : MOST_ORIGIN;
        origin_columns = origin_columns > most ? most : origin_columns;
        if (columns < LEAST_NAME + around + origin_columns && left < origin_columns)
            origin_columns = 0;
    }
    report_print_name(report, name, columns && origin_columns ? columns - origin_columns - around : columns);
    report_print_text(report, after, 0);
    if (!origin_columns)
        return;
    report_print_color(report, COLOR_DIM);
    ui_print("%s", bracket ? "  [" : "  ");
    report_print_text(report, origin, columns ? origin_columns : 0);
    ui_print("%s", bracket ? "]" : "");
    report_print_color(report, COLOR_NORMAL);
}

/* ---- figures ---- */

void report_format_weight(const struct report *report, double weight, char out[QUANTITY_TEXT_MAX])
{
    if (weight == 0)
        snprintf(out, QUANTITY_TEXT_MAX, "%s", report->utf8 ? "–" : "-");
    else
        format_weight(out, weight, report->weight.unit);
}

static const char *get_library_name(const struct report *report, uint32_t resource)
{
    const struct profile *profile = report->profile;
    return resource < profile->resources.length
               ? strings_text(&profile->strings, profile->resources.data[resource].name)
               : "(no library)";
}

static const char *get_category_name(const struct report *report, uint32_t category)
{
    const struct profile *profile = report->profile;
    return category < profile->categories.length
               ? strings_text(&profile->strings, profile->categories.data[category].name)
               : "Other";
}

int report_find_groups(struct report *report, struct error *err)
{
    const char *by = report->options.subject;
    enum func_grouping grouping = strcmp(by, "namespace") == 0   ? FUNCS_BY_NAMESPACE
                                  : strcmp(by, "directory") == 0 ? FUNCS_BY_DIRECTORY
                                                                 : FUNCS_BY_TERM;
    return func_groups_find(&report->groups, report->profile, grouping, by, err);
}

const char *report_get_group_name(const struct report *report, uint32_t index)
{
    const struct strings *names = &report->groups.names;
    if (report->options.kind == REPORT_GROUPS)
        return index < names->entries.length ? strings_text(names, index) : "(library)";
    return report->options.kind == REPORT_LIBRARIES ? get_library_name(report, index)
                                                    : get_category_name(report, index);
}

int report_list_groups(const struct report *report, struct func_timings *groups, struct error *err)
{
    if (report->options.kind == REPORT_GROUPS)
        return func_groups_sum(groups, &report->groups, engine_get_nodes(report->engine),
                               engine_get_timings(report->engine), err);
    enum group_kind kind = report->options.kind == REPORT_LIBRARIES ? GROUP_LIBRARY : GROUP_CATEGORY;
    return engine_list_groups(report->engine, kind, groups, err);
}

const char *report_get_focus_name(const struct report *report)
{
    uint32_t index = report->focus.index;
    switch (report->focus.kind) {
    case BUTTERFLY_LIBRARY:
        return get_library_name(report, index);
    case BUTTERFLY_CATEGORY:
        return get_category_name(report, index);
    default:
        return report_get_func_name(report, index);
    }
}

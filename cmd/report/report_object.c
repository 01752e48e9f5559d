/*
 * `prof report --waits=OBJECT`: where threads wait for an object, who ends the waits, and what happens meanwhile.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_rows.h"
#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "base/path.h"
#include "tree/object_waits.h"
#include "tree/wait_names.h"

#include <ctype.h>

enum { WIDTH = 11, SHARE_WIDTH = 8, LONGEST_WIDTH = 12 };

/* ---- the object ---- */

static bool is_word_end(char c)
{
    return !isalnum((unsigned char)c) && c != '_';
}

/* "cache" is in "mutex cache", but not in "mutex cache_lock". */
static bool has_words(const char *name, const char *words)
{
    size_t length = strlen(words);
    for (const char *at = name; length && (at = strstr(at, words)); at++)
        if ((at == name || is_word_end(at[-1])) && is_word_end(at[length]))
            return true;
    return false;
}

int report_resolve_object(struct report *report)
{
    struct wait_groups groups = {0};
    struct error err = {0};
    if (engine_group_waits(report->engine, WAITS_BY_OBJECT, &groups, &err))
        return ui_fail_with_error(&err);
    report->object = PROFILE_NONE;
    for (size_t i = 0; i < groups.list.length; i++) {
        const struct wait_group *group = &groups.list.data[i];
        const char *name = group->key == PROFILE_NONE ? "" : report_get_func_name(report, group->key);
        bool is_exact = strcmp(name, report->options.subject) == 0;
        if (is_exact || (report->object == PROFILE_NONE && has_words(name, report->options.subject)))
            report->object = group->key;
        if (is_exact)
            break;
    }
    wait_groups_destroy(&groups);
    return report->object != PROFILE_NONE
               ? EXIT_SUCCESS
               : ui_usage(
                     report->options.table->command,
                     "--waits takes reason, object, stack, thread, waker or object-waker, not '%s', and no thread waits for '%s'; --waits lists the objects",
                     report->options.subject, report->options.subject);
}

/* ---- rows ---- */

static void print_ms(double ms, int width)
{
    ui_print("%*.*f", width, ms >= 1000 ? 0 : ms >= 10 ? 1 : 3, ms);
}

/* Prints the name of a function, its line, and its callers. */
static void print_site(const struct report *report, const struct call_site *site, unsigned used)
{
    char text[REPORT_LINE_SIZE] = "(not known)";
    if (site->place.func != PROFILE_NONE) {
        const char *file = profile_text(report->profile, get_func_names(report->profile, site->place.func).file);
        text[0] = '\0';
        report_append_func(report, site->place.func, text);
        if (site->place.line && file[0])
            report_append_format(text, " (%.60s:%u)", path_get_base_name(file), site->place.line);
    }
    for (size_t i = 0; i < SITE_CALLERS && site->callers[i] != PROFILE_NONE; i++) {
        report_append_format(text, " < ");
        report_append_func(report, site->callers[i], text);
    }
    report_print_text(report, text, report_measure_room(report, used));
}

static void print_rows(const struct report *report, const struct object_waits *waits, const struct site_list *rows,
                       bool by_waker)
{
    size_t limit = report_get_row_limit(report, 12);
    bool has_held = false;
    for (size_t i = 0; i < rows->length; i++)
        has_held |= !isnan(rows->data[i].held);
    const char *held = waits->is_estimated ? "held ms <=" : "held ms";
    report_print_title(report, "\n%*s%*s%*s%*s%*s%*s  %s", WIDTH, "ms", SHARE_WIDTH, "share", WIDTH, "count",
                       LONGEST_WIDTH, "longest ms", SHARE_WIDTH + 1, "threads", has_held ? LONGEST_WIDTH : 0,
                       has_held ? held : "", by_waker ? "waits end in" : "threads wait in");
    for (size_t i = 0; i < rows->length && i < limit; i++) {
        const struct site_waits *row = &rows->data[i];
        char count[QUANTITY_TEXT_MAX];
        unsigned used = 2 * WIDTH + 2 * SHARE_WIDTH + 1 + LONGEST_WIDTH + 2 + (has_held ? LONGEST_WIDTH : 0);
        format_count(count, fmax(1, round(row->count)));
        print_ms(row->total, WIDTH);
        ui_print("%*.1f%%%*s", SHARE_WIDTH - 1, 100 * row->total / waits->total, WIDTH, count);
        print_ms(row->longest, LONGEST_WIDTH);
        ui_print("%*u", SHARE_WIDTH + 1, row->threads);
        if (has_held && isnan(row->held))
            ui_print("%*s", LONGEST_WIDTH, "-");
        else if (has_held)
            print_ms(row->held, LONGEST_WIDTH);
        ui_print("  ");
        if (by_waker) {
            const char *waker = row->waker == PROFILE_NONE ? "(not known)" : profile_text(report->profile, row->waker);
            char name[REPORT_LINE_SIZE];
            size_t length = row->threads > 1 ? measure_waker_name(waker) : strlen(waker);
            snprintf(name, sizeof(name), "%.*s%s", (int)length, waker,
                     row->site.place.func == PROFILE_NONE ? "" : ", ");
            used += report_print_text(report, name, 0);
        }
        if (!by_waker || row->site.place.func != PROFILE_NONE)
            print_site(report, &row->site, used);
        putchar('\n');
    }
    report_print_hidden_count(rows->length, limit);
}

/* Prints one column for each step, with one of " .:-=+*#@" for the number of waiting threads. */
static void print_over_time(const struct report *report, const struct object_waits *waits)
{
    static const char levels[] = " .:-=+*#@";
    double most = 0, start = engine_get_full_range(report->engine).from;
    for (size_t i = 0; i < OBJECT_WAITS_STEPS; i++)
        most = fmax(most, waits->waiting[i]);
    ui_print("\n%.3f s |", (waits->range.from - start) / 1000);
    for (size_t i = 0; most > 0 && i < OBJECT_WAITS_STEPS; i++)
        ui_print("%c", levels[(size_t)ceil(waits->waiting[i] / most * (sizeof(levels) - 2))]);
    ui_print("| %.3f s, at most %.1f threads wait\n", (waits->range.to - start) / 1000, most);
}

static void print_meanwhile(const struct report *report, const struct object_waits *waits)
{
    static const char *const states[PATH_STATES] = {[PATH_RUNS] = " runs",
                                                    [PATH_RUNNABLE] = "runnable",
                                                    [PATH_WAITS] = " waits",
                                                    [PATH_UNSEEN] = "short waits",
                                                    [PATH_ABSENT] = "no thread"};
    static const double least_share = 0.005;
    double total = 0;
    for (size_t i = 0; i < waits->meanwhile.length; i++)
        total += waits->meanwhile.data[i].ms;
    report_print_title(report, "\n%*s  during the longest waits (critical path)", SHARE_WIDTH, "share");
    for (size_t i = 0; i < waits->meanwhile.length && i < PATH_PARTS_USUAL; i++) {
        const struct path_part *part = &waits->meanwhile.data[i];
        if (part->ms < least_share * total)
            break;
        char text[REPORT_LINE_SIZE] = "";
        bool has_thread = part->state == PATH_RUNS || part->state == PATH_WAITS;
        const char *object = part->object == PROFILE_NONE ? "" : report_get_func_name(report, part->object);
        bool sleeps = strcmp(object, "sleep") == 0;
        report_append_format(text, "%.60s%s", has_thread ? report_get_thread_name(report, part->thread) : "",
                             sleeps ? " sleeps" : states[part->state]);
        if (object[0] && !sleeps)
            report_append_format(text, " for %.80s", object);
        if (part->func != PROFILE_NONE) {
            report_append_format(text, " in ");
            report_append_func(report, part->func, text);
        }
        ui_print("%*.1f%%  ", SHARE_WIDTH - 1, 100 * part->ms / total);
        report_print_text(report, text, report_measure_room(report, SHARE_WIDTH + 2));
        putchar('\n');
    }
}

int report_print_object(const struct report *report, struct error *err)
{
    struct object_waits waits = {0};
    int code = object_waits_find(&waits, report->engine, report->object, err);
    if (!code) {
        char text[REPORT_LINE_SIZE] = "", total[QUANTITY_TEXT_MAX], there[QUANTITY_TEXT_MAX], count[QUANTITY_TEXT_MAX];
        format_time(total, waits.total);
        format_time(there, waits.there);
        format_count(count, fmax(1, round(waits.count)));
        report_append_format(text, "%.120s (%s): %s%s of %s in %s waits", report_get_func_name(report, waits.object),
                             get_wait_reason_name(report->engine, waits.reason), waits.is_estimated ? "about " : "",
                             total, there, count);
        report_print_wrapped(report, text, 0, 0);
        print_over_time(report, &waits);
        print_rows(report, &waits, &waits.waiters, false);
        if (waits.wakers.length)
            print_rows(report, &waits, &waits.wakers, true);
        if (waits.meanwhile.length)
            print_meanwhile(report, &waits);
    }
    object_waits_destroy(&waits);
    return code;
}

int report_write_object(struct json_writer *json, const struct report *report, struct error *err)
{
    struct object_waits waits = {0};
    int code = object_waits_find(&waits, report->engine, report->object, err);
    json_key(json, "object_waits");
    object_waits_write(json, report->engine, &waits);
    object_waits_destroy(&waits);
    return code;
}

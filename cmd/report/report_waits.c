/*
 * `prof report --waits`: the waits of threads in groups, as in the page's Waits view; and the hint at --waits for
 * threads that waited nearly all the time.
 */
#include "cmd/report/report_waits.h"

#include "cmd/report/report_threads.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_rows.h"

#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/runtime_frames.h"
#include "tree/wait_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL_COLUMNS = 11, SHARE_COLUMNS = 8, COUNT_COLUMNS = 8, LONGEST_COLUMNS = 11, MOST_CALLERS = 3 };

static const char *const grouping_names[WAIT_GROUPINGS] = {[WAITS_BY_REASON] = "reason",
                                                           [WAITS_BY_OBJECT] = "object",
                                                           [WAITS_BY_STACK] = "stack",
                                                           [WAITS_BY_THREAD] = "thread",
                                                           [WAITS_BY_WAKER] = "waker"};

int report_choose_waits(struct report *report)
{
    const char *name = report->options.subject;
    report->wait_grouping = WAITS_BY_OBJECT;
    if (!engine_has_waits(report->engine))
        return ui_fail("%s has no recorded waits", report->options.path);
    for (int i = 0; name && i < WAIT_GROUPINGS; i++)
        if (strcmp(grouping_names[i], name) == 0) {
            report->wait_grouping = (enum wait_grouping)i;
            return i != WAITS_BY_WAKER || profile_has_wakers(report->profile)
                       ? EXIT_SUCCESS
                       : ui_fail(
                             "%s has no wakers: 'prof record --wakers' records them if the kernel permits it (see 'prof doctor')",
                             report->options.path);
        }
    return name ? ui_usage("report", "--waits takes reason, object, stack, thread or waker, not '%s'", name)
                : EXIT_SUCCESS;
}

/* ---- words ---- */

static const char *reason_text(const struct report *report, uint32_t reason)
{
    const struct category *idle = &report->profile->categories.data[engine_idle_category(report->engine)];
    if (reason == PROFILE_NONE)
        return "Not recorded";
    return reason == 0 || reason >= idle->subcategories.length
               ? "Unknown"
               : profile_text(report->profile, idle->subcategories.data[reason]);
}

static const char *func_text(const struct report *report, uint32_t func)
{
    return profile_text(report->profile, func_names_of(report->profile, func).name);
}

static const char *object_text(const struct report *report, const struct wait_group *group)
{
    return group->func == PROFILE_NONE ? "(not running)" : func_text(report, group->func);
}

static const char *thread_text(const struct report *report, uint32_t thread)
{
    return profile_text(report->profile, report->profile->threads.data[thread].name);
}

static const char *waker_text(const struct report *report, const struct wait_group *group)
{
    return group->waker == PROFILE_NONE ? "(not known)" : profile_text(report->profile, group->waker);
}

/* The funcs that called into the longest wait of a group, root first. */
static int find_callers(const struct report *report, const struct wait_group *group, enum wait_grouping grouping,
                        struct node_path *path, struct error *err)
{
    path->length = 0;
    if (!wait_group_path(report->engine, group->node, path))
        return error_no_memory(err);
    if (grouping != WAITS_BY_STACK && path->length && group->func != PROFILE_NONE)
        path->length--;
    return 0;
}

/* The func that is `depth` calls above the wait. */
static const char *caller_text(const struct report *report, const struct node_path *path, size_t depth)
{
    return func_text(report, path->data[path->length - 1 - depth]);
}

/* Appends the callers from the program's innermost frame, `skipped` frames above it, and the function that this frame
 * called to wait: "lookup < serve < main via pthread_mutex_lock". */
static void append_callers(const struct report *report, const struct node_path *path, size_t skipped, char *text)
{
    size_t own = count_runtime_frames(report->profile, path->data, path->length);
    for (size_t i = own + skipped; i < path->length && i < own + skipped + MOST_CALLERS; i++)
        report_append(text, "%s%.80s", i > own + skipped ? " < " : "", caller_text(report, path, i));
    if (own)
        report_append(text, "%svia %.80s", own + skipped < path->length ? " " : "", caller_text(report, path, own - 1));
}

/* ---- the table ---- */

/* Returns the columns used. */
static unsigned print_title(const struct report *report, const struct wait_group *group, const struct node_path *path)
{
    const char *title = "(no callers)";
    switch (report->wait_grouping) {
    case WAITS_BY_REASON:
        title = reason_text(report, group->reason);
        break;
    case WAITS_BY_OBJECT:
        title = object_text(report, group);
        break;
    case WAITS_BY_THREAD:
        title = thread_text(report, group->thread);
        break;
    case WAITS_BY_WAKER:
        title = waker_text(report, group);
        break;
    default:
        if (path->length)
            title = caller_text(report, path, count_runtime_frames(report->profile, path->data, path->length));
    }
    return report_print_text(report, title, 60);
}

static void print_group_details(const struct report *report, const struct wait_group *group,
                                const struct node_path *path, unsigned used)
{
    char text[REPORT_LINE_SIZE] = "";
    enum wait_grouping by = report->wait_grouping;
    struct time_range full = engine_full_range(report->engine);
    if (by == WAITS_BY_OBJECT)
        report_append(text, "%s; ", reason_text(report, group->reason));
    else
        report_append(text, "%.60s; ", object_text(report, group));
    size_t length = strlen(text);
    append_callers(report, path, by == WAITS_BY_STACK, text);
    if (strlen(text) > length)
        report_append(text, "; ");
    if (!isnan(group->from)) {
        report_append(text, "longest at %.3f s", (group->from - full.from) / 1000);
        if (by != WAITS_BY_THREAD)
            report_append(text, " in %.40s", thread_text(report, group->thread));
        if (by != WAITS_BY_WAKER && group->waker != PROFILE_NONE)
            report_append(text, ", ended by %.40s", waker_text(report, group));
    }
    if (group->runnable > 0 && by != WAITS_BY_REASON && group->runnable < group->total)
        report_append(text, ", %.1f ms runnable", group->runnable);
    fputs("  ", stdout);
    report_color(report, COLOR_DIM);
    report_print_text(report, text, report_columns_left(report, used));
    report_color(report, COLOR_NORMAL);
}

static int print_group(const struct report *report, const struct wait_group *group, double there,
                       struct node_path *path, struct error *err)
{
    char total[QUANTITY_TEXT_MAX], share[32], count[QUANTITY_TEXT_MAX], longest[QUANTITY_TEXT_MAX];
    int code = find_callers(report, group, report->wait_grouping, path, err);
    if (code)
        return code;
    weight_text(total, group->total, "ms");
    weight_text(longest, group->longest, "ms");
    count_text(count, round(group->count));
    snprintf(share, sizeof(share), "%.1f%%", there > 0 ? 100 * group->total / there : 0);
    ui_print("%*s%*s%*s%*s  ", TOTAL_COLUMNS, total, SHARE_COLUMNS, share, COUNT_COLUMNS, count, LONGEST_COLUMNS,
             group->count ? longest : "-");
    unsigned used = print_title(report, group, path);
    print_group_details(report, group, path,
                        TOTAL_COLUMNS + SHARE_COLUMNS + COUNT_COLUMNS + LONGEST_COLUMNS + 4 + used);
    putchar('\n');
    return 0;
}

static void print_totals(const struct report *report, const struct wait_totals *totals)
{
    char waited[32], there[32], runnable[32], text[REPORT_LINE_SIZE] = "";
    report_format_time(totals->waited, waited, sizeof(waited));
    report_format_time(totals->there, there, sizeof(there));
    report_format_time(totals->runnable, runnable, sizeof(runnable));
    report_append(text, "Off CPU for %s of %s", waited, there);
    if (totals->runnable > 0)
        report_append(text, ", %s runnable", runnable);
    ui_print("%s\n", text);
    putchar('\n');
    report_color(report, COLOR_BOLD);
    ui_print("%*s%*s%*s%*s  %s", TOTAL_COLUMNS, "ms", SHARE_COLUMNS, "share", COUNT_COLUMNS, "count", LONGEST_COLUMNS,
             "longest",
             report->wait_grouping == WAITS_BY_THREAD  ? "thread"
             : report->wait_grouping == WAITS_BY_STACK ? "called from"
             : report->wait_grouping == WAITS_BY_WAKER ? "ended by"
                                                       : "waited for");
    report_color(report, COLOR_NORMAL);
    putchar('\n');
}

int report_print_waits(const struct report *report, struct error *err)
{
    enum { USUAL_ROWS = 40 };
    struct wait_groups groups = {0};
    struct node_path path = {0};
    int code = engine_wait_groups(report->engine, report->wait_grouping, &groups, err);
    if (!code)
        print_totals(report, &groups.totals);
    size_t limit = report_row_limit(report, USUAL_ROWS);
    for (size_t i = 0; !code && i < groups.list.length && i < limit; i++)
        code = print_group(report, &groups.list.data[i], groups.totals.there, &path, err);
    if (!code && groups.list.length > limit)
        ui_print("and %zu more (--limit 0 prints all)\n", groups.list.length - limit);
    array_free(&path);
    wait_groups_destroy(&groups);
    return code;
}

/* ---- JSON ---- */

static const double NORMAL_95 = 1.96; /* standard errors of a 95 % interval */

static int write_group(struct json_writer *json, const struct report *report, enum wait_grouping by,
                       const struct wait_group *group, struct node_path *path, struct error *err)
{
    int code = find_callers(report, group, by, path, err);
    json_open(json, '{');
    if (by == WAITS_BY_THREAD)
        json_member_double(json, "thread", group->key);
    if (group->waker != PROFILE_NONE)
        json_member_text(json, "waker", waker_text(report, group));
    json_member_text(json, "reason", reason_text(report, group->reason));
    json_member_text(json, "object", object_text(report, group));
    json_member_double(json, "total_ms", group->total);
    json_member_double(json, "total_error_ms", NORMAL_95 * sqrt(group->variance));
    json_member_double(json, "runnable_ms", group->runnable);
    json_member_double(json, "count", round(group->count));
    if (!isnan(group->from)) {
        json_member_open(json, "longest", '{');
        json_member_double(json, "ms", group->longest);
        json_member_double(json, "from_ms", group->from);
        json_member_double(json, "to_ms", group->to);
        json_member_double(json, "thread", group->thread);
        json_close(json, '}');
    }
    json_member_double(json, "runtime_callers", count_runtime_frames(report->profile, path->data, path->length));
    json_member_open(json, "callers", '[');
    for (size_t i = path->length; i-- > 0;)
        json_text_z(json, func_text(report, path->data[i]));
    json_close(json, ']');
    json_close(json, '}');
    return code;
}

int report_write_waits(struct json_writer *json, const struct report *report, struct error *err)
{
    struct wait_groups groups = {0};
    struct node_path path = {0};
    int code = 0;
    json_member_open(json, "waits", '{');
    for (int by = 0; !code && by < WAIT_GROUPINGS; by++) {
        if (by == WAITS_BY_WAKER && !profile_has_wakers(report->profile))
            continue;
        code = engine_wait_groups(report->engine, (enum wait_grouping)by, &groups, err);
        if (!code && by == 0) {
            json_member_double(json, "there_ms", groups.totals.there);
            json_member_double(json, "off_cpu_ms", groups.totals.waited);
            json_member_double(json, "runnable_ms", groups.totals.runnable);
            json_member_double(json, "count", round(groups.totals.count));
        }
        char key[32];
        snprintf(key, sizeof(key), "by_%s", grouping_names[by]);
        json_member_open(json, key, '[');
        for (size_t i = 0; !code && i < groups.list.length; i++)
            code = write_group(json, report, (enum wait_grouping)by, &groups.list.data[i], &path, err);
        json_close(json, ']');
    }
    json_close(json, '}');
    array_free(&path);
    wait_groups_destroy(&groups);
    return code;
}

/* ---- the hint for threads with little CPU time ---- */

int report_describe_waiting(const struct report *report, char *text, struct error *err)
{
    static const double mostly_waiting = 0.1;
    struct wait_groups groups = {0};
    text[0] = '\0';
    if (!engine_has_waits(report->engine) || report->weight.kind != WEIGH_CPU_TIME)
        return 0;
    int code = engine_wait_groups(report->engine, WAITS_BY_REASON, &groups, err);
    double there = groups.totals.there;
    bool has_waited = groups.totals.waited > (1 - mostly_waiting) * there;
    if (!code && has_waited && groups.totals.ran < mostly_waiting * there) {
        char ran_text[32], there_text[32];
        report_format_time(groups.totals.ran, ran_text, sizeof(ran_text));
        report_format_time(there, there_text, sizeof(there_text));
        report_append(
            text, "The thread%s ran for %s of %s: --off-cpu shows where %s waited, --waits shows the reasons.",
            report->threads.length == 1 ? "" : "s", ran_text, there_text, report->threads.length == 1 ? "it" : "they");
    }
    wait_groups_destroy(&groups);
    return code;
}

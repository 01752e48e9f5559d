/*
 * Prints the processes and threads of a profile with CPU time, share of the total, and utilization during their
 * lifetime. The header of a tree shows the busiest threads; threads whose names differ only in a number (a worker pool,
 * the compilers of a build) share a row there. `prof report --threads` lists all threads.
 */
#include "cmd/report/report_threads.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_rows.h"
#include "cmd/common/ui.h"

#include "base/strings.h"
#include "tree/order.h"

#include <ctype.h>

enum { TIME_COLUMNS = 10, SHARE_COLUMNS = 8, COUNT_COLUMNS = 9, MIGRATION_COLUMNS = 12 };

/* A row of the table: a thread, a process, or all threads with the same name. */
struct thread_row {
    double cpu;      /* ms */
    double lifetime; /* ms, inside the range */
    double samples, migrations;
    uint32_t first, last;        /* range of its threads */
    uint32_t threads, processes; /* counts */
};

ARRAY_TYPE(struct thread_rows, struct thread_row);

static const struct thread *get_thread_at(const struct report *report, uint32_t thread)
{
    return &report->profile->threads.data[thread];
}

double report_sum_cpu_time(const struct report *report, uint32_t thread)
{
    return sum_thread_cpu_time(report->profile, thread, report->range);
}

double report_count_thread_samples(const struct report *report, uint32_t thread)
{
    bool are_samples = report->weight.table == TABLE_SAMPLES;
    return count_weighed_samples(report->profile, thread, are_samples ? WEIGH_SAMPLES : report->weight.kind,
                                 report->weight.table, report->range);
}

double report_count_migrations(const struct report *report, uint32_t thread)
{
    const struct slice_table *slices = &get_thread_at(report, thread)->slices;
    double count = 0;
    for (size_t i = 1; i < slices->length; i++)
        count += slices->cpu[i] != slices->cpu[i - 1] && slices->start[i] >= report->range.from &&
                 slices->start[i] < report->range.to;
    return count;
}

/* Returns the length of the overlap between the range and a lifetime, or NAN (an open end of the lifetime). */
static double get_overlap(const struct report *report, double from, double to)
{
    return fmax(0, fmin(report->range.to, to) - fmax(report->range.from, from));
}

static struct thread_row make_row(const struct report *report, uint32_t index)
{
    const struct thread *thread = get_thread_at(report, index);
    return (struct thread_row){.cpu = report_sum_cpu_time(report, index),
                               .lifetime = get_overlap(report, thread->start, thread->end),
                               .migrations = report_count_migrations(report, index),
                               .samples = report_count_thread_samples(report, index),
                               .first = index,
                               .last = index,
                               .threads = 1,
                               .processes = 1};
}

static void sum_rows(struct thread_row *sum, const struct thread_row *row)
{
    sum->cpu += row->cpu;
    sum->samples += row->samples;
    sum->migrations += row->migrations;
    sum->threads += row->threads;
    sum->last = row->last;
}

/* ---- printing ---- */

struct thread_table {
    const struct report *report;
    bool has_cpu, whole, is_of_several_processes;
    bool has_migrations; /* for the whole table, the profile has slices */
    double all;          /* 100%: CPU time, or samples if the profile has no CPU times */
};

static double get_row_weight(const struct thread_table *table, const struct thread_row *row)
{
    return table->has_cpu ? row->cpu : row->samples;
}

static void print_titles(const struct thread_table *table, const char *title)
{
    report_print_color(table->report, COLOR_BOLD);
    if (table->has_cpu)
        ui_print("%*s", TIME_COLUMNS, "CPU time");
    ui_print("%*s", SHARE_COLUMNS, "share");
    if (table->whole && table->has_cpu)
        ui_print("%*s", SHARE_COLUMNS, "busy");
    ui_print("  %*s", COUNT_COLUMNS, "samples");
    if (table->has_migrations)
        ui_print("%*s", MIGRATION_COLUMNS, "migrations");
    ui_print("  %s", title);
    report_print_color(table->report, COLOR_NORMAL);
    putchar('\n');
}

static void print_percent(double part, double whole)
{
    char text[QUANTITY_TEXT_MAX];
    snprintf(text, sizeof(text), "%.1f%%", whole > 0 ? 100 * part / whole : 0);
    ui_print("%*s", SHARE_COLUMNS, text);
}

/* Returns the columns used. */
static unsigned print_row_figures(const struct thread_table *table, const struct thread_row *row)
{
    char text[QUANTITY_TEXT_MAX];
    unsigned used = SHARE_COLUMNS + 2 + COUNT_COLUMNS + 2;
    if (table->has_cpu) {
        format_time(text, row->cpu);
        ui_print("%*s", TIME_COLUMNS, text);
        used += TIME_COLUMNS;
    }
    print_percent(get_row_weight(table, row), table->all);
    if (table->whole && table->has_cpu) {
        print_percent(row->cpu, row->lifetime);
        used += SHARE_COLUMNS;
    }
    format_count(text, row->samples);
    ui_print("  %*s", COUNT_COLUMNS, text);
    if (table->has_migrations) {
        format_count(text, row->migrations);
        ui_print("%*s", MIGRATION_COLUMNS, text);
        used += MIGRATION_COLUMNS;
    }
    ui_print("  ");
    return used;
}

static void print_label(const struct thread_table *table, const char *name, const char *after, unsigned used)
{
    const struct report *report = table->report;
    unsigned left = report_measure_room(report, used), columns = report_measure_text(report, after);
    report_print_shortened(report, name, left == 0 ? 0 : left > columns + 8 ? left - columns : 8);
    report_print_color(report, COLOR_DIM);
    report_print_text(report, after, 0);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

/* Orders the rows by weight. The caller frees `out` also after a failure. */
static int sort_rows(const struct thread_table *table, const struct thread_rows *rows, struct order_entry **out,
                     struct error *err)
{
    struct order_entry *order = *out = malloc((rows->length + 1) * sizeof(*order));
    if (!order)
        return error_no_memory(err);
    for (size_t i = 0; i < rows->length; i++)
        order[i] = (struct order_entry){get_row_weight(table, &rows->data[i]), (uint32_t)i};
    return order_sort_heaviest_first(order, rows->length, err);
}

static struct thread_table make_table(const struct report *report, bool whole)
{
    struct thread_table table = {
        .report = report, .has_cpu = profile_has_weight(report->profile, WEIGH_CPU_TIME), .whole = whole};
    for (size_t i = 0; i < report->threads.length; i++) {
        struct thread_row row = make_row(report, report->threads.data[i]);
        table.all += get_row_weight(&table, &row);
        table.has_migrations |= whole && get_thread_at(report, row.first)->slices.length > 0;
        table.is_of_several_processes |=
            get_thread_at(report, row.first)->pid != get_thread_at(report, report->threads.data[0])->pid;
    }
    return table;
}

/* ---- the busiest threads ---- */

static const char *get_process_name(const struct report *report, const struct thread *thread)
{
    const char *name = profile_text(report->profile, thread->process_name);
    return name[0] ? name : profile_text(report->profile, thread->name);
}

/* Formats "make", "worker-*" or, with several processes, "make/worker-*". */
static void format_label(const struct thread_table *table, uint32_t index, bool of_many, char *out, size_t size)
{
    const struct report *report = table->report;
    const struct thread *thread = get_thread_at(report, index);
    const char *name = profile_text(report->profile, thread->name), *process = get_process_name(report, thread);
    size_t length = strlen(name), kept = length;
    while (of_many && kept > 0 && isdigit((unsigned char)name[kept - 1]))
        kept--;
    if (thread->is_main || strcmp(name, process) == 0)
        snprintf(out, size, "%s", process);
    else
        snprintf(out, size, "%s%s%.*s%s", table->is_of_several_processes ? process : "",
                 table->is_of_several_processes ? "/" : "", (int)kept, name, kept < length ? "*" : "");
}

/* Groups threads by label: `labels` has the label of each row, at the row's index. */
static bool group_threads(const struct thread_table *table, struct thread_rows *rows, struct strings *labels)
{
    const struct report *report = table->report;
    for (size_t i = 0; i < report->threads.length; i++) {
        char label[256];
        struct thread_row row = make_row(report, report->threads.data[i]);
        format_label(table, row.first, true, label, sizeof(label));
        uint32_t group = strings_add_z(labels, label);
        if (group == STRING_NONE)
            return false;
        if (group >= rows->length || !rows->data) {
            if (!array_push(rows, row))
                return false;
            continue;
        }
        struct thread_row *sum = &rows->data[group];
        sum->processes += get_thread_at(report, sum->last)->pid != get_thread_at(report, row.first)->pid;
        sum_rows(sum, &row);
    }
    return true;
}

static void print_group(const struct thread_table *table, const struct thread_row *row)
{
    char label[256], count[64] = "";
    format_label(table, row->first, row->threads > 1, label, sizeof(label));
    if (row->threads > 1)
        snprintf(count, sizeof(count), "  (%u %s)", row->threads,
                 row->processes == row->threads ? "processes" : "threads");
    print_label(table, label, count, print_row_figures(table, row));
}

int report_print_busy_threads(const struct report *report, struct error *err)
{
    enum { MOST_ROWS = 6 };
    struct thread_table table = make_table(report, false);
    struct thread_rows rows = {0};
    struct strings labels = {0};
    struct order_entry *order = NULL;
    if (report->threads.length < 2)
        return 0;
    int code = group_threads(&table, &rows, &labels) ? 0 : error_no_memory(err);
    if (!code)
        code = sort_rows(&table, &rows, &order, err);
    if (!code) {
        print_titles(&table, "process or thread");
        for (size_t i = 0; i < rows.length && i < MOST_ROWS; i++)
            print_group(&table, &rows.data[order[i].index]);
        if (rows.length > MOST_ROWS)
            ui_print("Hidden: rows after the first %d (--threads)\n", MOST_ROWS);
        putchar('\n');
    }
    free(order);
    array_free(&rows);
    strings_destroy(&labels);
    return code;
}

/* ---- all threads ---- */

/* Rows of threads, rows of processes, and the process of each thread. */
struct processes {
    struct thread_rows threads, processes;
    ARRAY(uint32_t) process_of;
    struct hash of_pid;
};

static bool collect_processes(const struct report *report, struct processes *all)
{
    for (size_t i = 0; i < report->threads.length; i++) {
        struct thread_row row = make_row(report, report->threads.data[i]);
        uint32_t *process = hash_at(&all->of_pid, get_thread_at(report, row.first)->pid);
        if (!process)
            return false;
        if (*process == HASH_MISSING) {
            const struct thread *thread = get_thread_at(report, row.first);
            struct thread_row sum = row;
            sum.lifetime = get_overlap(report, thread->process_start, thread->process_end);
            *process = (uint32_t)all->processes.length;
            if (!array_push(&all->processes, sum))
                return false;
        } else {
            sum_rows(&all->processes.data[*process], &row);
        }
        if (!array_push(&all->threads, row) || !array_push(&all->process_of, *process))
            return false;
    }
    return true;
}

static void print_process(const struct thread_table *table, const struct thread_row *row)
{
    const struct thread *thread = get_thread_at(table->report, row->first);
    char after[64];
    snprintf(after, sizeof(after), "  (pid %.20s)", profile_text(table->report->profile, thread->pid));
    print_label(table, get_process_name(table->report, thread), after, print_row_figures(table, row));
}

static void print_thread(const struct thread_table *table, const struct thread_row *row)
{
    const struct thread *thread = get_thread_at(table->report, row->first);
    char after[64];
    snprintf(after, sizeof(after), "  (tid %.20s)", profile_text(table->report->profile, thread->tid));
    unsigned used = print_row_figures(table, row);
    fputs("  ", stdout);
    print_label(table, profile_text(table->report->profile, thread->name), after, used + 2);
}

/* Prints each process in the order of `processes`, followed by its threads. */
static void print_processes(const struct thread_table *table, const struct processes *all,
                            const struct order_entry *processes, const struct order_entry *threads,
                            struct row_counts *counts)
{
    for (size_t p = 0; p < all->processes.length && !counts->limit; p++) {
        uint32_t process = processes[p].index;
        if (report_count_row(table->report, counts, INFINITY, SIZE_MAX))
            print_process(table, &all->processes.data[process]);
        for (size_t t = 0; all->processes.data[process].threads > 1 && t < all->threads.length && !counts->limit; t++)
            if (all->process_of.data[threads[t].index] == process &&
                report_count_row(table->report, counts, INFINITY, SIZE_MAX))
                print_thread(table, &all->threads.data[threads[t].index]);
    }
}

int report_print_threads(const struct report *report, struct error *err)
{
    struct thread_table table = make_table(report, true);
    struct processes all = {0};
    struct order_entry *processes = NULL, *threads = NULL;
    int code = collect_processes(report, &all) ? 0 : error_no_memory(err);
    if (!code)
        code = sort_rows(&table, &all.processes, &processes, err);
    if (!code)
        code = sort_rows(&table, &all.threads, &threads, err);
    if (!code) {
        print_titles(&table, "process and threads");
        struct row_counts counts = {0};
        print_processes(&table, &all, processes, threads, &counts);
        report_print_omissions(report, &counts, "row");
    }
    free(threads);
    free(processes);
    array_free(&all.threads);
    array_free(&all.processes);
    array_free(&all.process_of);
    hash_destroy(&all.of_pid);
    return code;
}

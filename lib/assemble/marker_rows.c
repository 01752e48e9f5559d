#include "assemble/marker_rows.h"

#include "base/search.h"

double marker_rows_convert_to_ms(const struct marker_rows *rows, uint64_t time)
{
    return time > rows->start_ns ? (double)(time - rows->start_ns) / 1e6 : 0;
}

struct json_writer *marker_rows_start_payload(struct marker_rows *rows, const char *type)
{
    if (!rows->json)
        rows->json = malloc(sizeof(*rows->json));
    if (!rows->json) {
        rows->failed = true;
        return NULL;
    }
    rows->text.length = 0;
    rows->sink = text_sink(&rows->text);
    json_writer_init(rows->json, &rows->sink, NULL);
    json_open(rows->json, '{');
    json_member_text(rows->json, "type", type);
    return rows->json;
}

void marker_rows_add(struct marker_rows *rows, uint32_t thread, uint32_t name, uint32_t category,
                     enum marker_phase phase, uint64_t start, uint64_t end)
{
    if (rows->failed)
        return;
    json_close(rows->json, '}');
    struct marker_entry entry = {
        .thread = thread,
        .name = name,
        .category = category,
        .phase = (uint8_t)phase,
        .start = phase == PHASE_END ? NAN : marker_rows_convert_to_ms(rows, start),
        .end = phase == PHASE_INTERVAL || phase == PHASE_END ? marker_rows_convert_to_ms(rows, end) : NAN};
    entry.data = json_writer_finish(rows->json) == 0
                     ? strings_add(&rows->profile->strings, rows->text.data, rows->text.length)
                     : STRING_NONE;
    rows->failed = name == STRING_NONE || entry.data == STRING_NONE || category == PROFILE_NONE ||
                   !array_push(&rows->entries, entry);
}

uint32_t marker_rows_add_category(struct marker_rows *rows, const char *name, const char *color)
{
    const struct profile *profile = rows->profile;
    for (size_t i = 0; i < profile->categories.length; i++)
        if (strcmp(profile_text(profile, profile->categories.data[i].name), name) == 0)
            return (uint32_t)i;
    uint32_t category = profile_add_category(rows->profile, name, color);
    rows->failed |= category == PROFILE_NONE;
    return category;
}

static double find_table_place(const struct marker_entry *entry)
{
    return isnan(entry->start) ? entry->end : entry->start;
}

/* Compares markers by thread and start. If two markers have the same start, the longer marker is first. */
static int compare_entries(const void *a, const void *b)
{
    const struct marker_entry *left = a, *right = b;
    if (left->thread != right->thread)
        return ORDER(left->thread, right->thread);
    double left_place = find_table_place(left), right_place = find_table_place(right);
    if (left_place != right_place)
        return ORDER(left_place, right_place);
    double left_end = isnan(left->end) ? left_place : left->end,
           right_end = isnan(right->end) ? right_place : right->end;
    return left_end != right_end ? ORDER(right_end, left_end) : ORDER(left->name, right->name);
}

static bool reserve_rows(struct marker_table *table, size_t count)
{
    table->name = calloc(count, sizeof(*table->name));
    table->start = calloc(count, sizeof(*table->start));
    table->end = calloc(count, sizeof(*table->end));
    table->phase = calloc(count, sizeof(*table->phase));
    table->category = calloc(count, sizeof(*table->category));
    table->data = calloc(count, sizeof(*table->data));
    return table->name && table->start && table->end && table->phase && table->category && table->data;
}

static void write_entry(struct marker_table *table, const struct marker_entry *entry)
{
    size_t i = table->length++;
    table->name[i] = entry->name;
    table->start[i] = entry->start;
    table->end[i] = entry->end;
    table->phase[i] = entry->phase;
    table->category[i] = entry->category;
    table->data[i] = entry->data;
}

int marker_rows_fill(struct marker_rows *rows, struct error *err)
{
    size_t count = rows->entries.length;
    const struct marker_entry *entries = rows->entries.data;
    array_sort(&rows->entries, compare_entries);
    for (size_t first = 0, end; first < count && !rows->failed; first = end) {
        for (end = first; end < count && entries[end].thread == entries[first].thread;)
            end++;
        struct marker_table *table = &rows->profile->threads.data[entries[first].thread].markers;
        rows->failed = !reserve_rows(table, end - first);
        for (size_t i = first; i < end && !rows->failed; i++)
            write_entry(table, &entries[i]);
    }
    return rows->failed ? error_no_memory(err) : 0;
}

void marker_rows_destroy(struct marker_rows *rows)
{
    array_free(&rows->entries);
    array_free(&rows->text);
    free(rows->json);
    rows->json = NULL;
}

#include "tree/marker_list.h"

#include "base/json.h"
#include "tree/order.h"

enum phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

/* ---- the kind of a marker ---- */

/* Nearly all writers put the type first in a payload. */
static const char *find_leading_type(const char *json, size_t length, size_t *type_length)
{
    static const char front[] = "{\"type\":\"";
    size_t skip = sizeof(front) - 1;
    if (length < skip || memcmp(json, front, skip) != 0)
        return NULL;
    const char *type = json + skip, *quote = memchr(type, '"', length - skip);
    if (!quote || memchr(type, '\\', (size_t)(quote - type)))
        return NULL;
    *type_length = (size_t)(quote - type);
    return type;
}

const char *find_payload_type(const char *text, size_t length, size_t *type_length, struct text_buffer *decoded)
{
    const char *found = find_leading_type(text, length, type_length);
    if (found)
        return found;
    struct json json;
    enum json_type type;
    bool is_type = false;
    json_init_whole(&json, text, length);
    while (!found && (type = json_next(&json)) > JSON_END) {
        if (is_type && type == JSON_STRING) {
            decoded->length = 0;
            if (!text_append(decoded, json.text, json.length))
                break;
            found = decoded->data;
            *type_length = decoded->length;
        }
        is_type = type == JSON_KEY && json.depth == 1 && json_is(&json, "type");
    }
    json_destroy(&json);
    return found;
}

/* Finds the schema by the type of the payload (the end's payload first), else by the name. */
static uint32_t find_schema(const struct profile *profile, const struct marker_schemas *schemas,
                            const struct marker *marker, struct text_buffer *decoded)
{
    const struct string_entry *strings = profile->strings.entries.data, *name = &strings[marker->name];
    const struct marker_table *markers = &profile->threads.data[marker->thread].markers;
    const uint32_t rows[] = {marker->end_row, marker->row};
    const char *type = NULL;
    size_t length = 0;
    for (size_t i = 0; !type && i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t data = rows[i] == PROFILE_NONE ? PROFILE_NONE : markers->data[rows[i]];
        if (data != PROFILE_NONE)
            type = find_payload_type(strings[data].text, strings[data].length, &length, decoded);
    }
    uint32_t schema = type ? marker_schemas_find(schemas, type, length) : SCHEMA_NONE;
    return schema != SCHEMA_NONE ? schema : marker_schemas_find(schemas, name->text, name->length);
}

/* ---- pairs ---- */

struct pairing {
    struct marker_list *list;
    size_t first;          /* index of the thread's first marker in the list */
    struct hash open;      /* name -> the latest open marker with this name, relative to `first`, + 1, or 0 for none */
    uint32_t *open_before; /* for each marker, the previous open marker of its name */
};

static bool push_open(struct pairing *pairing, uint32_t name, uint32_t marker)
{
    uint32_t *latest = hash_at(&pairing->open, name);
    if (!latest)
        return false;
    pairing->open_before[marker] = *latest == HASH_MISSING ? 0 : *latest;
    *latest = marker + 1;
    return true;
}

static struct marker *pop_open(struct pairing *pairing, uint32_t name)
{
    uint32_t latest = hash_get(&pairing->open, name);
    if (latest == HASH_MISSING || latest == 0)
        return NULL;
    *hash_at(&pairing->open, name) = pairing->open_before[latest - 1];
    return &pairing->list->data[pairing->first + latest - 1];
}

/* Reads one row of the table. Returns false if the row is not a marker of its own: an end whose start was found, or a
 * row without a time. Sets `*failed` if memory runs out. */
static bool read_row(struct pairing *pairing, const struct marker_table *markers, uint32_t row, struct time_range whole,
                     struct marker *marker, bool *failed)
{
    double start = markers->start[row], end = markers->end[row];
    switch (markers->phase[row]) {
    case PHASE_INTERVAL:
        *marker = (struct marker){isnan(start) ? fmin(whole.from, end) : start,
                                  isnan(end) ? fmax(whole.to, start) : fmax(start, end), .kind = MARKER_INTERVAL};
        return !isnan(start) || !isnan(end);
    case PHASE_START:
        *marker = (struct marker){start, fmax(whole.to, start), .kind = MARKER_WITHOUT_END};
        if (!isnan(start))
            *failed = !push_open(pairing, markers->name[row], (uint32_t)(pairing->list->length - pairing->first));
        return !isnan(start);
    case PHASE_END: {
        if (isnan(end))
            return false;
        struct marker *begun = pop_open(pairing, markers->name[row]);
        *marker = (struct marker){fmin(whole.from, end), end, .kind = MARKER_WITHOUT_START};
        if (!begun)
            return true;
        begun->kind = MARKER_INTERVAL;
        begun->end = fmax(begun->start, end);
        begun->end_row = row;
        return false;
    }
    default:
        *marker = (struct marker){start, start, .kind = MARKER_INSTANT};
        return !isnan(start);
    }
}

/* Earlier markers first. */
DEFINE_MAGNITUDE(get_start_magnitude, struct marker, -row->start)

int marker_list_sort(struct marker_list *list, size_t first, struct error *err)
{
    return order_sort_rows(array_at(list, first), sizeof(struct marker), list->length - first, get_start_magnitude,
                           err);
}

int marker_list_add_thread(struct marker_list *list, const struct profile *profile,
                           const struct marker_schemas *schemas, uint32_t thread, struct time_range whole,
                           struct error *err)
{
    const struct marker_table *markers = &profile->threads.data[thread].markers;
    struct pairing pairing = {.list = list, .first = list->length};
    struct text_buffer decoded = {0};
    pairing.open_before = malloc((markers->length + 1) * sizeof(*pairing.open_before));
    bool failed = !pairing.open_before || !array_reserve(list, markers->length);
    for (uint32_t row = 0; !failed && row < markers->length; row++) {
        struct marker marker;
        if (!read_row(&pairing, markers, row, whole, &marker, &failed))
            continue;
        marker.thread = thread;
        marker.row = row;
        marker.end_row = PROFILE_NONE;
        marker.name = markers->name[row];
        marker.category = markers->category[row];
        list->data[list->length++] = marker;
    }
    for (size_t i = pairing.first; i < list->length; i++)
        list->data[i].schema = find_schema(profile, schemas, &list->data[i], &decoded);
    hash_destroy(&pairing.open);
    free(pairing.open_before);
    array_free(&decoded);
    return failed ? error_no_memory(err) : marker_list_sort(list, pairing.first, err);
}

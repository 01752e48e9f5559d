#include "tree/marker_schema.h"

#include "base/json.h"

struct schema_reader {
    struct marker_schemas *schemas;
    struct json json;
    bool failed; /* memory ran out */
};

/* Reads the next value: its text, or NULL if the value is no string. */
static const char *read_text(struct schema_reader *reader)
{
    enum json_type type = json_next(&reader->json);
    if (type != JSON_STRING) {
        json_skip(&reader->json, type);
        return NULL;
    }
    const char *text = arena_copy(&reader->schemas->arena, reader->json.text, reader->json.length);
    reader->failed |= text == NULL;
    return text;
}

static bool read_bool(struct schema_reader *reader)
{
    enum json_type type = json_next(&reader->json);
    json_skip(&reader->json, type);
    return type == JSON_TRUE;
}

static void read_places(struct schema_reader *reader, struct marker_schema *schema)
{
    static const struct {
        const char *name;
        enum marker_place place;
    } places[] = {{"marker-chart", MARKER_IN_CHART},
                  {"marker-table", MARKER_IN_TABLE},
                  {"timeline-overview", MARKER_IN_OVERVIEW},
                  {"timeline-memory", MARKER_IN_MEMORY},
                  {"timeline-fileio", MARKER_IN_FILE_IO},
                  {"timeline-network", MARKER_IN_NETWORK},
                  {"timeline-ipc", MARKER_IN_IPC}};
    enum json_type type = json_next(&reader->json);
    if (type != JSON_ARRAY_OPEN) {
        json_skip(&reader->json, type);
        return;
    }
    while ((type = json_next(&reader->json)) > JSON_END && type != JSON_ARRAY_CLOSE) {
        for (size_t i = 0; type == JSON_STRING && i < sizeof(places) / sizeof(*places); i++)
            if (json_is(&reader->json, places[i].name))
                schema->places |= places[i].place;
        json_skip(&reader->json, type);
    }
}

static void read_field(struct schema_reader *reader, struct marker_schema *schema)
{
    struct marker_field field = {.format = "string"};
    while (json_next(&reader->json) == JSON_KEY) {
        if (json_is(&reader->json, "key"))
            field.key = read_text(reader);
        else if (json_is(&reader->json, "label"))
            field.label = read_text(reader);
        else if (json_is(&reader->json, "hidden"))
            field.hidden = read_bool(reader);
        else if (json_is(&reader->json, "format")) {
            const char *format = read_text(reader); /* NULL if the format is an object, {"type": "table"} */
            field.format = format ? format : "table";
        } else
            json_skip(&reader->json, json_next(&reader->json));
    }
    if (!field.key)
        return;
    if (!field.label)
        field.label = field.key;
    if (array_push(&reader->schemas->fields, field))
        schema->field_count++;
    else
        reader->failed = true;
}

typedef void read_item(struct schema_reader *reader, struct marker_schema *schema);

/* Reads a list of objects. */
static void read_items(struct schema_reader *reader, struct marker_schema *schema, read_item *read)
{
    enum json_type type = json_next(&reader->json);
    if (type != JSON_ARRAY_OPEN) {
        json_skip(&reader->json, type);
        return;
    }
    while ((type = json_next(&reader->json)) > JSON_END && type != JSON_ARRAY_CLOSE) {
        if (type == JSON_OBJECT_OPEN)
            read(reader, schema);
        else
            json_skip(&reader->json, type);
    }
}

static void read_fields(struct schema_reader *reader, struct marker_schema *schema)
{
    reader->schemas->fields.length = schema->first_field; /* a repeated key: the last one counts */
    schema->field_count = 0;
    read_items(reader, schema, read_field);
}

static void read_graph(struct schema_reader *reader, struct marker_schema *schema)
{
    struct marker_graph_kind graph = {0};
    while (json_next(&reader->json) == JSON_KEY) {
        if (json_is(&reader->json, "key"))
            graph.key = read_text(reader);
        else if (json_is(&reader->json, "color"))
            graph.color = read_text(reader);
        else if (json_is(&reader->json, "type")) {
            const char *type = read_text(reader);
            graph.is_bar = type && strcmp(type, "bar") == 0;
        } else
            json_skip(&reader->json, json_next(&reader->json));
    }
    if (!graph.key)
        return;
    if (array_push(&reader->schemas->graphs, graph))
        schema->graph_count++;
    else
        reader->failed = true;
}

static void read_graphs(struct schema_reader *reader, struct marker_schema *schema)
{
    reader->schemas->graphs.length = schema->first_graph; /* a repeated key: the last one counts */
    schema->graph_count = 0;
    read_items(reader, schema, read_graph);
}

static void add_schema(struct schema_reader *reader, struct marker_schema schema)
{
    struct marker_schemas *schemas = reader->schemas;
    uint32_t index = (uint32_t)schemas->items.length;
    if (!array_push(&schemas->items, schema) ||
        !hash_set(&schemas->by_name, hash_bytes(schema.name, strlen(schema.name)), index))
        reader->failed = true;
}

static void read_schema(struct schema_reader *reader)
{
    struct marker_schema schema = {.first_field = (uint32_t)reader->schemas->fields.length,
                                   .first_graph = (uint32_t)reader->schemas->graphs.length};
    while (json_next(&reader->json) == JSON_KEY) {
        if (json_is(&reader->json, "name"))
            schema.name = read_text(reader);
        else if (json_is(&reader->json, "tooltipLabel"))
            schema.tooltip_label = read_text(reader);
        else if (json_is(&reader->json, "tableLabel"))
            schema.table_label = read_text(reader);
        else if (json_is(&reader->json, "chartLabel"))
            schema.chart_label = read_text(reader);
        else if (json_is(&reader->json, "description"))
            schema.description = read_text(reader);
        else if (json_is(&reader->json, "display"))
            read_places(reader, &schema);
        else if (json_is(&reader->json, "fields"))
            read_fields(reader, &schema);
        else if (json_is(&reader->json, "graphs"))
            read_graphs(reader, &schema);
        else
            json_skip(&reader->json, json_next(&reader->json));
    }
    if (schema.name)
        add_schema(reader, schema);
}

/* ---- marker kinds that Firefox writes without a schema ---- */

static const struct marker_field network_fields[] = {{"URI", "Address", "url", false},
                                                     {"RedirectURI", "Redirected to", "url", false},
                                                     {"status", "Status", "string", false},
                                                     {"requestMethod", "Method", "string", false},
                                                     {"responseStatus", "Response", "integer", false},
                                                     {"requestStatus", "Result", "string", false},
                                                     {"httpVersion", "HTTP version", "string", false},
                                                     {"contentType", "Content type", "string", false},
                                                     {"count", "Size", "bytes", false},
                                                     {"cache", "Cache", "string", false},
                                                     {"pri", "Priority", "integer", false},
                                                     {"classOfService", "Class of service", "string", false}};

static const struct marker_field ipc_fields[] = {
    {"messageType", "Message", "string", false}, {"direction", "Direction", "string", false},
    {"otherPid", "Other process", "pid", false}, {"side", "Side", "string", false},
    {"phase", "Phase", "string", false},         {"sync", "Synchronous", "string", false},
    {"messageSeqno", "Number", "integer", false}};

enum { IN_LISTS = MARKER_IN_CHART | MARKER_IN_TABLE };

static const struct {
    struct marker_schema schema;
    const struct marker_field *fields;
} known_kinds[] = {{{.name = "Network",
                     .table_label = "{marker.data.URI}",
                     .chart_label = "{marker.data.URI}",
                     .places = IN_LISTS | MARKER_IN_NETWORK,
                     .field_count = sizeof(network_fields) / sizeof(*network_fields)},
                    network_fields},
                   {{.name = "IPC",
                     .table_label = "{marker.data.messageType}, {marker.data.direction}",
                     .chart_label = "{marker.data.messageType}",
                     .places = IN_LISTS | MARKER_IN_IPC,
                     .field_count = sizeof(ipc_fields) / sizeof(*ipc_fields)},
                    ipc_fields}};

static void add_known_kinds(struct schema_reader *reader)
{
    for (size_t i = 0; !reader->failed && i < sizeof(known_kinds) / sizeof(*known_kinds); i++) {
        struct marker_schema schema = known_kinds[i].schema;
        if (marker_schemas_find(reader->schemas, schema.name, strlen(schema.name)) != SCHEMA_NONE)
            continue;
        schema.first_field = (uint32_t)reader->schemas->fields.length;
        for (uint32_t k = 0; k < schema.field_count; k++)
            reader->failed |= !array_push(&reader->schemas->fields, known_kinds[i].fields[k]);
        add_schema(reader, schema);
    }
}

int marker_schemas_read(struct marker_schemas *schemas, const char *json, size_t length, struct error *err)
{
    struct schema_reader reader = {.schemas = schemas};
    json_init_whole(&reader.json, json, length);
    enum json_type type = json_next(&reader.json);
    while (type == JSON_ARRAY_OPEN && !reader.failed) {
        enum json_type item = json_next(&reader.json);
        if (item <= JSON_END || item == JSON_ARRAY_CLOSE)
            break;
        if (item == JSON_OBJECT_OPEN)
            read_schema(&reader);
        else
            json_skip(&reader.json, item);
    }
    json_destroy(&reader.json);
    add_known_kinds(&reader);
    return reader.failed ? error_no_memory(err) : 0;
}

uint32_t marker_schemas_find(const struct marker_schemas *schemas, const char *name, size_t length)
{
    uint32_t index = hash_get(&schemas->by_name, hash_bytes(name, length));
    const char *found = index == HASH_MISSING ? NULL : schemas->items.data[index].name;
    return found && strlen(found) == length && memcmp(name, found, length) == 0 ? index : SCHEMA_NONE;
}

const char *get_marker_label(const struct marker_schemas *schemas, uint32_t schema, const char *key)
{
    const struct marker_schema *found = &schemas->items.data[schema];
    for (uint32_t i = 0; i < found->field_count; i++)
        if (strcmp(schemas->fields.data[found->first_field + i].key, key) == 0)
            return schemas->fields.data[found->first_field + i].label;
    return key;
}

void marker_schemas_destroy(struct marker_schemas *schemas)
{
    array_free(&schemas->items);
    array_free(&schemas->fields);
    array_free(&schemas->graphs);
    hash_destroy(&schemas->by_name);
    arena_destroy(&schemas->arena);
    *schemas = (struct marker_schemas){0};
}

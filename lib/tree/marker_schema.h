/*
 * The schemas of a profile's kinds of markers, read from the JSON text of meta.markerSchema. A marker's kind is the
 * `type` of its payload. Versions before 55 have the fields under `data`, mixed with fixed texts.
 */
#pragma once

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"

#define SCHEMA_NONE UINT32_MAX

/* The views that show markers of a kind. */
enum marker_place {
    MARKER_IN_CHART = 1,
    MARKER_IN_TABLE = 2,
    MARKER_IN_OVERVIEW = 4, /* the strip of markers above a thread's activity graph */
    MARKER_IN_MEMORY = 8,   /* the strip of markers below a counter */
    MARKER_IN_FILE_IO = 16,
    MARKER_IN_NETWORK = 32,
    MARKER_IN_IPC = 64,
};

struct marker_field {
    const char *key, *label, *format; /* the label equals the key if the file has no label */
    bool hidden;
};

/* A field drawn as a graph over time: see marker_graph.h. */
struct marker_graph_kind {
    const char *key;
    const char *color; /* color name of the format, or NULL if the file has none */
    bool is_bar;       /* false if the graph is a line */
};

struct marker_schema {
    const char *name;
    const char *tooltip_label, *table_label, *chart_label, *description; /* NULL if the file has none */
    unsigned places;                                                     /* enum marker_place */
    uint32_t first_field, field_count;
    uint32_t first_graph, graph_count;
};

struct marker_schemas {
    ARRAY(struct marker_schema) items;
    ARRAY(struct marker_field) fields;      /* fields of all schemas; the fields of one schema are adjacent */
    ARRAY(struct marker_graph_kind) graphs; /* graphs of all schemas; the graphs of one schema are adjacent */
    struct hash by_name;                    /* hash of the name -> the last schema of this name */
    struct arena arena;                     /* memory of the texts, which end at a NUL */
};

/* Fills zeroed `schemas` from JSON text. Skips unknown members, and adds schemas for known kinds without a schema
 * (Network, IPC). Fails only if memory runs out. */
int marker_schemas_read(struct marker_schemas *schemas, const char *json, size_t length, struct error *err);

/* Returns the schema of this name, or SCHEMA_NONE. */
uint32_t marker_schemas_find(const struct marker_schemas *schemas, const char *name, size_t length);

/* Returns the label of a field. */
const char *get_marker_label(const struct marker_schemas *schemas, uint32_t schema, const char *key);

void marker_schemas_destroy(struct marker_schemas *schemas);

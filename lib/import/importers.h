/*
 * The import formats: one table, and one file for each. The content of a file determines its format. An importer gets
 * the whole uncompressed text, up to a limit, and makes a profile of the text.
 */
#pragma once

#include "import/json_kind.h"
#include "import/profile_builder.h"

struct importer {
    const char *name;    /* "pprof" */
    const char *from;    /* format name for users, without article: "pprof profile" */
    size_t most;         /* limit of the text, bytes */
    enum json_kind kind; /* kind of the JSON, or JSON_KIND_NONE if the format is not JSON */
    /* for other formats: returns whether a file with these first bytes (all bytes, if is_whole) has this format */
    bool (*begins)(const char *text, size_t size, bool is_whole);
    /* An error names the line or the byte offset of the mistake. */
    int (*read)(const char *text, size_t size, struct profile_builder *builder, struct error *err);
};

enum { IMPORT_SNIFF_SIZE = 64 * 1024 }; /* number of bytes that suffice to detect the format */

/* Returns the importer of a JSON kind or text, or NULL for none. */
const struct importer *importer_find_by_kind(enum json_kind kind);
const struct importer *importer_find_by_text(const char *text, size_t size, bool is_whole);

/* Reads a whole text into `out` (zeroed by the caller, who owns it). */
int importer_read(const struct importer *importer, const char *text, size_t size, struct profile *out,
                  struct error *err);

bool collapsed_begins(const char *text, size_t size, bool is_whole);
int collapsed_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
bool perf_script_begins(const char *text, size_t size, bool is_whole);
int perf_script_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
bool pprof_begins(const char *text, size_t size, bool is_whole);
int pprof_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
bool gperftools_begins(const char *text, size_t size, bool is_whole);
int gperftools_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
bool pprof_text_begins(const char *text, size_t size, bool is_whole);
int pprof_text_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
bool callgrind_begins(const char *text, size_t size, bool is_whole);
int callgrind_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
bool otlp_begins(const char *text, size_t size, bool is_whole);
int otlp_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
int speedscope_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
int cpuprofile_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
int heapprofile_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
int dhat_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
int trace_events_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);
int gecko_read(const char *text, size_t size, struct profile_builder *builder, struct error *err);

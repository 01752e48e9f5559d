/*
 * Shared by the two files of the sanitizer: sanitize_values.c handles single texts and JSON, sanitize.c the tables. See
 * sanitize.h.
 */
#pragma once

#include "base/arena.h"
#include "base/json_write.h"
#include "export/sanitize_options.h"
#include "profile/profile.h"
#include "tree/marker_schema.h"

/* The kind of a text; one text can be of both kinds. */
enum role { ROLE_TEXT, ROLE_CODE, ROLES };

struct sanitizer {
    const struct profile *original; /* tables of the copy, with only the strings that it uses */
    struct profile *copy;
    const struct sanitize_options *options;
    struct sanitize_words words;
    struct arena *memory;
    struct sanitize_summary *summary;
    uint32_t
        *known[ROLES]; /* for each string of the original, its string in the copy, or PROFILE_NONE if not used yet */
    struct marker_schemas schemas;
    struct json_writer *json;
    struct text_buffer text;
    struct error *err;
    int status;
    uint8_t *used_stack, *used_frame, *used_func, *used_symbol, *used_source, *used_resource;
};

/* Returns zeroed memory that the copy owns; returns NULL after this or an earlier failure. */
void *sanitizer_alloc(struct sanitizer *sanitizer, size_t count, size_t size);
void *sanitizer_copy(struct sanitizer *sanitizer, const void *from, size_t count, size_t size);
void sanitizer_set_no_memory(struct sanitizer *sanitizer);

/* Whether to remove a part. */
bool sanitizer_removes(const struct sanitizer *sanitizer, unsigned part);

/* Counts a change of `before` to sanitizer->text in the parts of `found`, and stores the first distinct changes of a
 * part as examples. */
void sanitizer_count_change(struct sanitizer *sanitizer, unsigned found, const char *before, size_t length);

/* Collects user and host names from the caller and from the profile. False if memory ran out. */
bool sanitizer_find_words(struct sanitizer *sanitizer);

/* Returns the index of a text in the copy, or PROFILE_NONE after a failure. */
uint32_t sanitizer_add(struct sanitizer *sanitizer, const char *text, size_t length);

/* Returns the sanitized string of the copy for a string of the original. PROFILE_NONE stays. sanitizer_keep_word() is
 * for texts of the program that wrote the profile, not of the recording, such as a color, a category or a number. */
uint32_t sanitizer_keep(struct sanitizer *sanitizer, enum role role, uint32_t string);
uint32_t sanitizer_keep_text(struct sanitizer *sanitizer, uint32_t string);
uint32_t sanitizer_keep_word(struct sanitizer *sanitizer, uint32_t string);
uint32_t sanitizer_keep_json(struct sanitizer *sanitizer, uint32_t string);

/* Returns the schema of a marker by its payload, or SCHEMA_NONE. */
uint32_t sanitizer_find_schema(const struct sanitizer *sanitizer, const struct string_entry *payload);

/* Writes sanitized JSON to `out`, replacing its contents. Maps string indexes to the copy, and marks the payload's
 * stacks as used. */
void sanitizer_write_json(struct sanitizer *sanitizer, const struct string_entry *text, uint32_t schema,
                          struct text_buffer *out);

/*
 * Formats values for people, as the profile format defines for marker fields and the info panel ("duration", "bytes",
 * "percentage", "unique-string", "list" ...; profile-format: markerSchema).
 */
#pragma once

#include "base/text_buffer.h"
#include "profile/profile.h"
#include "tree/quantity.h"

/* The context of values: the profile whose tables their indexes refer to. */
struct value_context {
    const struct profile *profile;
    double zero; /* ms: zero of times */
};

/* Writes a number, NUL-terminated: "12.5 ms", "1.5 MiB", "1,234". A number without a unit has all its digits. */
void format_number(char out[QUANTITY_TEXT_MAX], const char *format, double value);

/* Appends a value of JSON text. Decodes strings, separates the items of lists by commas, and writes each row of a table
 * on a line. Appends a value that does not fit its format unchanged. False if memory ran out. */
bool value_text_append(struct text_buffer *out, const struct value_context *context, const char *format,
                       const char *json, size_t length);

/*
 * Values as text for people, by the formats of the profile format: those of marker fields and of the info panel
 * ("duration", "bytes", "percentage", "unique-string", "list" ...; profile-format: markerSchema).
 */
#pragma once

#include "base/text_buffer.h"
#include "profile/profile.h"
#include "tree/quantity.h"

/* What numbers and indexes of a profile's values refer to. */
struct value_context {
    const struct profile *profile;
    double zero; /* ms: where times are counted from */
};

/* Writes a number, NUL-terminated: "12.5 ms", "1.5 MiB", "1,234". What has no unit is written in full. */
void number_text(char out[QUANTITY_TEXT_MAX], const char *format, double value);

/* Appends a value that is given as JSON text. Strings are appended decoded, lists with commas between, rows of tables a
 * line each; what a format does not fit is appended as it is. False if memory ran out. */
bool value_text_append(struct text_buffer *out, const struct value_context *context, const char *format,
                       const char *json, size_t length);

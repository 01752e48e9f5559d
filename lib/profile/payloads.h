/*
 * Marker payloads are JSON that refers to strings and stacks by index. Finds, from the marker schemas, the payload
 * fields that are strings, and changes the indexes.
 */
#pragma once

#include "base/hash.h"
#include "base/json_write.h"
#include "profile/profile.h"

/* Adds the key of each string field to `fields`: the hash of the payload's type and the field's name. */
int list_string_fields(struct hash *fields, const struct profile *profile, struct error *err);

/* How to change the indexes of payloads. The callbacks return PROFILE_NONE for null. */
struct payload_rewriter {
    const struct hash *string_fields; /* of list_string_fields() */
    uint32_t (*string)(void *context, uint32_t index);
    uint32_t (*stack)(void *context, uint32_t index); /* if NULL, stacks keep their indexes */
    void *context;
    struct json_writer *writer; /* if NULL, only calls the callbacks */
};

void payload_rewrite(const struct payload_rewriter *rewriter, const struct string_entry *payload);

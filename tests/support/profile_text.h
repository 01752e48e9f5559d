/*
 * Profiles as text for tests: files of tests/data as they are or with one place changed, read in one go or in pieces,
 * and written again.
 */
#pragma once

#include "profile/read.h"
#include "profile/write.h"
#include "support/memory_sink.h"

#include <stdio.h>

/* A file of tests/data; the caller frees it. */
static inline char *text_of_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "tests/data/%s", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        abort();
    struct memory memory = {0};
    char block[4096];
    for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;)
        memory_write(&memory, block, got, NULL);
    fclose(file);
    return memory.data;
}

/* The text with the first `from` replaced by `to`; frees `text`. The test fails if `from` is missing. */
static inline char *text_replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at)
        abort();
    struct memory memory = {0};
    memory_write(&memory, text, (size_t)(at - text), NULL);
    memory_write(&memory, to, strlen(to), NULL);
    memory_write(&memory, at + strlen(from), strlen(at + strlen(from)), NULL);
    free(text);
    return memory.data;
}

static inline int read_bytes(const char *bytes, size_t size, size_t piece, struct profile *out, struct error *err)
{
    struct profile_reader *reader = profile_reader_new();
    if (!reader)
        abort();
    int rc = 0;
    for (size_t fed = 0; !rc && fed < size; fed += piece)
        rc = profile_reader_feed(reader, bytes + fed, size - fed < piece ? size - fed : piece, err);
    if (!rc)
        rc = profile_reader_finish(reader, out, err);
    profile_reader_free(reader);
    return rc;
}

/* The file that profile_write() makes, as text; the caller frees it. */
static inline char *text_of_profile(const struct profile *profile, double resolution)
{
    struct memory memory = {0};
    struct byte_sink sink = memory_sink(&memory);
    struct error err;
    if (profile_write(profile, NULL, resolution, &sink, &err) != 0)
        abort();
    return memory.data;
}

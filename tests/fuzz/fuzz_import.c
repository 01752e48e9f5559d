/*
 * Any bytes as a file of any format, whole and in pieces (the first byte is the size): the same profile or the same
 * error. An imported profile satisfies all invariants, and can be written.
 */
#include "import/import.h"
#include "profile/write.h"
#include "support/memory_sink.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int read_import(const uint8_t *bytes, size_t size, size_t piece, struct profile *out, struct error *err)
{
    struct import *import = import_new();
    if (!import)
        abort();
    int code = 0;
    for (size_t fed = 0; !code && fed < size; fed += piece)
        code = import_feed(import, bytes + fed, size - fed < piece ? size - fed : piece, err);
    if (!code)
        code = import_finish(import, out, err);
    import_free(import);
    return code;
}

static void write_to(struct memory *memory, const struct profile *profile)
{
    struct byte_sink sink = memory_sink(memory);
    struct error err;
    if (profile_check(profile, &err) != 0 || profile_write(profile, NULL, 0, &sink, &err) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    struct profile whole = {0}, cut = {0};
    struct error err = {""}, cut_err = {""};
    int code = read_import(bytes + 1, size - 1, size, &whole, &err);
    if (read_import(bytes + 1, size - 1, bytes[0] % 128 + 1, &cut, &cut_err) != code ||
        strcmp(err.text, cut_err.text) != 0 || (code && !err.text[0]))
        abort();
    if (code)
        return 0;
    struct memory first = {0}, second = {0};
    write_to(&first, &whole);
    write_to(&second, &cut);
    if (first.length != second.length || memcmp(first.data, second.data, first.length) != 0)
        abort();
    array_free(&first);
    array_free(&second);
    profile_destroy(&whole);
    profile_destroy(&cut);
    return 0;
}

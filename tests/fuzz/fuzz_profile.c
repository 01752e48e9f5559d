/*
 * Any bytes as a profile file, whole and in pieces (the first byte is the size): the same profile or the same error. An
 * accepted profile satisfies all invariants, also after sanitizing, and reads back equal after writing.
 */
#include "export/sanitize.h"
#include "support/profile_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void write_to(struct memory *memory, const struct profile *profile, double resolution)
{
    struct byte_sink sink = memory_sink(memory);
    struct error err;
    if (profile_write(profile, NULL, resolution, &sink, &err) != 0)
        abort();
}

static void same_or_abort(const struct memory *a, const struct memory *b)
{
    if (a->length != b->length || memcmp(a->data, b->data, a->length) != 0)
        abort();
}

static void sanitize(const struct profile *profile, unsigned parts, bool hides)
{
    static const char *const libraries[] = {"app*"};
    const struct sanitize_options options = {
        .parts = parts % (SANITIZE_ALL + 1), .libraries = libraries, .library_count = hides};
    struct sanitize_summary summary;
    struct arena arena = {0};
    struct memory written = {0};
    struct profile copy = *profile, back = {0};
    struct error err;
    if (sanitize_profile(&copy, &options, &arena, &summary, &err) != 0 || profile_check(&copy, &err) != 0)
        abort();
    write_to(&written, &copy, 0);
    if (read_bytes(written.data, written.length, 4096, &back, &err) != 0)
        abort();
    profile_destroy(&back);
    array_free(&written);
    strings_destroy(&copy.strings);
    arena_destroy(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    struct profile profile = {0}, cut = {0}, back = {0};
    struct error err = {""}, cut_err = {""};
    int rc = read_bytes((const char *)bytes + 1, size - 1, size, &profile, &err);
    if (read_bytes((const char *)bytes + 1, size - 1, bytes[0] % 128 + 1, &cut, &cut_err) != rc ||
        strcmp(err.text, cut_err.text) != 0)
        abort();
    if (rc) {
        if (!err.text[0])
            abort();
        return 0;
    }
    struct memory first = {0}, second = {0}, third = {0}, quantized = {0};
    if (profile_check(&profile, &err) != 0)
        abort();
    write_to(&first, &profile, 0);
    write_to(&second, &cut, 0);
    same_or_abort(&first, &second);
    if (read_bytes(first.data, first.length, 4096, &back, &err) != 0)
        abort();
    write_to(&third, &back, 0);
    same_or_abort(&first, &third);
    sanitize(&profile, bytes[0], size & 1);
    write_to(&quantized, &profile, 0.01);
    profile_destroy(&back);
    if (read_bytes(quantized.data, quantized.length, 4096, &back, &err) != 0)
        abort();
    array_free(&first);
    array_free(&second);
    array_free(&third);
    array_free(&quantized);
    profile_destroy(&profile);
    profile_destroy(&cut);
    profile_destroy(&back);
    return 0;
}

#include "assemble/profile_addresses.h"

struct named_library get_saved_library(const struct profile *profile, uint32_t lib)
{
    const struct library *row = &profile->libs.data[lib];
    return (struct named_library){.debug_name = profile_text(profile, row->debug_name),
                                  .breakpad_id = profile_text(profile, row->breakpad_id),
                                  .code_id = profile_text(profile, row->code_id),
                                  .path = profile_text(profile, row->path)};
}

static void identify_library(struct profile_addresses *addresses, const struct profile *profile, size_t row)
{
    struct named_library named = get_saved_library(profile, (uint32_t)row);
    struct identified_library *out = &addresses->libraries[row];
    if (named_library_identify(&named, out, &addresses->problems[row]) != 0)
        out->symbol = (struct symbol_lib){.kind = SYMBOL_LIB_ELF, .name = named.debug_name};
}

static struct symbol_lib get_library_at(const void *context, uint32_t row)
{
    const struct profile_addresses *addresses = context;
    return addresses->libraries[row].symbol;
}

static bool is_physical(const struct frame_table *frames, size_t row)
{
    return frames->lib[row] != PROFILE_NONE && frames->address[row] >= 0 && frames->inline_depth[row] == 0;
}

int profile_addresses_make(struct profile_addresses *addresses, const struct profile *profile,
                           const struct frame_table *frames, struct error *err)
{
    size_t libs = profile->libs.length;
    *addresses = (struct profile_addresses){.libraries = calloc(libs + 1, sizeof(*addresses->libraries)),
                                            .problems = calloc(libs + 1, sizeof(*addresses->problems))};
    if (!addresses->libraries || !addresses->problems)
        return error_no_memory(err);
    for (size_t i = 0; i < frames->length; i++)
        if (is_physical(frames, i) &&
            !address_batches_add(&addresses->batches, frames->lib[i], (uint64_t)frames->address[i], (uint32_t)i))
            return error_no_memory(err);
    for (size_t i = 0; i < libs; i++)
        identify_library(addresses, profile, i);
    return address_batches_make(&addresses->batches, get_library_at, addresses) ? 0 : error_no_memory(err);
}

void profile_addresses_destroy(struct profile_addresses *addresses)
{
    address_batches_destroy(&addresses->batches);
    free(addresses->libraries);
    free(addresses->problems);
}

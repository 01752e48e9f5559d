/*
 * Maps addresses of a process to libraries by the text of its /proc/PID/maps. gperftools, Go and jemalloc write the
 * addresses and this text into one file.
 */
#pragma once

#include "import/profile_builder.h"

struct mapped_range {
    uint64_t start, end, base; /* `base`: the address of rva 0 */
    struct builder_text path;
    uint32_t lib, resource; /* 1 + index in the builder, or 0 if not added yet */
};

/* Starts zeroed. */
struct mapped_addresses {
    ARRAY(struct mapped_range) ranges;
    bool lacks_names; /* a frame has no name, so the profile needs symbolication */
};

/* Adds the lines of a maps file; the text must outlive `mapped`. Skips other lines. False if memory ran out. */
bool mapped_addresses_read(struct mapped_addresses *mapped, const char *text, size_t size);

/* Returns the builder's frame of an address, with library and relative address; an empty `name` is replaced by the
 * address. PROFILE_NONE if memory ran out. */
uint32_t mapped_addresses_add_frame(struct mapped_addresses *mapped, struct profile_builder *builder, uint64_t address,
                                    const struct builder_frame *known);

void mapped_addresses_destroy(struct mapped_addresses *mapped);

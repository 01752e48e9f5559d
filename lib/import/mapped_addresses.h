/*
 * Maps addresses of a process to libraries by the text of its /proc/PID/maps. gperftools, Go and jemalloc write both
 * into one file.
 */
#pragma once

#include "import/profile_builder.h"

struct mapped_range {
    uint64_t start, end, base; /* `base`: the address of rva 0 */
    struct builder_text path;
    uint32_t lib, resource; /* of the builder, + 1; 0: not added yet */
};

/* Starts zeroed. */
struct mapped_addresses {
    ARRAY(struct mapped_range) ranges;
    bool lacks_names; /* a frame without a name was added: the profile needs symbolication */
};

/* Takes in the lines of a maps file, which stay borrowed. Lines of another form are skipped. False if memory ran out.
 */
bool mapped_addresses_read(struct mapped_addresses *mapped, const char *text, size_t size);

/* The builder's frame of an address: the library and the address in it, named by `name` or, if that is empty, by the
 * address. PROFILE_NONE if memory ran out. */
uint32_t mapped_addresses_frame(struct mapped_addresses *mapped, struct profile_builder *builder, uint64_t address,
                                const struct builder_frame *known);

void mapped_addresses_destroy(struct mapped_addresses *mapped);

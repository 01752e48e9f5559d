/*
 * Finds types in BTF, the compact debug information of the Linux kernel (Documentation/bpf/btf.rst), which
 * /sys/kernel/btf/vmlinux has since Linux 5.4. Each type has a number, its position in the list of types, from 1.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/cursor.h"

struct btf {
    const unsigned char *bytes;
    size_t size;
    bool is_mapped;
    struct cursor types, strings;
};

struct btf_type_info {
    uint32_t id;
    uint32_t kind;          /* BTF_KIND_... */
    uint32_t name;          /* offset in the strings */
    uint32_t count;         /* members of a struct */
    uint32_t type;          /* id of the type that a pointer, typedef or variable has */
    bool has_bits;          /* members may be bit fields */
    struct cursor contents; /* members */
};

/* Reads the types of the running kernel. Returns 0, or a negative errno value. */
int btf_open_kernel(struct btf *btf);

/* Reads types in memory, which must outlive `btf`. False if the header is damaged. */
bool btf_open_bytes(struct btf *btf, const void *bytes, size_t size);

void btf_close(struct btf *btf);

/* Finds the first type of this kind and name. */
bool btf_find(const struct btf *btf, uint32_t kind, const char *name, struct btf_type_info *type);

/* Finds a member of a struct that is no bit field. `offset`: bytes from the start of the struct; `kind`: BTF_KIND_...
 * of the member's type, which may be a typedef. */
bool btf_find_member(const struct btf *btf, const char *structure, const char *member, size_t *offset, uint32_t *kind);

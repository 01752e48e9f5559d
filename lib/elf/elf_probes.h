/*
 * The places of an ELF file at which the kernel can be asked to probe: functions by name, addresses, and the static
 * probes (USDT) that a program was built with.
 *
 * A static probe is a nop in the code and a note of section .note.stapsdt that says where it is (SystemTap's sys/sdt.h,
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation): owner "stapsdt", type 3, and in the description
 * the addresses of the probe, of section .stapsdt.base when the file was linked, and of the semaphore, then the
 * NUL-terminated texts of provider, name and arguments. A probe with a semaphore does its work, or only part of it,
 * while that number is not 0.
 */
#pragma once

#include "base/array.h"
#include "elf/elf_file.h"

struct elf_probe {
    const char *provider, *name;
    uint64_t address;   /* vaddr of the instruction */
    uint64_t semaphore; /* vaddr of the number; 0: none */
};

struct elf_probes {
    ARRAY(struct elf_probe) items; /* in the order of the file; a probe in several places is there several times */
    unsigned char *notes;          /* the texts lie in it */
};

/* Reads the static probes of a file; none if it has no such section, or is of another byte order. A damaged note ends
 * the list. Fails only if memory runs out. */
int elf_probes_load(struct elf_probes *probes, const struct elf_file *file, struct error *err);
void elf_probes_free(struct elf_probes *probes);

/* The offset in the file of what is loaded at this vaddr; false if nothing of the file is. `size` bytes must be. */
bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t size, uint64_t *offset);

ARRAY_TYPE(struct elf_addresses, uint64_t);

/* Appends the vaddrs of the functions of this name, by both symbol tables: several if it is a name of local functions.
 * `closest` (may be NULL): where there is none, the name that is most like it, in `closest_size` bytes, or "". */
int elf_find_function(const struct elf_file *file, const char *name, struct elf_addresses *found, char *closest,
                      size_t closest_size, struct error *err);

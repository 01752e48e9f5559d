/*
 * The locations in an ELF file that the kernel can probe: functions by name, addresses, and the static probes (USDT) of
 * a program.
 *
 * A static probe is a nop in the code, and a note in section .note.stapsdt that has its location (SystemTap's
 * sys/sdt.h, https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation): owner "stapsdt", type 3, and in the
 * description the addresses of the probe, of section .stapsdt.base when the file was linked, and of the semaphore, then
 * the NUL-terminated texts of provider, name and arguments. A program skips the work for a probe while the probe's
 * semaphore, a number in memory, is 0.
 */
#pragma once

#include "base/array.h"
#include "elf/elf_file.h"

struct elf_probe {
    const char *provider, *name;
    uint64_t address;   /* vaddr of the instruction */
    uint64_t semaphore; /* vaddr of the semaphore, or 0 for none */
};

struct elf_probes {
    ARRAY(struct elf_probe) items; /* probes in file order; one entry per location of a probe */
    unsigned char *notes;          /* bytes of the notes, with the texts of the probes */
};

/* Reads the static probes of a file. Returns none if the file lacks the section, or has the other byte order. A damaged
 * note ends the list. Fails only if memory runs out. */
int elf_probes_load(struct elf_probes *probes, const struct elf_file *file, struct error *err);
void elf_probes_free(struct elf_probes *probes);

/* Finds the file offset of the `size` bytes loaded at this vaddr. Returns false if the file does not contain all of
 * these bytes. */
bool elf_file_find_offset(const struct elf_file *file, uint64_t address, uint64_t size, uint64_t *offset);

ARRAY_TYPE(struct elf_addresses, uint64_t);

/* Appends the vaddrs of the functions with this name, from both symbol tables: several for local functions. If no
 * function is found, `closest` (may be NULL) gets the most similar name, in `closest_size` bytes, or "". */
int elf_find_function(const struct elf_file *file, const char *name, struct elf_addresses *found, char *closest,
                      size_t closest_size, struct error *err);

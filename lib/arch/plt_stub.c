/*
 * PLT stubs of GNU ld, gold, lld and mold, recognized by their jump:
 *
 *     x86-64   jmp *slot(%rip)                              after endbr64, bnd or notrack, or none of them
 *     x86      jmp *slot, jmp *distance(%ebx)               position-independent code has the GOT in %ebx
 *     arm64    adrp x16, page; ldr x17, [x16, #offset]      after bti, or without
 *     arm      add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]!
 */
#include "arch/plt_stub.h"

#include <elf.h>

bool is_plt_section(const struct elf_section *section)
{
    return (section->flags & SHF_EXECINSTR) && section->bytes.size && strncmp(section->name, ".plt", 4) == 0;
}

/* ---- x86 ---- */

enum { X86_STUB_SIZE = 16, X86_SHORT_STUB_SIZE = 8, X86_JUMP_SIZE = 6 };

/* Returns the address that %ebx holds in position-independent code. */
static bool find_got(const struct elf_file *file, uint64_t *address)
{
    const struct elf_section *got = elf_file_find_section(file, ".got.plt");
    if (!got)
        got = elf_file_find_section(file, ".got");
    *address = got ? got->address : 0;
    return got != NULL;
}

/* Some linkers omit the stub size in the section header. A short stub is a jump and "xchg %ax, %ax"; the first half of
 * a long stub never contains "xchg %ax, %ax". */
static bool is_short_stub(const struct elf_section *section, uint64_t offset)
{
    unsigned char bytes[X86_SHORT_STUB_SIZE];
    return section->entry_size == X86_SHORT_STUB_SIZE ||
           (bytes_read(&section->bytes, offset - offset % X86_SHORT_STUB_SIZE, bytes, sizeof(bytes)) &&
            bytes[0] == 0xff && bytes[X86_JUMP_SIZE] == 0x66 && bytes[X86_JUMP_SIZE + 1] == 0x90);
}

static bool read_x86_stub(const struct elf_file *file, const struct elf_section *section, uint64_t vaddr,
                          struct plt_stub *stub)
{
    unsigned char bytes[X86_STUB_SIZE];
    uint64_t got;
    stub->size = is_short_stub(section, vaddr - section->address) ? X86_SHORT_STUB_SIZE : X86_STUB_SIZE;
    stub->start = vaddr - (vaddr - section->address) % stub->size;
    if (!bytes_read(&section->bytes, stub->start - section->address, bytes, (size_t)stub->size))
        return false;
    for (size_t i = 0; i + X86_JUMP_SIZE <= stub->size; i++) {
        bool by_register = file->machine == EM_386 && bytes[i + 1] == 0xa3;
        if (bytes[i] != 0xff || (bytes[i + 1] != 0x25 && !by_register))
            continue;
        struct cursor c = cursor_of(bytes + i + 2, 4);
        uint32_t operand = cursor_u32(&c);
        if (by_register && !find_got(file, &got))
            return false;
        if (by_register)
            stub->got_entry = (uint32_t)(got + operand);
        else if (file->machine == EM_386)
            stub->got_entry = operand;
        else
            stub->got_entry = stub->start + i + X86_JUMP_SIZE + (uint64_t)(int64_t)(int32_t)operand;
        return true;
    }
    return false;
}

/* ---- arm and arm64: instructions of four bytes ---- */

enum { WORD = 4 };

static bool read_word(const struct elf_section *section, uint64_t vaddr, uint32_t *word)
{
    unsigned char bytes[WORD];
    if (vaddr < section->address || !bytes_read(&section->bytes, vaddr - section->address, bytes, WORD))
        return false;
    struct cursor c = cursor_of(bytes, WORD);
    *word = cursor_u32(&c);
    return true;
}

static bool is_word(const struct elf_section *section, uint64_t vaddr, uint32_t mask, uint32_t wanted)
{
    uint32_t word;
    return read_word(section, vaddr, &word) && (word & mask) == wanted;
}

static bool is_adrp_x16(const struct elf_section *section, uint64_t vaddr)
{
    return is_word(section, vaddr, 0x9f00001f, 0x90000010);
}

static bool is_bti(const struct elf_section *section, uint64_t vaddr)
{
    return is_word(section, vaddr, 0xffffff3f, 0xd503241f);
}

/* The header before the first stub begins with "stp x16, x30, [sp, #-16]!"; the rest of the header looks like a stub.
 */
static bool is_arm64_header(const struct elf_section *section, uint64_t vaddr)
{
    return is_word(section, vaddr, UINT32_MAX, 0xa9bf7bf0);
}

static bool read_arm64_stub(const struct elf_section *section, uint64_t vaddr, struct plt_stub *stub)
{
    enum { LONGEST = 24, SHORTEST = 16 };
    uint32_t adrp, ldr;
    uint64_t at = vaddr & ~UINT64_C(3);
    if (is_bti(section, at))
        at += WORD;
    uint64_t lowest = at < LONGEST - WORD ? 0 : at - (LONGEST - WORD);
    while (at > lowest && !is_adrp_x16(section, at))
        at -= WORD;
    if (!is_adrp_x16(section, at) || is_arm64_header(section, at - WORD) || !read_word(section, at, &adrp) ||
        !read_word(section, at + WORD, &ldr) || (ldr & 0xffc003ff) != 0xf9400211)
        return false;
    uint32_t pages = (adrp >> 29 & 3) | (adrp >> 3 & 0x1ffffc); /* 21 bits, signed */
    int64_t distance = ((int64_t)pages ^ 0x100000) - 0x100000;
    stub->got_entry = (at & ~UINT64_C(0xfff)) + (uint64_t)distance * 4096 + (ldr >> 10 & 0xfff) * 8;
    bool has_bti = is_bti(section, at - WORD);
    stub->start = has_bti ? at - WORD : at;
    stub->size = has_bti ? LONGEST : SHORTEST;
    return vaddr - stub->start < stub->size;
}

/* The immediate of an ARM data instruction: 8 bits, rotated right by twice the upper 4 bits. */
static uint32_t decode_arm_immediate(uint32_t word)
{
    uint32_t value = word & 0xff, rotation = (word >> 8 & 0xf) * 2;
    return rotation ? value >> rotation | value << (32 - rotation) : value;
}

static bool read_arm_stub(const struct elf_section *section, uint64_t vaddr, struct plt_stub *stub)
{
    enum { STEPS_MAX = 4, PC_AHEAD = 8 };
    uint32_t word;
    uint64_t at = vaddr & ~UINT64_C(3);
    for (int i = 0; i < STEPS_MAX && at >= WORD && !is_word(section, at, 0xfffff000, 0xe28fc000); i++)
        at -= WORD;
    if (!is_word(section, at, 0xfffff000, 0xe28fc000) || !read_word(section, at, &word))
        return false;
    stub->start = at;
    uint32_t slot = (uint32_t)at + PC_AHEAD + decode_arm_immediate(word);
    for (int i = 0; i < STEPS_MAX; i++) {
        at += WORD;
        if (!read_word(section, at, &word))
            return false;
        if ((word & 0xfffff000) == 0xe28cc000) {
            slot += decode_arm_immediate(word);
            continue;
        }
        if ((word & 0xfffff000) != 0xe5bcf000)
            return false;
        stub->got_entry = slot + (word & 0xfff);
        stub->size = at + WORD - stub->start;
        return vaddr - stub->start < stub->size;
    }
    return false;
}

bool plt_stub_read(const struct elf_file *file, const struct elf_section *section, uint64_t vaddr,
                   struct plt_stub *stub)
{
    if (file->is_big_endian)
        return false;
    switch (file->machine) {
    case EM_X86_64:
    case EM_386:
        return read_x86_stub(file, section, vaddr, stub);
    case EM_AARCH64:
        return read_arm64_stub(section, vaddr, stub);
    case EM_ARM:
        return read_arm_stub(section, vaddr, stub);
    default:
        return false;
    }
}

/*
 * A stub jumps through a slot of the global offset table, and a relocation says which symbol that slot is for:
 *
 *     4014e0:  ff 25 32 2b 00 00    jmp *0x2b32(%rip)     # 404018      .plt, .plt.sec, .plt.got
 *     404018:  R_X86_64_JUMP_SLOT   memcpy                               .rela.plt, .rela.dyn
 *
 * So the slot is read out of the stub's bytes, whatever the linker's layout of stubs is (with endbr64, with bnd, with
 * and without lazy binding), and looked up among the relocations.
 */
#include "symbol/plt.h"
#include "symbol/demangle.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Real files have at most three sections of stubs, and two tables of relocations; a hostile one could have a million,
 * each of them as large as the file. */
enum { STUB_SIZE = 16, JUMP_SIZE = 6, SECTIONS_MAX = 16 };

struct stub {
    uint64_t slot; /* vaddr */
    size_t match;  /* index of the address */
};

ARRAY_TYPE(struct stub_array, struct stub);

static bool is_stub_section(const struct elf_section *section)
{
    return (section->flags & SHF_EXECINSTR) && section->bytes.size && strncmp(section->name, ".plt", 4) == 0;
}

/* Up to SECTIONS_MAX of them; their number. */
static size_t find_stub_sections(const struct elf_file *file, const struct elf_section **found)
{
    size_t count = 0;
    for (size_t i = 0; i < file->sections.length && count < SECTIONS_MAX; i++)
        if (is_stub_section(&file->sections.data[i]))
            found[count++] = &file->sections.data[i];
    return count;
}

static const struct elf_section *section_of(const struct elf_section *const *sections, size_t count, uint64_t vaddr)
{
    for (size_t i = 0; i < count; i++)
        if (vaddr >= sections[i]->address && vaddr - sections[i]->address < sections[i]->size)
            return sections[i];
    return NULL;
}

/* The slot that the stub at `vaddr` jumps through. */
static bool read_slot(const struct elf_file *file, const struct elf_section *section, uint64_t vaddr, size_t size,
                      uint64_t *slot)
{
    unsigned char bytes[STUB_SIZE];
    if (!bytes_read(&section->bytes, vaddr - section->address, bytes, size))
        return false;
    for (size_t i = 0; i + JUMP_SIZE <= size; i++) {
        if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
            continue;
        struct cursor c = cursor_of(bytes + i + 2, 4);
        uint32_t operand = cursor_u32(&c);
        *slot = file->machine == EM_386 ? operand : vaddr + i + JUMP_SIZE + (uint64_t)(int64_t)(int32_t)operand;
        return true;
    }
    return false;
}

static size_t stub_size(const struct elf_section *section)
{
    return section->entry_size == 8 ? 8 : STUB_SIZE;
}

static bool list_stubs(const struct elf_file *file, uint64_t base, const uint64_t *rvas, size_t count,
                       struct symbol_match *matches, struct stub_array *stubs)
{
    const struct elf_section *sections[SECTIONS_MAX];
    size_t section_count = find_stub_sections(file, sections);
    for (size_t i = 0; section_count && i < count; i++) {
        uint64_t vaddr = rvas[i] + base, slot;
        const struct elf_section *section = matches[i].name ? NULL : section_of(sections, section_count, vaddr);
        if (!section)
            continue;
        size_t size = stub_size(section);
        uint64_t start = vaddr - (vaddr - section->address) % size;
        if (!read_slot(file, section, start, size, &slot))
            continue;
        matches[i].start = start - base;
        matches[i].size = size;
        if (!array_push(stubs, (struct stub){slot, i}))
            return false;
    }
    return true;
}

static int by_slot(const void *a, const void *b)
{
    const struct stub *x = a, *y = b;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static size_t first_of_slot(const struct stub_array *stubs, uint64_t slot)
{
    size_t low = 0, high = stubs->length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stubs->data[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The name of a symbol of .dynsym with "@plt"; NULL if it has none. */
static const char *stub_name(const struct elf_file *file, const struct elf_section *symbols, uint64_t index,
                             struct arena *arena)
{
    unsigned char raw[24];
    if (index == 0 || symbols->link >= file->sections.length ||
        !bytes_read(&symbols->bytes, index * elf_symbol_size(file), raw, elf_symbol_size(file)))
        return NULL;
    struct cursor c = cursor_of(raw, elf_symbol_size(file));
    struct window texts = {.bytes = &file->sections.data[symbols->link].bytes, .step = 256};
    const char *mangled = window_string(&texts, elf_symbol_read(file, &c).name);
    const char *name = mangled && *mangled ? demangle(mangled, arena) : NULL;
    size_t length = name ? strlen(name) : 0;
    char *text = name ? arena_alloc(arena, length + sizeof("@plt")) : NULL;
    if (text)
        snprintf(text, length + sizeof("@plt"), "%s@plt", name);
    window_destroy(&texts);
    return text;
}

static void match_relocations(const struct elf_file *file, const struct elf_section *table,
                              const struct stub_array *stubs, struct symbol_match *matches, struct arena *arena)
{
    unsigned char *raw = table->link < file->sections.length ? bytes_load(&table->bytes) : NULL;
    struct cursor c = raw ? cursor_of(raw, (size_t)table->bytes.size) : (struct cursor){0};
    uint8_t word = file->is_64 ? 8 : 4;
    size_t size = (table->type == SHT_RELA ? 3u : 2u) * word;
    while (cursor_left(&c) >= size) {
        struct cursor entry = cursor_of(cursor_bytes(&c, size), size);
        uint64_t slot = file->is_64 ? cursor_u64(&entry) : cursor_u32(&entry);
        uint64_t info = file->is_64 ? cursor_u64(&entry) : cursor_u32(&entry);
        const char *name = NULL;
        for (size_t i = first_of_slot(stubs, slot); i < stubs->length && stubs->data[i].slot == slot; i++) {
            if (matches[stubs->data[i].match].name)
                break;
            if (!name)
                name = stub_name(file, &file->sections.data[table->link], info >> (file->is_64 ? 32 : 8), arena);
            matches[stubs->data[i].match].name = name;
        }
    }
    free(raw);
}

int plt_match(const struct elf_file *file, uint64_t base, const uint64_t *rvas, size_t count,
              struct symbol_match *matches, struct arena *arena, struct error *err)
{
    struct stub_array stubs = {0};
    if (file->machine != EM_X86_64 && file->machine != EM_386)
        return 0;
    if (!list_stubs(file, base, rvas, count, matches, &stubs)) {
        array_free(&stubs);
        return error_no_memory(err);
    }
    if (stubs.length)
        qsort(stubs.data, stubs.length, sizeof(struct stub), by_slot);
    size_t tables_left = stubs.length ? SECTIONS_MAX : 0;
    for (size_t i = 0; i < file->sections.length && tables_left; i++)
        if (file->sections.data[i].type == SHT_RELA || file->sections.data[i].type == SHT_REL) {
            match_relocations(file, &file->sections.data[i], &stubs, matches, arena);
            tables_left--;
        }
    array_free(&stubs);
    return 0;
}

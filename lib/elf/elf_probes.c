#include "elf/elf_probes.h"

#include "base/typing_distance.h"
#include "elf/elf_table.h"

static bool has_own_byte_order(const struct elf_file *file)
{
    return file->is_big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* ---- static probes ---- */

static uint64_t read_address(const struct elf_file *file, struct cursor *c)
{
    return file->is_64 ? cursor_u64(c) : cursor_u32(c);
}

/* Prelinking moves the section, so the base in the note may differ from the section's address. */
static bool read_probe(const struct elf_file *file, struct cursor c, uint64_t base, struct elf_probe *probe)
{
    probe->address = read_address(file, &c);
    uint64_t noted_base = read_address(file, &c);
    probe->semaphore = read_address(file, &c);
    if (base && noted_base)
        probe->address += base - noted_base;
    probe->provider = cursor_string(&c);
    probe->name = cursor_string(&c);
    return !c.failed && probe->provider && probe->name && probe->name[0];
}

int elf_probes_load(struct elf_probes *probes, const struct elf_file *file, struct error *err)
{
    enum { NT_STAPSDT = 3 };
    static const char owner[] = "stapsdt";
    const struct elf_section *section = elf_file_find_section(file, ".note.stapsdt");
    const struct elf_section *base = elf_file_find_section(file, ".stapsdt.base");
    *probes = (struct elf_probes){0};
    if (!section || !has_own_byte_order(file) || !(probes->notes = bytes_load(&section->bytes)))
        return 0;
    struct cursor c = cursor_of(probes->notes, (size_t)section->bytes.size);
    while (cursor_left(&c)) {
        uint32_t name_size = cursor_u32(&c), size = cursor_u32(&c), type = cursor_u32(&c);
        const unsigned char *name = cursor_bytes(&c, ((uint64_t)name_size + 3) & ~UINT64_C(3));
        const unsigned char *description = cursor_bytes(&c, size);
        struct elf_probe probe = {0};
        if (!name || !description)
            break;
        if (type == NT_STAPSDT && name_size == sizeof(owner) && memcmp(name, owner, sizeof(owner)) == 0 &&
            read_probe(file, cursor_of(description, size), base ? base->address : 0, &probe) &&
            !array_push(&probes->items, probe)) {
            elf_probes_free(probes);
            return error_no_memory(err);
        }
        cursor_bytes(&c, (4 - size % 4) % 4);
    }
    return 0;
}

void elf_probes_free(struct elf_probes *probes)
{
    array_free(&probes->items);
    free(probes->notes);
    *probes = (struct elf_probes){0};
}

/* ---- addresses ---- */

bool elf_file_find_offset(const struct elf_file *file, uint64_t address, uint64_t size, uint64_t *offset)
{
    const struct elf_segment *segment = elf_file_find_segment(file, address);
    uint64_t at = segment ? address - segment->address : 0;
    if (!segment || size > segment->file_size - at)
        return false;
    *offset = segment->offset + at;
    return true;
}

/* ---- functions ---- */

struct search {
    const char *name;
    struct elf_addresses *found;
    char *closest;
    size_t closest_size, distance;
    bool no_memory;
};

static void add_address(struct search *search, uint64_t address)
{
    for (size_t i = 0; i < search->found->length; i++)
        if (search->found->data[i] == address)
            return;
    search->no_memory |= !array_push(search->found, address);
}

static void match_function_name(struct search *search, const struct elf_symbol *symbol, const char *name)
{
    if ((symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC) || symbol->section == SHN_UNDEF || !name)
        return;
    if (strcmp(name, search->name) == 0)
        add_address(search, symbol->value);
    size_t distance = search->closest ? compute_typing_distance(search->name, name) : SIZE_MAX;
    if (distance >= search->distance)
        return;
    search->distance = distance;
    snprintf(search->closest, search->closest_size, "%s", name);
}

int elf_find_function(const struct elf_file *file, const char *name, struct elf_addresses *found, char *closest,
                      size_t closest_size, struct error *err)
{
    static const char *const tables[] = {".symtab", ".dynsym"};
    struct search search = {.name = name,
                            .found = found,
                            .closest = closest,
                            .closest_size = closest_size,
                            .distance = strlen(name) / 2 + 1};
    if (closest)
        closest[0] = '\0';
    for (size_t k = 0; k < sizeof(tables) / sizeof(*tables); k++) {
        const struct elf_section *section = elf_file_find_section(file, tables[k]);
        struct elf_symbols symbols;
        if (!section || section->link >= file->sections.length ||
            !elf_symbols_load(&symbols, file, section, 0, SIZE_MAX))
            continue;
        const struct bytes *texts = &file->sections.data[section->link].bytes;
        char *names = (char *)bytes_load(texts); /* with a NUL at the end */
        for (size_t i = 0; names && i < symbols.count; i++) {
            struct elf_symbol symbol = elf_symbols_get(&symbols, i);
            match_function_name(&search, &symbol, symbol.name < texts->size ? names + symbol.name : NULL);
        }
        free(names);
        elf_symbols_free(&symbols);
    }
    return search.no_memory ? error_no_memory(err) : 0;
}

/*
 * The code is sorted by address and split into regions, wherever a gap is so large that relative calls are unlikely to
 * reach across it. Within a region each code goes to the first layer whose last code ends before it (interval
 * partitioning: as few layers as there are codes at any one address). Layers stand behind each other in the image.
 *
 * The first layer does not begin at 0, because calls to code before the image would get negative addresses.
 */
#include "symbol/jit_image.h"

#include "base/checksum.h"
#include "base/search.h"
#include "symbol/jit_image_debug.h"

#include <elf.h>

enum { FIRST_RVA = 256 << 20, REGION_GAP = 512 << 20, LAYERS_MAX = 256, PAGE = 4096, CODE_ALIGNMENT = 16 };

/* ---- places ---- */

struct layer {
    uint64_t start, end; /* addresses in memory of the layer's first and last code so far */
};

DEFINE_COMPARE(compare_starts, struct jit_image_code *, ORDER_THEN((*a)->start, (*b)->start, ORDER(*a, *b)))

/* Returns the layer of the code, or LAYERS_MAX for none. */
static size_t choose_layer(struct layer *layers, size_t *count, const struct jit_image_code *code)
{
    size_t i = 0;
    while (i < *count && layers[i].end > code->start)
        i++;
    if (i == LAYERS_MAX)
        return i;
    if (i == *count)
        layers[(*count)++].start = code->start;
    layers[i].end = code->start + code->size;
    return i;
}

/* Places the codes of a region. `rva` is the start of the region in the image, and on return the start of the next
 * region. */
static void place_region(struct jit_image_code **codes, size_t count, size_t *layer_of, uint64_t *rva)
{
    struct layer layers[LAYERS_MAX] = {{0}};
    uint64_t rvas[LAYERS_MAX] = {0};
    size_t layer_count = 0;
    for (size_t i = 0; i < count; i++)
        layer_of[i] = choose_layer(layers, &layer_count, codes[i]);
    for (size_t i = 0; i < layer_count; i++) {
        uint64_t size = layers[i].end - layers[i].start;
        bool fits = *rva < JIT_IMAGE_END && size < JIT_IMAGE_END - *rva;
        rvas[i] = fits ? *rva + layers[i].start % PAGE : JIT_IMAGE_NONE;
        if (fits)
            *rva = (rvas[i] + size + 2 * PAGE) & ~(uint64_t)(PAGE - 1);
    }
    for (size_t i = 0; i < count; i++) {
        size_t layer = layer_of[i];
        bool is_placed = layer < LAYERS_MAX && rvas[layer] != JIT_IMAGE_NONE;
        uint64_t at = is_placed ? rvas[layer] + (codes[i]->start - layers[layer].start) : JIT_IMAGE_NONE;
        codes[i]->rva = at < JIT_IMAGE_END && codes[i]->size < JIT_IMAGE_END - at ? at : JIT_IMAGE_NONE;
    }
}

int jit_image_assign_addresses(struct jit_image_code *codes, size_t count, struct error *err)
{
    struct jit_image_code **sorted = malloc((count + 1) * sizeof(struct jit_image_code *));
    size_t *layer_of = malloc((count + 1) * sizeof(*layer_of));
    if (!sorted || !layer_of) {
        free(sorted);
        free(layer_of);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &codes[i];
    qsort(sorted, count, sizeof(struct jit_image_code *), compare_starts);
    uint64_t rva = FIRST_RVA;
    for (size_t first = 0, next; first < count; first = next) {
        uint64_t end = sorted[first]->start + sorted[first]->size;
        for (next = first + 1; next < count && (sorted[next]->start < end || sorted[next]->start - end < REGION_GAP);
             next++)
            if (sorted[next]->start + sorted[next]->size > end)
                end = sorted[next]->start + sorted[next]->size;
        place_region(sorted + first, next - first, layer_of, &rva);
    }
    free(sorted);
    free(layer_of);
    return 0;
}

/* ---- the file ---- */

struct writer {
    struct text_buffer *out;
    size_t start; /* of the file in `out` */
    ARRAY(Elf64_Shdr) sections;
    ARRAY(Elf64_Sym) symbols;
    struct text_buffer names; /* of the symbols */
    struct jit_image_debug debug;
    bool has_failed;
};

/* Names of the sections, by offset in this text. */
static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id"
                                    "\0.debug_abbrev\0.debug_info\0.debug_line";
enum {
    NAME_TEXT = 1,
    NAME_SYMTAB = 7,
    NAME_STRTAB = 15,
    NAME_SHSTRTAB = 23,
    NAME_NOTE = 33,
    NAME_ABBREV = 52,
    NAME_INFO = 66,
    NAME_LINE = 78,
};

static void write_bytes(struct writer *writer, const void *bytes, size_t size)
{
    writer->has_failed |= !text_append(writer->out, bytes, size);
}

static uint64_t write_aligned(struct writer *writer, const void *bytes, size_t size, size_t alignment)
{
    static const char zeros[CODE_ALIGNMENT];
    size_t at = writer->out->length - writer->start;
    write_bytes(writer, zeros, (alignment - at % alignment) % alignment);
    at = writer->out->length - writer->start;
    write_bytes(writer, bytes, size);
    return at;
}

static void add_section(struct writer *writer, const Elf64_Shdr *section)
{
    writer->has_failed |= !array_push(&writer->sections, *section);
}

static void write_code(struct writer *writer, const struct jit_image_code *code)
{
    Elf64_Shdr section = {.sh_name = NAME_TEXT,
                          .sh_type = SHT_PROGBITS,
                          .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                          .sh_addr = code->rva,
                          .sh_size = code->size,
                          .sh_addralign = 1};
    Elf64_Sym symbol = {.st_name = (Elf64_Word)writer->names.length,
                        .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                        .st_shndx = (Elf64_Section)writer->sections.length,
                        .st_value = code->rva,
                        .st_size = code->size};
    section.sh_offset = write_aligned(writer, code->bytes, (size_t)code->size, CODE_ALIGNMENT);
    add_section(writer, &section);
    writer->has_failed |= !array_push(&writer->symbols, symbol) ||
                          !text_append(&writer->names, code->name, strlen(code->name) + 1) ||
                          !jit_image_debug_add(&writer->debug, code);
}

static void write_debug_section(struct writer *writer, uint32_t name, const void *bytes, size_t size)
{
    Elf64_Shdr section = {.sh_name = name, .sh_type = SHT_PROGBITS, .sh_size = size, .sh_addralign = 1};
    section.sh_offset = write_aligned(writer, bytes, size, 1);
    add_section(writer, &section);
}

static void write_debug_info(struct writer *writer)
{
    write_debug_section(writer, NAME_ABBREV, jit_image_abbreviations, JIT_IMAGE_ABBREVIATIONS_SIZE);
    write_debug_section(writer, NAME_INFO, writer->debug.info.data, writer->debug.info.length);
    write_debug_section(writer, NAME_LINE, writer->debug.lines.data, writer->debug.lines.length);
}

static void write_symbols(struct writer *writer)
{
    Elf64_Shdr symbols = {.sh_name = NAME_SYMTAB,
                          .sh_type = SHT_SYMTAB,
                          .sh_size = writer->symbols.length * sizeof(Elf64_Sym),
                          .sh_link = (Elf64_Word)writer->sections.length + 1,
                          .sh_info = (Elf64_Word)writer->symbols.length,
                          .sh_addralign = 8,
                          .sh_entsize = sizeof(Elf64_Sym)};
    Elf64_Shdr names = {
        .sh_name = NAME_STRTAB, .sh_type = SHT_STRTAB, .sh_size = writer->names.length, .sh_addralign = 1};
    symbols.sh_offset = write_aligned(writer, writer->symbols.data, symbols.sh_size, 8);
    names.sh_offset = write_aligned(writer, writer->names.data, names.sh_size, 1);
    add_section(writer, &symbols);
    add_section(writer, &names);
}

struct build_id_note {
    Elf64_Nhdr header;
    char owner[4];
    unsigned char id[JIT_IMAGE_ID_SIZE];
};

/* Computes a build id from all bytes so far. */
static void compute_id(const struct writer *writer, unsigned char id[JIT_IMAGE_ID_SIZE])
{
    uint64_t checksum = checksum_bytes(writer->out->data + writer->start, writer->out->length - writer->start);
    uint64_t words[3] = {checksum, checksum_mix(checksum, 1), checksum_mix(checksum, writer->out->length)};
    memcpy(id, words, JIT_IMAGE_ID_SIZE);
}

static uint64_t write_note(struct writer *writer, const unsigned char id[JIT_IMAGE_ID_SIZE])
{
    struct build_id_note note = {.header = {.n_namesz = 4, .n_descsz = JIT_IMAGE_ID_SIZE, .n_type = NT_GNU_BUILD_ID},
                                 .owner = "GNU"};
    memcpy(note.id, id, JIT_IMAGE_ID_SIZE);
    Elf64_Shdr section = {.sh_name = NAME_NOTE, .sh_type = SHT_NOTE, .sh_size = sizeof(note), .sh_addralign = 4};
    section.sh_offset = write_aligned(writer, &note, sizeof(note), 4);
    add_section(writer, &section);
    return section.sh_offset;
}

static void write_tables(struct writer *writer, uint64_t note, Elf64_Ehdr *header)
{
    Elf64_Shdr names = {
        .sh_name = NAME_SHSTRTAB, .sh_type = SHT_STRTAB, .sh_size = sizeof(section_names), .sh_addralign = 1};
    names.sh_offset = write_aligned(writer, section_names, sizeof(section_names), 1);
    header->e_shstrndx = (Elf64_Half)writer->sections.length;
    add_section(writer, &names);
    /* The segment defines that addresses start at 0; nothing loads it. */
    Elf64_Phdr segments[] = {{.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_X,
                              .p_filesz = sizeof(*header),
                              .p_memsz = JIT_IMAGE_END,
                              .p_align = 1},
                             {.p_type = PT_NOTE,
                              .p_flags = PF_R,
                              .p_offset = note,
                              .p_filesz = sizeof(struct build_id_note),
                              .p_memsz = sizeof(struct build_id_note),
                              .p_align = 4}};
    header->e_phnum = sizeof(segments) / sizeof(*segments);
    header->e_phoff = write_aligned(writer, segments, sizeof(segments), 8);
    header->e_shnum = (Elf64_Half)writer->sections.length;
    header->e_shoff = write_aligned(writer, writer->sections.data, writer->sections.length * sizeof(Elf64_Shdr), 8);
}

int jit_image_write(struct text_buffer *out, const struct jit_image_code *codes, size_t count, uint16_t machine,
                    unsigned char build_id[JIT_IMAGE_ID_SIZE], struct error *err)
{
    struct writer writer = {.out = out, .start = out->length};
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = machine,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_shentsize = sizeof(Elf64_Shdr)};
    write_bytes(&writer, &header, sizeof(header));
    add_section(&writer, &(Elf64_Shdr){0});
    writer.has_failed |= !array_push(&writer.symbols, (Elf64_Sym){0}) || !text_append(&writer.names, "", 1);
    for (size_t i = 0; i < count && i < JIT_IMAGE_CODES_MAX && !writer.has_failed; i++)
        if (codes[i].rva != JIT_IMAGE_NONE)
            write_code(&writer, &codes[i]);
    write_symbols(&writer);
    write_debug_info(&writer);
    if (!writer.has_failed) {
        compute_id(&writer, build_id);
        write_tables(&writer, write_note(&writer, build_id), &header);
    }
    if (!writer.has_failed)
        memcpy(out->data + writer.start, &header, sizeof(header));
    array_free(&writer.sections);
    array_free(&writer.symbols);
    array_free(&writer.names);
    jit_image_debug_destroy(&writer.debug);
    return writer.has_failed ? error_no_memory(err) : 0;
}

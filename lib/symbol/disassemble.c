/*
 * The first step decodes all instructions and lists their targets. objdump decodes instructions that are newer than
 * capstone. The second step finds the symbols of all targets in one pass over the symbol table, and the last step
 * writes the texts.
 */
#include "base/search.h"
#include "symbol/debug_file.h"
#include "symbol/disassemble.h"
#include "symbol/got_entries.h"
#include "symbol/mapping_symbols.h"
#include "symbol/objdump.h"

#include <elf.h>

/* Bytes of the longest instruction. The disassembler reads INSTRUCTION_MAX bytes beyond the end, to complete the last
 * instruction. */
enum { INSTRUCTION_MAX = 16 };

/* Limit of symbol names per request: a hostile file could give a function a name of 64 KiB, and call it everywhere. */
enum { NAMES_MAX = 64 << 20 };

struct target {
    enum reference_kind kind;
    uint64_t rva;
    bool is_got_entry; /* the target is a GOT entry */
};

struct work {
    struct disassembly *out;
    const struct disassemble_request *request;
    struct symbolizer *names;
    struct elf_file file;
    bool is_open;
    uint64_t base; /* vaddr of rva 0 */
    uint64_t start, size;
    unsigned char *code; /* code at `start` */
    size_t code_size;    /* a few bytes more than `size`, unless the section ends */
    struct decoder *decoder;
    struct mapping_symbols kinds;
    ARRAY(struct target) targets;    /* one per instruction */
    ARRAY(uint32_t) newer;           /* indexes of instructions that are newer than capstone */
    ARRAY(struct got_entry) entries; /* by address, distinct */
    struct arena arena;              /* texts of `entries` */
    ARRAY(uint64_t) rvas;            /* addresses to symbolize, sorted, distinct */
    struct symbol_answers found;     /* answers for `rvas` */
    size_t names_size;               /* bytes of the symbol names in the output */
};

/* ---- the code ---- */

static int open_file(struct work *work, struct error *err)
{
    int code = debug_file_open_code(&work->file, &work->request->lib, work->request->search, err);
    if (code != 0)
        return code == -ENOMEM ? code : error_prefix(err, -ENOENT, "prof cannot read its code");
    work->is_open = true;
    work->base = work->file.base;
    if (work->file.is_big_endian)
        return error_set(err, ENOTSUP, "prof does not disassemble big-endian code");
    return decoder_open(&work->decoder, work->file.machine, work->base, err);
}

/* Returns the end of the function that contains `start`, or 0 if unknown. */
static int find_function_end(struct work *work, uint64_t *end, struct error *err)
{
    struct symbol_answers answers;
    int code = symbolizer_lookup(work->names, &work->request->lib, &work->start, 1, &answers, err);
    *end = 0;
    if (code == 0 && answers.count == 1 && answers.answers[0].symbol_size)
        *end = answers.answers[0].symbol_address + answers.answers[0].symbol_size;
    symbol_answers_destroy(&answers);
    return code;
}

static int choose_size(struct work *work, struct error *err)
{
    uint64_t end = 0;
    work->size = work->request->size;
    if (work->size > DISASSEMBLE_MAX)
        return error_set(err, E2BIG, "prof disassembles at most %d bytes of code at once", DISASSEMBLE_MAX);
    int code = work->request->until_function_end ? find_function_end(work, &end, err) : 0;
    if (code == 0 && end > work->start && end - work->start > work->size)
        work->size = end - work->start < DISASSEMBLE_MAX ? end - work->start : DISASSEMBLE_MAX;
    return code;
}

static int read_code(struct work *work, struct error *err)
{
    uint64_t vaddr = work->start + work->base;
    const struct elf_section *section = vaddr >= work->base ? elf_file_find_section_at(&work->file, vaddr) : NULL;
    if (!section || !(section->flags & SHF_EXECINSTR))
        return error_set(err, ENOENT, "%s has no code at 0x%" PRIx64, work->request->lib.name, work->start);
    uint64_t left = section->bytes.size - (vaddr - section->address);
    if (work->size > left)
        work->size = left;
    work->code_size = (size_t)(left - work->size < INSTRUCTION_MAX ? left : work->size + INSTRUCTION_MAX);
    work->code = malloc(work->code_size + 1);
    if (!work->code)
        return error_no_memory(err);
    if (!bytes_read(&section->bytes, vaddr - section->address, work->code, work->code_size))
        return error_set(err, ENOENT, "the code of %s changed while prof read it", work->request->lib.name);
    return mapping_symbols_find(&work->kinds, &work->file, vaddr, vaddr + work->size, err);
}

/* Bit 0 of an ARM code address selects Thumb. */
static void align_to_instruction(struct work *work)
{
    uint16_t machine = work->file.machine;
    work->start = work->request->start;
    if (machine == EM_AARCH64)
        work->start &= ~UINT64_C(3);
    else if (machine == EM_ARM)
        work->start &= ~UINT64_C(1);
}

/* ---- decoding ---- */

static bool is_offset_table(const struct elf_section *section)
{
    return section && strncmp(section->name, ".got", 4) == 0;
}

/* Sets the address that an instruction refers to. resolve_got_entries() and find_symbols() find its symbol later. */
static bool set_target(struct work *work, size_t index, enum reference_kind kind, uint64_t rva)
{
    struct target target = {.kind = kind, .rva = rva};
    if (target.kind == REFERENCE_JUMP && work->file.machine == EM_ARM)
        target.rva &= ~UINT64_C(1);
    uint64_t vaddr = target.rva + work->base;
    target.is_got_entry =
        target.kind == REFERENCE_MEMORY && is_offset_table(elf_file_find_section_at(&work->file, vaddr));
    if (target.is_got_entry && !array_push(&work->entries, (struct got_entry){.address = vaddr}))
        return false;
    if (!target.is_got_entry && target.kind != REFERENCE_NONE && !array_push(&work->rvas, target.rva))
        return false;
    work->targets.data[index] = target;
    return true;
}

static const char *copy_text(struct work *work, const char *text)
{
    return arena_copy(&work->out->arena, text, strlen(text));
}

static bool add_instruction(struct work *work, const struct instruction *instruction)
{
    struct disassembly *out = work->out;
    struct disassembled row = {.offset = instruction->address - work->start};
    for (size_t i = 0; i < out->syntax_count; i++) {
        row.texts[i] = copy_text(work, instruction->texts[i]);
        if (!row.texts[i])
            return false;
    }
    size_t index = out->instructions.length;
    return array_push(&out->instructions, row) && array_push(&work->targets, (struct target){0}) &&
           (!instruction->is_newer || array_push(&work->newer, (uint32_t)index)) &&
           set_target(work, index, instruction->reference, instruction->target);
}

static int decode_all(struct work *work, struct error *err)
{
    uint64_t at = 0, until = 0;
    enum code_kind kind = CODE_PLAIN;
    while (at < work->size) {
        struct instruction instruction;
        uint64_t vaddr = work->start + work->base + at;
        if (at == 0 || vaddr >= until)
            kind = mapping_symbols_get_kind(&work->kinds, vaddr, &until);
        if (at == 0 && (work->request->start & 1) && work->file.machine == EM_ARM)
            kind = CODE_THUMB;
        size_t left = work->code_size - (size_t)at;
        if (until - vaddr < left)
            left = (size_t)(until - vaddr);
        decoder_next(work->decoder, kind, work->code + at, left, work->start + at, &instruction);
        if (!add_instruction(work, &instruction))
            return error_no_memory(err);
        at += instruction.size;
    }
    work->out->size = at;
    return 0;
}

/* ---- instructions that are newer than capstone ---- */

static void set_unknown_message(struct work *work, size_t count, bool has_objdump)
{
    char name[32];
    if (!count)
        return;
    decoder_write_name(name, sizeof(name));
    snprintf(work->out->note, sizeof(work->out->note), "%zu instruction%s newer than %s%s", count,
             count == 1 ? " is" : "s are", name,
             has_objdump ? " and the objdump that is installed" : ": install binutils, whose objdump may know them");
}

static void fill_objdump_request(const struct work *work, struct objdump_instruction *list, size_t count)
{
    const struct disassembled *rows = work->out->instructions.data;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = work->newer.data[i];
        bool is_last = index + 1 == work->out->instructions.length;
        uint64_t end = is_last ? work->out->size : rows[index + 1].offset;
        list[i].address = work->start + rows[index].offset;
        list[i].bytes = work->code + rows[index].offset;
        list[i].size = (uint32_t)(end - rows[index].offset);
    }
}

static int set_objdump_text(struct work *work, const struct objdump_instruction *known, uint32_t index,
                            struct error *err)
{
    struct disassembled *row = &work->out->instructions.data[index];
    for (size_t i = 0; i < DECODER_SYNTAXES; i++) {
        row->texts[i] = copy_text(work, known->texts[i]);
        if (!row->texts[i])
            return error_no_memory(err);
    }
    return !known->has_memory || set_target(work, index, REFERENCE_MEMORY, known->memory) ? 0 : error_no_memory(err);
}

static int decode_with_objdump(struct work *work, struct error *err)
{
    size_t count = work->newer.length < OBJDUMP_MAX ? work->newer.length : OBJDUMP_MAX;
    size_t unknown = work->newer.length;
    if (!count)
        return 0;
    struct objdump_instruction *list = calloc(count, sizeof(*list));
    if (!list)
        return error_no_memory(err);
    fill_objdump_request(work, list, count);
    int code = 0;
    bool has_objdump = objdump_decode(list, count, work->file.machine == EM_X86_64);
    for (size_t i = 0; code == 0 && has_objdump && i < count; i++) {
        if (!list[i].texts[0][0] || !list[i].texts[1][0])
            continue;
        unknown--;
        code = set_objdump_text(work, &list[i], work->newer.data[i], err);
    }
    free(list);
    set_unknown_message(work, unknown, has_objdump);
    return code;
}

/* ---- names ---- */

/* Resolves GOT entries. GOT entries without a symbol have a target address, which needs a symbol. */
static int resolve_got_entries(struct work *work, struct error *err)
{
    size_t kept = work->entries.length = got_entries_sort(work->entries.data, work->entries.length);
    got_entries_resolve(&work->file, work->entries.data, kept, &work->arena);
    for (size_t i = 0; i < kept; i++)
        if (!work->entries.data[i].name && work->entries.data[i].target > work->base &&
            !array_push(&work->rvas, work->entries.data[i].target - work->base))
            return error_no_memory(err);
    return 0;
}

static int find_symbols(struct work *work, struct error *err)
{
    work->rvas.length = sort_distinct(work->rvas.data, work->rvas.length);
    if (!work->rvas.length)
        return 0;
    return symbolizer_lookup(work->names, &work->request->lib, work->rvas.data, work->rvas.length, &work->found, err);
}

static const struct symbol_answer *find_answer(const struct work *work, uint64_t rva)
{
    size_t at = search_first_at_or_after(work->rvas.data, work->rvas.length, rva);
    bool is_there = at < work->found.count && work->rvas.data[at] == rva;
    return is_there && work->found.answers[at].symbol ? &work->found.answers[at] : NULL;
}

static const struct got_entry *find_got_entry(const struct work *work, uint64_t rva)
{
    return got_entries_find(work->entries.data, work->entries.length, rva + work->base);
}

struct label {
    const char *name, *suffix;
    uint64_t distance;
};

/* Writes the label behind an address: "<name+0x10>", "<name@got>", or none. */
static struct label find_label(const struct work *work, const struct target *target)
{
    struct label label = {.suffix = ""};
    const struct got_entry *entry = target->is_got_entry ? find_got_entry(work, target->rva) : NULL;
    uint64_t rva = entry ? entry->target - work->base : target->rva;
    const struct symbol_answer *answer = entry && entry->name ? NULL : find_answer(work, rva);
    if (entry) {
        bool is_start = answer && answer->symbol_address == rva;
        label.name = entry->name ? entry->name : is_start ? answer->symbol : NULL;
        label.suffix = "@got";
    } else if (answer) {
        label.name = answer->symbol;
        label.distance = rva - answer->symbol_address;
    }
    return label;
}

static const char *append_label(struct work *work, const char *text, const struct target *target)
{
    char address[40] = "", distance[24] = "";
    struct label label = find_label(work, target);
    if (target->kind == REFERENCE_MEMORY)
        snprintf(address, sizeof(address), " %c 0x%" PRIx64, work->out->syntax_count == DECODER_SYNTAXES ? '#' : ';',
                 target->rva);
    if (label.distance)
        snprintf(distance, sizeof(distance), "+0x%" PRIx64, label.distance);
    size_t size = strlen(text) + strlen(address) + (label.name ? strlen(label.name) : 0) + strlen(label.suffix) +
                  strlen(distance) + sizeof(" <>");
    work->names_size += size;
    char *out = arena_alloc(&work->out->arena, size);
    if (out && label.name)
        snprintf(out, size, "%s%s <%s%s%s>", text, address, label.name, label.suffix, distance);
    else if (out)
        snprintf(out, size, "%s%s", text, address);
    return out;
}

static int append_labels(struct work *work, struct error *err)
{
    struct disassembly *out = work->out;
    for (size_t i = 0; i < out->instructions.length; i++) {
        if (work->targets.data[i].kind == REFERENCE_NONE)
            continue;
        if (work->names_size > NAMES_MAX)
            return error_set(err, E2BIG, "the names in this code are too long: request less code at once");
        struct disassembled *row = &out->instructions.data[i];
        for (size_t s = 0; s < out->syntax_count; s++) {
            row->texts[s] = append_label(work, row->texts[s], &work->targets.data[i]);
            if (!row->texts[s])
                return error_no_memory(err);
        }
    }
    return 0;
}

static void work_destroy(struct work *work)
{
    if (work->is_open)
        elf_file_close(&work->file);
    decoder_close(work->decoder);
    mapping_symbols_destroy(&work->kinds);
    free(work->code);
    array_free(&work->targets);
    array_free(&work->newer);
    array_free(&work->entries);
    array_free(&work->rvas);
    arena_destroy(&work->arena);
    symbol_answers_destroy(&work->found);
}

int disassemble(struct disassembly *out, const struct disassemble_request *request, struct symbolizer *names,
                struct error *err)
{
    struct work work = {.out = out, .request = request, .names = names, .found = {.problem = ""}};
    *out = (struct disassembly){.start = request->start};
    int code = open_file(&work, err);
    if (code == 0) {
        align_to_instruction(&work);
        out->start = work.start;
        out->architecture = decoder_get_architecture(work.decoder);
        out->syntax_count = decoder_list_syntaxes(work.decoder, out->syntaxes);
        code = choose_size(&work, err);
    }
    if (code == 0)
        code = read_code(&work, err);
    if (code == 0)
        code = decode_all(&work, err);
    if (code == 0)
        code = decode_with_objdump(&work, err);
    if (code == 0)
        code = resolve_got_entries(&work, err);
    if (code == 0)
        code = find_symbols(&work, err);
    if (code == 0)
        code = append_labels(&work, err);
    work_destroy(&work);
    return code;
}

void disassembly_destroy(struct disassembly *disassembly)
{
    array_free(&disassembly->instructions);
    arena_destroy(&disassembly->arena);
}

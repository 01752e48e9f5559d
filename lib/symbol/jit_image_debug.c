/*
 * DWARF 4, sections 6.2 (line number information), 7.5 (units) and 7.6 (LEB128). The line programs use no special
 * opcodes: they are short enough.
 */
#include "symbol/jit_image_debug.h"

#include <dwarf.h>

enum { UNIT = 1, SUBPROGRAM = 2, DWARF_VERSION = 4, ADDRESS_SIZE = 8, OPCODE_BASE = 13 };

const unsigned char jit_image_abbreviations[JIT_IMAGE_ABBREVIATIONS_SIZE] = {
    UNIT,
    DW_TAG_compile_unit,
    DW_CHILDREN_yes,
    DW_AT_name,
    DW_FORM_string, /* */
    DW_AT_stmt_list,
    DW_FORM_sec_offset,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_data8,
    0,
    0,
    SUBPROGRAM,
    DW_TAG_subprogram,
    DW_CHILDREN_no,
    DW_AT_name,
    DW_FORM_string,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_data8,
    0,
    0,
    0,
};

/* ---- numbers ---- */

static bool append_number(struct text_buffer *out, uint64_t value, size_t size)
{
    char bytes[sizeof(value)];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(value >> 8 * i);
    return text_append(out, bytes, size);
}

static bool append_uleb(struct text_buffer *out, uint64_t value)
{
    bool ok = true;
    for (; value >= 0x80; value >>= 7)
        ok = ok && append_number(out, value | 0x80, 1);
    return ok && append_number(out, value, 1);
}

static bool append_sleb(struct text_buffer *out, int64_t value)
{
    bool ok = true;
    for (; value < -0x40 || value >= 0x40; value >>= 7) /* an arithmetic shift, as gcc and clang define it */
        ok = ok && append_number(out, (uint64_t)value | 0x80, 1);
    return ok && append_number(out, (uint64_t)value & 0x7f, 1);
}

static bool append_text(struct text_buffer *out, const char *text)
{
    return text_append(out, text, strlen(text) + 1);
}

/* Stores the number of bytes written since `start` in the 4 bytes there. */
static void set_length(struct text_buffer *out, size_t start)
{
    for (size_t i = 0; i < 4; i++)
        out->data[start + i] = (char)((out->length - start - 4) >> 8 * i);
}

/* ---- lines ---- */

enum { FILES_MAX = 256 }; /* limit of files of one code: a hostile dump may name a file for each byte */

ARRAY_TYPE(struct file_list, const char *);

/* An empty file name would end the table of files. */
static const char *choose_file_name(const char *file)
{
    return file && *file ? file : "JIT";
}

static uint32_t find_file_number(const struct file_list *files, const char *file)
{
    for (size_t i = 0; i < files->length; i++)
        if (files->data[i] == file || strcmp(files->data[i], file) == 0)
            return (uint32_t)i + 1;
    return 0;
}

/* Lists the distinct files; file 1 is the function's own. */
static bool list_files(const struct jit_image_code *code, struct file_list *files)
{
    bool ok = array_push(files, choose_file_name(code->file));
    const char *last = files->length ? files->data[0] : NULL;
    for (size_t i = 0; ok && i < code->line_count && files->length < FILES_MAX; i++) {
        const char *file = code->lines[i].file;
        if (file && *file && file != last && !find_file_number(files, file))
            ok = array_push(files, file);
        last = file ? file : last;
    }
    return ok;
}

static bool append_line_header(struct text_buffer *out, const struct file_list *files)
{
    static const unsigned char head[] = {
        1,
        1,
        1, /* bytes of the shortest instruction, operations in one, is_stmt */
        (unsigned char)-5,
        14,
        OPCODE_BASE, /* parameters of the special opcodes, which prof does not use */
        0,
        1,
        1,
        1,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        1, /* numbers of operands of the other opcodes */
        0, /* no directories */
    };
    size_t start = out->length;
    bool ok = text_append(out, (const char *)head, sizeof(head));
    for (size_t i = 0; ok && i < files->length; i++)
        ok = append_text(out, files->data[i]) && append_number(out, 0, 3); /* directory, time, length */
    ok = ok && append_number(out, 0, 1);
    if (ok) /* the 4 bytes before hold the length of the header */
        set_length(out, start - 4);
    return ok;
}

static bool append_line_program(struct text_buffer *out, const struct jit_image_code *code,
                                const struct file_list *files)
{
    uint32_t file = 1, line = 1, offset = 0;
    bool ok = append_number(out, 0, 1) && append_number(out, 1 + ADDRESS_SIZE, 1) &&
              append_number(out, DW_LNE_set_address, 1) && append_number(out, code->rva, ADDRESS_SIZE);
    for (size_t i = 0; ok && i < code->line_count && code->lines[i].offset < code->size; i++) {
        const struct jit_image_line *at = &code->lines[i];
        uint32_t known = at->file ? find_file_number(files, at->file) : 0;
        uint32_t its_file = known ? known : file, its_line = known ? at->line : 0;
        ok = append_number(out, DW_LNS_advance_pc, 1) && append_uleb(out, at->offset - offset) &&
             (its_file == file || (append_number(out, DW_LNS_set_file, 1) && append_uleb(out, its_file))) &&
             append_number(out, DW_LNS_advance_line, 1) && append_sleb(out, (int64_t)its_line - line) &&
             append_number(out, DW_LNS_set_column, 1) && append_uleb(out, at->column) &&
             append_number(out, DW_LNS_copy, 1);
        file = its_file;
        line = its_line;
        offset = at->offset;
    }
    return ok && append_number(out, DW_LNS_advance_pc, 1) && append_uleb(out, code->size - offset) &&
           append_number(out, 0, 1) && append_number(out, 1, 1) && append_number(out, DW_LNE_end_sequence, 1);
}

static bool append_line_table(struct text_buffer *out, const struct jit_image_code *code)
{
    struct file_list files = {0};
    size_t start = out->length;
    bool ok = list_files(code, &files) && append_number(out, 0, 4) && append_number(out, DWARF_VERSION, 2) &&
              append_number(out, 0, 4) && append_line_header(out, &files) && append_line_program(out, code, &files);
    if (ok)
        set_length(out, start);
    array_free(&files);
    return ok;
}

/* ---- units ---- */

static bool append_range(struct text_buffer *out, const struct jit_image_code *code)
{
    return append_number(out, code->rva, ADDRESS_SIZE) && append_number(out, code->size, 8);
}

bool jit_image_debug_add(struct jit_image_debug *debug, const struct jit_image_code *code)
{
    struct text_buffer *out = &debug->info;
    size_t start = out->length, lines = debug->lines.length;
    bool ok = append_line_table(&debug->lines, code) && append_number(out, 0, 4) &&
              append_number(out, DWARF_VERSION, 2) && append_number(out, 0, 4) && append_number(out, ADDRESS_SIZE, 1) &&
              append_number(out, UNIT, 1) && append_text(out, choose_file_name(code->file)) &&
              append_number(out, lines, 4) && append_range(out, code) && append_number(out, SUBPROGRAM, 1) &&
              append_text(out, code->name) && append_range(out, code) && append_number(out, 0, 1);
    if (ok)
        set_length(out, start);
    return ok;
}

void jit_image_debug_destroy(struct jit_image_debug *debug)
{
    array_free(&debug->info);
    array_free(&debug->lines);
}

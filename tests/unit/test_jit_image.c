/* The file with the code of JIT functions: where codes are put, and that symbolizer and disassembler read it. */
#include "symbol/disassemble.h"
#include "symbol/jit_image.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/directory.h"

static struct jit_image_code code_at(uint64_t start, uint64_t size)
{
    return (struct jit_image_code){.start = start, .size = size};
}

static void test_code_of_one_time_keeps_its_distances(void **unused)
{
    (void)unused;
    struct jit_image_code codes[] = {code_at(0x7f0000001230, 16), code_at(0x7f0000000100, 256),
                                     code_at(0x7f0000200000, 64)};
    assert_int_equal(jit_image_assign_addresses(codes, 3, NULL), 0);
    assert_int_equal(codes[0].rva - codes[1].rva, 0x1130);
    assert_int_equal(codes[2].rva - codes[1].rva, 0x1fff00);
    assert_int_equal(codes[1].rva % 4096, 0x100);
}

static void test_code_at_the_same_addresses_is_apart(void **unused)
{
    (void)unused;
    enum { CODES = 40 };
    struct jit_image_code codes[CODES];
    for (size_t i = 0; i < CODES; i++)
        codes[i] = code_at(0x10000 + i / 4 * 64, 64 + i % 4);
    assert_int_equal(jit_image_assign_addresses(codes, CODES, NULL), 0);
    for (size_t i = 0; i < CODES; i++)
        for (size_t j = 0; j < i; j++) {
            assert_true(codes[i].rva != JIT_IMAGE_NONE);
            assert_true(codes[i].rva >= codes[j].rva + codes[j].size || codes[j].rva >= codes[i].rva + codes[i].size);
        }
}

static void test_code_far_apart_is_brought_together_as_far_as_there_is_room(void **unused)
{
    (void)unused;
    struct jit_image_code codes[] = {code_at(0x1000, 100), code_at(UINT64_C(1) << 40, 200),
                                     code_at(UINT64_MAX - 5000, 300), code_at(UINT64_C(1) << 50, JIT_IMAGE_END)};
    assert_int_equal(jit_image_assign_addresses(codes, 4, NULL), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(codes[i].rva < UINT64_C(1) << 30);
    assert_true(codes[3].rva == JIT_IMAGE_NONE);
}

/* ---- reading it ---- */

/* call second; ret; and, 32 bytes on: nop; ret */
static const unsigned char first_code[] = {0xe8, 0x1b, 0, 0, 0, 0xc3}, second_code[] = {0x90, 0xc3};
static const struct jit_image_line first_lines[] = {
    {.offset = 0, .line = 10, .column = 3, .file = "/src/a.js"},
    {.offset = 5, .line = 2000, .column = 1, .file = "/src/b.js"},
};
static const struct jit_image_line second_lines[] = {{.offset = 1, .line = 7, .file = NULL}};

static void write_image(uint16_t machine, unsigned char build_id[JIT_IMAGE_ID_SIZE], struct jit_image_code codes[2])
{
    struct text_buffer image = {0};
    codes[0] = (struct jit_image_code){.start = 0x1000,
                                       .size = sizeof(first_code),
                                       .bytes = first_code,
                                       .name = "first",
                                       .file = "/src/a.js",
                                       .lines = first_lines,
                                       .line_count = 2};
    codes[1] = (struct jit_image_code){.start = 0x1020,
                                       .size = sizeof(second_code),
                                       .bytes = second_code,
                                       .name = "second",
                                       .lines = second_lines,
                                       .line_count = 1};
    assert_int_equal(jit_image_assign_addresses(codes, 2, NULL), 0);
    assert_int_equal(jit_image_write(&image, codes, 2, machine, build_id, NULL), 0);
    FILE *file = fopen(in_directory("image.elf"), "we");
    assert_non_null(file);
    assert_int_equal(fwrite(image.data, 1, image.length, file), image.length);
    assert_int_equal(fclose(file), 0);
    array_free(&image);
}

static void test_symbols_lines_and_instructions_are_those_of_the_code(void **unused)
{
    (void)unused;
    unsigned char build_id[JIT_IMAGE_ID_SIZE], other_id[JIT_IMAGE_ID_SIZE];
    struct jit_image_code codes[2];
    write_image(EM_AARCH64, other_id, codes);
    write_image(EM_X86_64, build_id, codes);
    struct symbol_lib lib = {.name = "jit-1.dump",
                             .path = in_directory("image.elf"),
                             .build_id = build_id,
                             .build_id_size = JIT_IMAGE_ID_SIZE};
    const uint64_t rvas[] = {codes[0].rva, codes[0].rva + 4, codes[0].rva + 5, codes[1].rva, codes[1].rva + 1};
    struct symbolizer_options options = {.threads = 1};
    for (int reader = SYMBOL_READER_OWN; reader <= SYMBOL_READER_LIBDW; reader++) {
        options.reader = (enum symbol_reader)reader;
        struct symbolizer *symbolizer = symbolizer_new(&options);
        struct symbol_answers answers;
        assert_int_equal(symbolizer_lookup(symbolizer, &lib, rvas, 5, &answers, NULL), 0);
        assert_int_equal(answers.count, 5);
        const char *const names[] = {"first", "first", "first", "second", "second"};
        const char *const files[] = {"/src/a.js", "/src/a.js", "/src/b.js", NULL, NULL};
        const uint32_t lines[] = {10, 10, 2000, 0, 0};
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(answers.answers[i].frame_count, 1);
            const struct symbol_frame *frame = &answers.frames.data[answers.answers[i].first_frame];
            assert_string_equal(frame->function, names[i]);
            assert_int_equal(frame->line, lines[i]);
            if (files[i])
                assert_string_equal(frame->file, files[i]);
        }
        assert_false(answers.is_damaged);
        symbol_answers_destroy(&answers);
        symbolizer_free(symbolizer);
    }

    options = (struct symbolizer_options){.threads = 1, .skip_inlines_and_lines = true};
    struct symbolizer *names = symbolizer_new(&options);
    struct disassemble_request request = {.lib = lib, .start = codes[0].rva, .size = 1, .until_function_end = true};
    struct disassembly code;
    assert_int_equal(disassemble(&code, &request, names, NULL), 0);
    assert_int_equal(code.instructions.length, 2);
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "call 0x%" PRIx64 " <second>", codes[1].rva);
    assert_string_equal(code.instructions.data[0].texts[0], wanted);
    assert_string_equal(code.instructions.data[1].texts[0], "ret");
    disassembly_destroy(&code);
    symbolizer_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_of_one_time_keeps_its_distances),
        cmocka_unit_test(test_code_at_the_same_addresses_is_apart),
        cmocka_unit_test(test_code_far_apart_is_brought_together_as_far_as_there_is_room),
        cmocka_unit_test(test_symbols_lines_and_instructions_are_those_of_the_code),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}

/* Stacks through code of a file without CFI: the walker reads the code ahead to its return. */
#include "unwind/address_space.h"
#include "unwind/module.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { BASE = 0x400000, CODE = 0x1000, CODE_SIZE = 0x100, STACK = 0x700000, WORDS = 16 };

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    unsigned char until_code[CODE - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)];
    unsigned char code[CODE_SIZE];
};

/* The mapping goes on behind the bytes of the file. */
static void map_code(struct address_space *space, const char *code, size_t size, uint32_t flags)
{
    struct image image = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
                                     .e_type = ET_EXEC,
                                     .e_machine = EM_X86_64,
                                     .e_version = 1,
                                     .e_phoff = sizeof(Elf64_Ehdr),
                                     .e_ehsize = sizeof(Elf64_Ehdr),
                                     .e_phentsize = sizeof(Elf64_Phdr),
                                     .e_phnum = 1},
                          .segment = {.p_type = PT_LOAD,
                                      .p_flags = flags,
                                      .p_offset = CODE,
                                      .p_vaddr = BASE + CODE,
                                      .p_filesz = CODE_SIZE,
                                      .p_memsz = CODE_SIZE,
                                      .p_align = CODE}};
    struct unwind_module *module;
    memset(image.code, 0xcc, sizeof(image.code));
    memcpy(image.code, code, size);
    assert_int_equal(unwind_module_open_memory(&module, &image, sizeof(image), "image", NULL), 0);
    struct mapping mapping = {.start = BASE + CODE,
                              .end = BASE + 2 * CODE,
                              .rva = BASE + CODE - unwind_module_get_base(module),
                              .module = module};
    assert_true(address_space_map(space, &mapping));
    unwind_module_unref(module);
}

static struct unwind_result walk_with_pointer(struct address_space *space, uint64_t pc, uint64_t bp,
                                              const uint64_t *words, uint64_t *pcs)
{
    struct unwind_regs regs = {{0}};
    regs.r[UNWIND_REG_PC] = pc;
    regs.r[UNWIND_REG_SP] = STACK;
    regs.r[UNWIND_REG_BP] = bp;
    struct unwind_stack stack = {.sp = STACK, .bytes = (const unsigned char *)words, .size = WORDS * sizeof(*words)};
    return unwind_walk(space, &regs, &stack, pcs, WORDS);
}

static struct unwind_result walk(struct address_space *space, uint64_t pc, const uint64_t *words, uint64_t *pcs)
{
    return walk_with_pointer(space, pc, 0x12345 /* nothing to follow */, words, pcs);
}

static void assert_complete(struct address_space *space, uint64_t pc, const uint64_t *words, size_t count,
                            const uint64_t *wanted)
{
    uint64_t pcs[WORDS];
    struct unwind_result result = walk(space, pc, words, pcs);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(result.frames, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pcs[i], wanted[i]);
}

/* middle: sub $8,%rsp; call stop; mov %r13d,%r10d; add $8,%rsp; ret. outer: call middle; ret. The last byte of the call
 * of stop and what follows it are no code. */
#define CALLERS                                                                                                        \
    "\x48\x83\xec\x08\xe8\xdf\xff\xff\xff\x45\x89\xea\x48\x83\xc4\x08\xc3\x90\x90\x90\x90\x90\x90\x90"                 \
    "\xe8\xe3\xff\xff\xff\xc3"

enum {
    LEAF = BASE + CODE,
    MIDDLE = LEAF + 24,
    MIDDLE_RETURN = MIDDLE + 9,
    OUTER = MIDDLE + 24,
    OUTER_RETURN = OUTER + 5,
    LAST = OUTER_RETURN - 1
};

static void test_the_caller_of_code_that_never_returns_is_read_from_its_return_address(void **unused)
{
    (void)unused;
    /* hlt */
    static const char code[] =
        "\xf4\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
        "\x90\x90" CALLERS;
    static const uint64_t in_leaf[WORDS] = {MIDDLE_RETURN, 0, OUTER_RETURN}, in_middle[WORDS] = {0, OUTER_RETURN};
    struct address_space space = {0};
    map_code(&space, code, sizeof(code) - 1, PF_R | PF_X);
    assert_complete(&space, LEAF, in_leaf, 3, (uint64_t[]){LEAF, MIDDLE_RETURN - 1, LAST});
    assert_complete(&space, MIDDLE + 4, in_middle, 2, (uint64_t[]){MIDDLE + 4, LAST});
    assert_complete(&space, LEAF, in_leaf, 3, (uint64_t[]){LEAF, MIDDLE_RETURN - 1, LAST});
    address_space_destroy(&space);
}

/* Padding after a call aligns the loop, and may as well be the end of the function. */
static void test_a_return_address_that_is_left_in_a_frame_is_no_caller(void **unused)
{
    (void)unused;
    /* sub $24,%rsp; nop; call; padding; add $24,%rsp; ret */
    static const char code[] = "\x48\x83\xec\x18\x90\xe8\0\0\0\0\x0f\x1f\x40\0\x48\x83\xc4\x18\xc3\x90\x90\x90\x90"
                               "\x90" CALLERS;
    static const uint64_t words[WORDS] = {OUTER_RETURN, 0, 0, MIDDLE_RETURN, 0, OUTER_RETURN};
    struct address_space space = {0};
    map_code(&space, code, sizeof(code) - 1, PF_R | PF_X);
    assert_complete(&space, LEAF + 4, words, 3, (uint64_t[]){LEAF + 4, MIDDLE_RETURN - 1, LAST});
    address_space_destroy(&space);
}

/* As GCL has its compiled Lisp, for one. */
static void test_code_in_a_data_segment_is_read(void **unused)
{
    (void)unused;
    /* sub $8,%rsp; add $8,%rsp; ret */
    static const char code[] =
        "\x48\x83\xec\x08\x48\x83\xc4\x08\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
        "\x90" CALLERS;
    static const uint64_t words[WORDS] = {0, MIDDLE_RETURN, 0, OUTER_RETURN};
    struct address_space space = {0};
    map_code(&space, code, sizeof(code) - 1, PF_R | PF_W);
    assert_complete(&space, LEAF + 4, words, 3, (uint64_t[]){LEAF + 4, MIDDLE_RETURN - 1, LAST});
    address_space_destroy(&space);
}

/* Nothing says whether a call precedes it. */
static void test_an_address_whose_code_cannot_be_read_is_no_start(void **unused)
{
    (void)unused;
    static const char code[] = "\xc3\x90\x90\x90\x90"; /* ret */
    static const uint64_t words[WORDS] = {BASE + CODE + CODE_SIZE + 0x10};
    uint64_t pcs[WORDS];
    struct address_space space = {0};
    map_code(&space, code, sizeof(code) - 1, PF_R | PF_X);
    assert_int_equal(walk(&space, LEAF, words, pcs).end, UNWIND_NO_CFI);
    address_space_destroy(&space);
}

/* JIT code that jumps on, and the code of a file that may have entered it. */
enum { JIT_CODE = 0x1000, UNKNOWN_CODE = 0x900000 };

static void map_jit_and_callers(struct address_space *space)
{
    /* hlt */
    static const char code[] =
        "\xf4\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
        "\x90\x90" CALLERS;
    const struct mapping jit = {.start = JIT_CODE, .end = JIT_CODE + 0x1000, .lib = MAPPING_NO_LIB};
    map_code(space, code, sizeof(code) - 1, PF_R | PF_X);
    assert_true(address_space_map(space, &jit));
}

static void test_jit_code_is_left_for_what_entered_it(void **unused)
{
    (void)unused;
    static const uint64_t words[WORDS] = {7, 8, MIDDLE_RETURN, 0, OUTER_RETURN};
    struct address_space space = {0};
    map_jit_and_callers(&space);
    assert_complete(&space, JIT_CODE, words, 3, (uint64_t[]){JIT_CODE, MIDDLE_RETURN - 1, LAST});
    address_space_destroy(&space);
}

static void test_what_seems_to_have_entered_jit_code_counts_only_if_the_stack_is_complete_from_there(void **unused)
{
    (void)unused;
    static const uint64_t words[WORDS] = {7, 8, MIDDLE_RETURN, 0, 9, 0, OUTER_RETURN};
    uint64_t pcs[WORDS];
    struct address_space space = {0};
    map_jit_and_callers(&space);
    struct unwind_result result = walk(&space, JIT_CODE, words, pcs);
    assert_int_equal(result.end, UNWIND_JIT_CODE);
    assert_int_equal(result.frames, 1);
    address_space_destroy(&space);
}

/* The mappings have to be read again: to leave the JIT code here would leave out the frames of the new one. */
static void test_jit_code_whose_caller_is_not_mapped_yet_is_not_left(void **unused)
{
    (void)unused;
    static const uint64_t words[WORDS] = {STACK + 64, UNKNOWN_CODE, MIDDLE_RETURN, 0, OUTER_RETURN};
    uint64_t pcs[WORDS];
    struct address_space space = {0};
    map_jit_and_callers(&space);
    struct unwind_result result = walk_with_pointer(&space, JIT_CODE, STACK, words, pcs);
    assert_int_equal(result.end, UNWIND_NO_MODULE);
    assert_int_equal(result.frames, 1);
    address_space_destroy(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_caller_of_code_that_never_returns_is_read_from_its_return_address),
        cmocka_unit_test(test_a_return_address_that_is_left_in_a_frame_is_no_caller),
        cmocka_unit_test(test_code_in_a_data_segment_is_read),
        cmocka_unit_test(test_jit_code_is_left_for_what_entered_it),
        cmocka_unit_test(test_what_seems_to_have_entered_jit_code_counts_only_if_the_stack_is_complete_from_there),
        cmocka_unit_test(test_jit_code_whose_caller_is_not_mapped_yet_is_not_left),
        cmocka_unit_test(test_an_address_whose_code_cannot_be_read_is_no_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

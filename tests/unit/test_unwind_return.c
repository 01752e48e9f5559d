/*
 * Frames found by reading code ahead to its return, against the CFI of the same code: the C library, at each
 * instruction.
 */
#include "support/c_library.h"
#include "unwind/cache.h"
#include "unwind/cfi.h"
#include "unwind/module.h"
#include "arch/x86_instruction.h"

#include <capstone/capstone.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct code {
    uint64_t start;
    const unsigned char *bytes;
    size_t size;
};

static size_t read_code(void *context, uint64_t address, unsigned char *out, size_t size)
{
    const struct code *code = context;
    uint64_t offset = address - code->start;
    if (offset >= code->size)
        return 0;
    if (size > code->size - offset)
        size = code->size - (size_t)offset;
    memcpy(out, code->bytes + offset, size);
    return size;
}

/* ---- single functions ---- */

enum { AT = 0x1000 };

static enum arch_return find(const char *bytes, size_t size, size_t offset, struct arch_frame *frame)
{
    struct code code = {.start = AT, .bytes = (const unsigned char *)bytes, .size = size};
    return arch_find_return(read_code, &code, AT + offset, frame);
}

#define FIND(bytes, offset, frame) find(bytes, sizeof(bytes) - 1, offset, frame)

static void test_pushes_and_pops_add_up(void **unused)
{
    (void)unused;
    /* push %rbx; sub $16,%rsp; call; add $16,%rsp; pop %rbx; ret */
    static const char code[] = "\x53\x48\x83\xec\x10\xe8\0\0\0\0\x48\x83\xc4\x10\x5b\xc3";
    static const struct {
        size_t offset;
        int cfa_offset;
    } places[] = {{0, 8}, {1, 16}, {5, 32}, {10, 32}, {14, 16}, {15, 8}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct arch_frame frame;
        assert_int_equal(FIND(code, places[i].offset, &frame), ARCH_RETURNS);
        assert_int_equal(frame.base, UNWIND_REG_SP);
        assert_int_equal(frame.cfa_offset, places[i].cfa_offset);
    }
    struct arch_frame frame;
    FIND(code, 10, &frame);
    assert_int_equal(frame.saved, 1 << 3);
    assert_int_equal(frame.slots[1], -2);
}

static void test_leave_counts_from_the_frame_pointer(void **unused)
{
    (void)unused;
    static const char code[] = "\x48\x29\xc4\xe8\0\0\0\0\xc9\xc3"; /* sub %rax,%rsp; call; leave; ret */
    struct arch_frame frame;
    assert_int_equal(FIND(code, 0, &frame), ARCH_RETURNS);
    assert_int_equal(frame.base, UNWIND_REG_BP);
    assert_int_equal(frame.cfa_offset, 16);
    assert_int_equal(frame.saved, 1 << UNWIND_REG_BP);
}

static void test_a_loop_does_not_return(void **unused)
{
    (void)unused;
    static const char loop[] = "\x90\xeb\xfd";                   /* nop; jmp -3 */
    static const char branch[] = "\x74\x02\x5b\xc3\x5b\x5d\xc3"; /* je; pop %rbx; ret; pop; pop; ret */
    static const char end[] = "\xe8\0\0\0\0\x0f\x1f\x00\xf4";    /* call; padding; hlt */
    struct arch_frame frame;
    assert_int_equal(FIND(loop, 0, &frame), ARCH_NEVER_RETURNS);
    assert_int_equal(FIND(branch, 0, &frame), ARCH_RETURNS);
    assert_int_equal(frame.cfa_offset, 16);
    assert_int_equal(FIND(end, 0, &frame), ARCH_NEVER_RETURNS);
}

/* As in V8's InterpreterEntryTrampoline, whose caller the frame pointer gives. */
static void test_a_return_with_an_sp_that_is_lost_says_nothing(void **unused)
{
    (void)unused;
    static const char code[] = "\xc9\x59\x48\x01\xdc\x51\xc3"; /* leave; pop %rcx; add %rbx,%rsp; push %rcx; ret */
    struct arch_frame frame;
    assert_int_equal(FIND(code, 0, &frame), ARCH_RETURN_UNKNOWN);
}

static void test_sp_may_be_kept_in_another_register(void **unused)
{
    (void)unused;
    /* mov %rbx,(%rsp); mov %rsp,%rbx; and $-64,%rsp; call; mov %rbx,%rsp; mov (%rsp),%rbx; add $24,%rsp; ret */
    static const char code[] = "\x48\x89\x1c\x24\x48\x89\xe3\x48\x83\xe4\xc0\xe8\0\0\0\0\x48\x89\xdc\x48\x8b\x1c"
                               "\x24\x48\x83\xc4\x18\xc3";
    struct arch_frame frame;
    assert_int_equal(FIND(code, 0, &frame), ARCH_RETURNS);
    assert_int_equal(frame.base, UNWIND_REG_SP);
    assert_int_equal(frame.cfa_offset, 32);
    assert_int_equal(frame.saved, 0); /* not yet */
    for (size_t offset = 7; offset <= 16; offset += offset == 7 ? 4 : 5) {
        assert_int_equal(FIND(code, offset, &frame), ARCH_RETURNS);
        assert_int_equal(frame.base, 3);
        assert_int_equal(frame.cfa_offset, 32);
        assert_int_equal(frame.saved, 1 << 3);
        assert_int_equal(frame.slots[1], -4);
    }
}

static void test_sp_may_be_kept_on_the_stack(void **unused)
{
    (void)unused;
    static const char below[] = "\x48\x8b\x64\x24\xf8\xc3";              /* mov -8(%rsp),%rsp; ret */
    static const char by_rbp[] = "\x48\x89\xec\x5c\x5d\xc3";             /* mov %rbp,%rsp; pop %rsp; pop %rbp; ret */
    static const char stored[] = "\x50\x58\x48\x8b\x64\x24\xf8\xc3";     /* push %rax; pop %rax; the first one */
    static const char called[] = "\xe8\0\0\0\0\x48\x8b\x64\x24\xf8\xc3"; /* call; the first one */
    struct arch_frame frame;
    assert_int_equal(FIND(below, 0, &frame), ARCH_RETURNS);
    assert_true(frame.base_is_word);
    assert_int_equal(frame.base, UNWIND_REG_SP);
    assert_int_equal(frame.word_offset, -8);
    assert_int_equal(frame.cfa_offset, 8);
    assert_int_equal(FIND(by_rbp, 0, &frame), ARCH_RETURNS);
    assert_true(frame.base_is_word);
    assert_int_equal(frame.base, UNWIND_REG_BP);
    assert_int_equal(frame.word_offset, 0);
    assert_int_equal(frame.cfa_offset, 16);
    assert_int_equal(frame.saved, 1 << UNWIND_REG_BP);
    assert_int_equal(frame.slots[0], -2);
    assert_int_equal(FIND(called, 0, &frame), ARCH_RETURN_UNKNOWN);
    assert_int_equal(FIND(stored, 0, &frame), ARCH_RETURNS);
    assert_false(frame.base_is_word);
    assert_int_equal(frame.base, 0);
}

static void test_a_return_address_may_be_in_a_register(void **unused)
{
    (void)unused;
    static const char code[] = "\x5a\x0f\x05\x52\xc3"; /* pop %rdx; syscall; push %rdx; ret */
    struct arch_frame frame;
    assert_int_equal(FIND(code, 0, &frame),
                     ARCH_RETURN_UNKNOWN); /* the system call may change it, for all that is known */
    assert_int_equal(FIND(code, 3, &frame), ARCH_RETURNS);
    assert_int_equal(frame.return_register, 1);
    assert_int_equal(frame.cfa_offset, 0);
}

/* mov %rdi,%rsp; ret and mov (%rsi),%rsp; pop %rbp; ret: what they return to is another coroutine. */
static void test_a_switch_to_another_stack_says_nothing(void **unused)
{
    (void)unused;
    static const char by_register[] = "\x48\x89\xfc\xc3", by_word[] = "\x48\x8b\x26\x5d\xc3";
    struct arch_frame frame;
    assert_int_equal(FIND(by_register, 0, &frame), ARCH_RETURN_UNKNOWN);
    assert_int_equal(FIND(by_word, 0, &frame), ARCH_RETURN_UNKNOWN);
}

static void test_what_padding_follows_may_return(void **unused)
{
    (void)unused;
    static const char code[] = "\xe8\0\0\0\0\x66\x90\x5b\xc3"; /* call; padding; pop %rbx; ret */
    struct arch_frame frame;
    assert_int_equal(FIND(code, 0, &frame), ARCH_MAY_RETURN);
    assert_int_equal(frame.cfa_offset, 16);
}

/* As in the dispatch of a compiler: of many branches the last leads to the return, and the others to loops. */
static void test_a_return_behind_many_branches_is_found(void **unused)
{
    (void)unused;
    enum { BRANCHES = 50, BRANCH_SIZE = 6, LOOP_SIZE = 2 };
    char code[BRANCHES * (BRANCH_SIZE + LOOP_SIZE) + LOOP_SIZE];
    for (int i = 0; i < BRANCHES; i++) {
        int32_t target = BRANCHES * BRANCH_SIZE + (i + 1) * LOOP_SIZE, distance = target - (i + 1) * BRANCH_SIZE;
        memcpy(code + i * BRANCH_SIZE, "\x0f\x84", 2); /* je */
        memcpy(code + i * BRANCH_SIZE + 2, &distance, sizeof(distance));
    }
    for (size_t at = (size_t)BRANCHES * BRANCH_SIZE; at < sizeof(code); at += LOOP_SIZE)
        memcpy(code + at, "\xeb\xfe", LOOP_SIZE);
    memcpy(code + sizeof(code) - LOOP_SIZE, "\x5b\xc3", LOOP_SIZE); /* pop %rbx; ret */
    struct arch_frame frame;
    assert_int_equal(find(code, sizeof(code), 0, &frame), ARCH_RETURNS);
    assert_int_equal(frame.cfa_offset, 16);
}

static void test_any_bytes_are_survived(void **unused)
{
    (void)unused;
    unsigned char bytes[512];
    struct arch_frame frame;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (unsigned char)rand();
        struct code code = {.start = UINT64_MAX - 100, .bytes = bytes, .size = (size_t)rand() % sizeof(bytes)};
        arch_find_return(read_code, &code, code.start, &frame);
    }
}

/* ---- the C library ---- */

struct score {
    size_t right, wrong, unknown, reported;
};

static void compare_at(struct code *code, const struct cfi_fde *fde, uint64_t pc, struct score *score)
{
    struct cfi_row row;
    struct unwind_work work = {0};
    struct arch_frame frame;
    if (!cfi_find_row(fde, pc, &row, &work) || row.cfa_kind != CFI_CFA_REGISTER ||
        row.rules[UNWIND_REG_PC] != CFI_OFFSET || row.is_signal_frame)
        return;
    if (row.cfa_register != UNWIND_REG_SP && row.cfa_register != UNWIND_REG_BP)
        return;
    if (arch_find_return(read_code, code, pc, &frame) != ARCH_RETURNS) {
        score->unknown++;
        return;
    }
    bool by_bp = row.cfa_register == UNWIND_REG_BP;
    if (frame.base_is_word || by_bp != (frame.base == UNWIND_REG_BP))
        score->unknown++; /* both may be right */
    else if (row.cfa_value == frame.cfa_offset)
        score->right++;
    else if (score->wrong++, score->reported++ < 20)
        print_message("%#lx: %d by its code, %ld by CFI\n", pc, frame.cfa_offset, row.cfa_value);
}

static void test_it_agrees_with_the_cfi_of_the_c_library(void **unused)
{
    (void)unused;
    struct c_library library;
    struct score score = {0};
    csh disassembler;
    assert_true(c_library_find(&library));
    struct code code = {.start = (uint64_t)(uintptr_t)library.start - library.load_address,
                        .bytes = library.start,
                        .size = (size_t)(library.end - library.start)};
    int fd = open(library.path, O_RDONLY);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open(&module, fd, library.path, NULL), 0);
    close(fd);
    assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler), CS_ERR_OK);
    cs_insn *instruction = cs_malloc(disassembler);
    for (uint64_t pc = code.start, step = 0; pc < code.start + code.size; pc += step) {
        struct cfi_fde fde;
        step = 16;
        if (!unwind_module_find_fde(module, pc, &fde))
            continue;
        const uint8_t *at = code.bytes + (fde.start - code.start);
        size_t size = fde.size;
        uint64_t address = fde.start;
        for (unsigned i = 0; address < fde.start + fde.size; i++) {
            if (i % 8 == 0)
                compare_at(&code, &fde, address, &score);
            if (!cs_disasm_iter(disassembler, &at, &size, &address, instruction))
                break;
        }
        step = fde.start + fde.size - pc;
    }
    cs_free(instruction, 1);
    cs_close(&disassembler);
    unwind_module_unref(module);
    print_message("%zu as CFI, %zu otherwise, %zu not known\n", score.right, score.wrong, score.unknown);
    assert_true(score.right > 10000);
    assert_true(score.wrong * 100 < score.right);
}

static unsigned number_of(x86_reg reg)
{
    static const struct {
        x86_reg parts[5];
        unsigned number;
    } registers[] = {
        {{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL}, 3},
        {{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}, 5},
        {{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}, 12},
        {{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}, 13},
        {{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}, 14},
        {{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}, 15},
        {{X86_REG_RAX, X86_REG_EAX}, 0},
        {{X86_REG_R10, X86_REG_R10D}, 10},
        {{X86_REG_R11, X86_REG_R11D}, 11},
    };
    for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
        for (size_t part = 0; part < 5; part++)
            if (registers[i].parts[part] == reg && reg != X86_REG_INVALID)
                return registers[i].number;
    return 16;
}

/* What sp may be kept in is not taken to be unchanged where the disassembler sees it written. */
static void test_no_written_register_is_missed_in_the_c_library(void **unused)
{
    (void)unused;
    struct c_library library;
    csh disassembler;
    size_t compared = 0, missed = 0;
    assert_true(c_library_find(&library));
    assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler), CS_ERR_OK);
    cs_option(disassembler, CS_OPT_DETAIL, CS_OPT_ON);
    cs_option(disassembler, CS_OPT_SKIPDATA, CS_OPT_ON);
    cs_insn *instruction = cs_malloc(disassembler);
    const uint8_t *at = library.start;
    size_t size = (size_t)(library.end - library.start);
    uint64_t address = 0;
    while (size > INSTRUCTION_SLACK && cs_disasm_iter(disassembler, &at, &size, &address, instruction)) {
        struct instruction in;
        cs_regs read, written;
        uint8_t reads, writes;
        bool belongs_to_user = instruction->id && instruction_decode(at - instruction->size, instruction->size, &in) &&
                               in.length == instruction->size;
        bool is_stack = belongs_to_user && (cs_insn_group(disassembler, instruction, CS_GRP_CALL) ||
                                            instruction->id == X86_INS_POP || instruction->id == X86_INS_LEAVE);
        /* which the disassembler takes to write rax */
        bool is_mistaken =
            instruction->id == X86_INS_TEST || instruction->id == X86_INS_CDQ || instruction->id == X86_INS_CQO;
        if (!belongs_to_user || is_stack || is_mistaken ||
            cs_regs_access(disassembler, instruction, read, &reads, written, &writes))
            continue;
        compared++;
        for (uint8_t i = 0; i < writes; i++) {
            unsigned number = number_of(written[i]);
            if (number < 16 && !(instruction_get_written_registers(&in) >> number & 1) && missed++ < 20)
                print_message("%s %s\n", instruction->mnemonic, instruction->op_str);
        }
    }
    cs_free(instruction, 1);
    cs_close(&disassembler);
    print_message("%zu instructions, %zu registers missed\n", compared, missed);
    assert_true(compared > 100000);
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pushes_and_pops_add_up),
        cmocka_unit_test(test_leave_counts_from_the_frame_pointer),
        cmocka_unit_test(test_a_loop_does_not_return),
        cmocka_unit_test(test_a_return_with_an_sp_that_is_lost_says_nothing),
        cmocka_unit_test(test_sp_may_be_kept_in_another_register),
        cmocka_unit_test(test_sp_may_be_kept_on_the_stack),
        cmocka_unit_test(test_a_return_address_may_be_in_a_register),
        cmocka_unit_test(test_a_switch_to_another_stack_says_nothing),
        cmocka_unit_test(test_what_padding_follows_may_return),
        cmocka_unit_test(test_a_return_behind_many_branches_is_found),
        cmocka_unit_test(test_any_bytes_are_survived),
        cmocka_unit_test(test_it_agrees_with_the_cfi_of_the_c_library),
        cmocka_unit_test(test_no_written_register_is_missed_in_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

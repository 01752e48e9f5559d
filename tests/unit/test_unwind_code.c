/* Stacks through code compiled at run time: no file has it, only the memory of the process. */
#include "unwind/address_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { CODE = 0x10000, CODE_SIZE = 0x1000, STACK = 0x700000, WORDS = 16 };

/* A process: code at CODE, a stack of words at STACK that ends in a frame pointer of 0. */
struct process {
    struct address_space space;
    unsigned char code[CODE_SIZE];
    uint64_t words[WORDS];
    struct unwind_regs regs;
    size_t reads; /* of code */
};

static bool read_code(void *context, uint64_t address, void *out, size_t size)
{
    struct process *process = context;
    process->reads++;
    if (address < CODE || address - CODE > CODE_SIZE - size)
        return false;
    memcpy(out, process->code + (address - CODE), size);
    return true;
}

static void start(struct process *process, uint64_t pc)
{
    *process = (struct process){.reads = 0};
    struct mapping mapping = {.start = CODE, .end = CODE + CODE_SIZE, .lib = MAPPING_NO_LIB};
    assert_true(address_space_map(&process->space, &mapping));
    memset(process->code, 0x90, CODE_SIZE);
    process->regs.r[UNWIND_REG_PC] = pc;
    process->regs.r[UNWIND_REG_SP] = STACK;
}

static void put_code(struct process *process, uint64_t address, const char *bytes, size_t size)
{
    memcpy(process->code + (address - CODE), bytes, size);
}

/* Puts a call before each return address that is on the stack, unless there is code already. */
static void put_calls(struct process *process)
{
    enum { CALL_SIZE = 5 };
    static const char nops[CALL_SIZE] = "\x90\x90\x90\x90\x90";
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t end = process->words[i] - CODE;
        if (end >= CALL_SIZE && end < CODE_SIZE && !memcmp(process->code + end - CALL_SIZE, nops, CALL_SIZE))
            put_code(process, process->words[i] - CALL_SIZE, "\xe8\0\0\0", CALL_SIZE);
    }
}

static struct unwind_result walk(struct process *process, uint64_t *pcs, bool with_code)
{
    put_calls(process);
    struct unwind_stack stack = {.sp = process->regs.r[UNWIND_REG_SP],
                                 .bytes = (const unsigned char *)process->words,
                                 .size = sizeof(process->words),
                                 .read_code = with_code ? read_code : NULL,
                                 .context = process};
    return unwind_walk(&process->space, &process->regs, &stack, pcs, WORDS);
}

static void assert_frames(struct process *process, size_t count, const uint64_t *wanted)
{
    uint64_t pcs[WORDS];
    struct unwind_result result = walk(process, pcs, true);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(result.frames, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pcs[i], wanted[i]);
}

/* The word of the stack at this index is the frame {caller's frame pointer, return address}. */
static void put_frame(struct process *process, size_t index, uint64_t caller_bp, uint64_t return_address)
{
    process->words[index] = caller_bp;
    process->words[index + 1] = return_address;
}

static void test_the_first_instruction_has_its_return_address_on_top(void **unused)
{
    (void)unused;
    struct process process;
    start(&process, CODE + 0x100);
    put_code(&process, CODE + 0x100, "\x55\x48\x89\xe5", 4); /* push %rbp; mov %rsp,%rbp */
    process.words[0] = CODE + 0x205;
    process.regs.r[UNWIND_REG_BP] = STACK + 4 * 8; /* the caller's, whose caller is the first frame */
    put_frame(&process, 4, 0, CODE + 0x305);
    assert_frames(&process, 3, (uint64_t[]){CODE + 0x100, CODE + 0x204, CODE + 0x304});

    process.regs.r[UNWIND_REG_PC] = CODE + 0x101; /* the second: the caller's frame pointer is pushed */
    process.words[0] = STACK + 4 * 8;
    process.words[1] = CODE + 0x205;
    assert_frames(&process, 3, (uint64_t[]){CODE + 0x101, CODE + 0x204, CODE + 0x304});
    address_space_destroy(&process.space);
}

/* A jitdump file describes the frames of such code, but its bytes are in the process alone. */
static void test_a_caller_that_a_jitdump_file_describes_is_found_by_frame_pointer(void **unused)
{
    (void)unused;
    /* A CIE (CFA = rsp + 8), and an FDE of 0x20 bytes of the code: what is called in the rest has no frames. */
    static const uint32_t frames[] = {20, 0, 0x78010001, 0x08070c10, 0x190, 0, 24, 28, CODE + 0x800, 0, 0x20, 0, 0, 0};
    struct process process;
    struct error err = {""};
    start(&process, CODE + 0x110);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open_jit_code(&module, frames, sizeof(frames), CODE + 0x800, 0x100, &err), 0);
    struct mapping described = {.start = CODE + 0x800, .end = CODE + 0x900, .lib = MAPPING_NO_LIB, .module = module};
    assert_true(address_space_map(&process.space, &described));
    process.regs.r[UNWIND_REG_BP] = STACK + 2 * 8;
    put_frame(&process, 2, STACK + 6 * 8, CODE + 0x845);
    put_frame(&process, 6, STACK + 10 * 8, CODE + 0x305);
    put_frame(&process, 10, 0, 0);
    assert_frames(&process, 3, (uint64_t[]){CODE + 0x110, CODE + 0x844, CODE + 0x304});
    address_space_destroy(&process.space);
    unwind_module_unref(module);
}

static void test_the_last_instruction_has_its_return_address_on_top(void **unused)
{
    (void)unused;
    static const char *const returns[] = {"\xc3\x90\x90", "\xc2\x10\x00"};
    for (size_t i = 0; i < 2; i++) {
        struct process process;
        start(&process, CODE + 0x100);
        put_code(&process, CODE + 0x100, returns[i], 3);
        process.words[0] = CODE + 0x205;
        process.regs.r[UNWIND_REG_BP] = STACK + 4 * 8;
        put_frame(&process, 4, 0, CODE + 0x305);
        assert_frames(&process, 3, (uint64_t[]){CODE + 0x100, CODE + 0x204, CODE + 0x304});
        address_space_destroy(&process.space);
    }
}

static void test_elsewhere_the_frame_pointer_leads(void **unused)
{
    (void)unused;
    struct process process;
    uint64_t pcs[WORDS];
    start(&process, CODE + 0x100);
    process.regs.r[UNWIND_REG_BP] = STACK + 2 * 8;
    put_frame(&process, 2, 0, CODE + 0x205);
    assert_frames(&process, 2, (uint64_t[]){CODE + 0x100, CODE + 0x204});
    assert_true(walk(&process, pcs, true).used_no_cfi);
    address_space_destroy(&process.space);
}

/* With and without the mark of branch tracking: sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static void test_a_leaf_in_a_trampoline_is_known_at_each_of_its_instructions(void **unused)
{
    (void)unused;
    static const char trampoline[] = "\xf3\x0f\x1e\xfa\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3";
    static const struct {
        unsigned at;
        size_t own_words;
    } places[] = {{0, 0}, {4, 0}, {8, 1}, {10, 1}, {14, 0}};
    for (size_t marked = 0; marked < 2; marked++)
        for (size_t i = marked ? 0 : 1; i < sizeof(places) / sizeof(places[0]); i++) {
            const char *code = marked ? trampoline : trampoline + 4;
            uint64_t pc = CODE + 0x100 + places[i].at - (marked ? 0 : 4);
            struct process process;
            start(&process, pc);
            put_code(&process, CODE + 0x100, code, strlen(code));
            process.words[places[i].own_words] = CODE + 0x205;
            process.regs.r[UNWIND_REG_BP] = STACK + 4 * 8;
            put_frame(&process, 4, 0, CODE + 0x305);
            assert_frames(&process, 3, (uint64_t[]){pc, CODE + 0x204, CODE + 0x304});
            address_space_destroy(&process.space);
        }
}

/* Python's trampolines keep no frame pointer: what is in the register belongs to a caller further out. */
static void test_a_caller_that_only_calls_on_is_known_by_its_code(void **unused)
{
    (void)unused;
    static const char trampoline[] = "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3";
    struct process process;
    uint64_t pcs[WORDS];
    start(&process, CODE + 0x100);
    put_code(&process, CODE + 0x400, trampoline, sizeof(trampoline) - 1);
    process.regs.r[UNWIND_REG_BP] = STACK;
    put_frame(&process, 0, STACK + 8 * 8, CODE + 0x406); /* called by the trampoline, which has one word of its own */
    process.words[3] = CODE + 0x505;
    put_frame(&process, 8, 0, CODE + 0x605);
    assert_frames(&process, 4, (uint64_t[]){CODE + 0x100, CODE + 0x405, CODE + 0x504, CODE + 0x604});
    address_space_clear(&process.space);
    struct mapping mapping = {.start = CODE, .end = CODE + CODE_SIZE, .lib = MAPPING_NO_LIB};
    assert_true(address_space_map(&process.space, &mapping));
    assert_int_equal(walk(&process, pcs, false).frames, 3); /* without its code its caller is passed over */
    address_space_destroy(&process.space);
}

static void test_code_is_read_once_but_at_the_edge_of_a_function(void **unused)
{
    (void)unused;
    struct process process;
    start(&process, CODE + 0x100);
    put_code(&process, CODE + 0x100, "\xc3", 1);
    process.words[0] = CODE + 0x205;
    process.regs.r[UNWIND_REG_BP] = STACK + 4 * 8;
    put_frame(&process, 4, 0, CODE + 0x305);
    assert_frames(&process, 3, (uint64_t[]){CODE + 0x100, CODE + 0x204, CODE + 0x304});
    size_t reads = process.reads;
    put_code(&process, CODE + 0x100, "\x90", 1); /* other code has taken its place, and has a frame */
    process.regs.r[UNWIND_REG_BP] = STACK + 2 * 8;
    put_frame(&process, 2, 0, CODE + 0x305);
    put_frame(&process, 4, 0, 0);
    assert_frames(&process, 2, (uint64_t[]){CODE + 0x100, CODE + 0x304});
    assert_true(process.reads > reads);
    reads = process.reads;
    assert_frames(&process, 2, (uint64_t[]){CODE + 0x100, CODE + 0x304});
    assert_int_equal(process.reads, reads);
    address_space_destroy(&process.space);
}

static void test_code_that_cannot_be_read_is_followed_by_frame_pointer(void **unused)
{
    (void)unused;
    struct process process;
    start(&process, CODE + 0x100);
    struct mapping elsewhere = {.start = 0x50000, .end = 0x51000, .lib = MAPPING_NO_LIB};
    assert_true(address_space_map(&process.space, &elsewhere));
    process.regs.r[UNWIND_REG_PC] = 0x50000;
    process.regs.r[UNWIND_REG_BP] = STACK + 2 * 8;
    put_frame(&process, 2, 0, CODE + 0x205);
    assert_frames(&process, 2, (uint64_t[]){0x50000, CODE + 0x204});
    address_space_destroy(&process.space);
}

/* ---- HotSpot ---- */

/* mov %eax,-0x14000(%rsp); push %rbp; sub $0x20,%rsp: a frame of 48 bytes with the return address */
static const char java_caller[] = "\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x20";
/* sub $0x18,%rsp; mov %rbp,0x10(%rsp): a frame of 32 bytes */
static const char java_leaf[] = "\x48\x81\xec\x18\x00\x00\x00\x48\x89\x6c\x24\x10";
/* push %rbp; mov %rsp,%rbp */
static const char java_stub[] = "\x55\x48\x8b\xec";
/* add $0x20,%rsp; pop %rbp; cmp 0x340(%r15),%rsp; ja; ret */
static const char java_end[] = "\x48\x83\xc4\x20\x5d\x49\x3b\xa7\x40\x03\x00\x00\x0f\x87\x01\x00\x00\x00\xc3";
/* where the interpreter goes on: mov -0x10(%rbp),%rsp; movq $0,-0x10(%rbp) */
static const char interpreter[] = "\x48\x8b\x65\xf0\x48\xc7\x45\xf0\x00\x00\x00\x00";

#define PUT(process, address, code) put_code((process), (address), (code), sizeof(code) - 1)

enum { CALLER = CODE + 0x200, LEAF = CODE + 0x400, STUB = CODE + 0x600, INTERPRETER = CODE + 0x800 };

/* A leaf, called by a function without a frame pointer, called by a stub that has one and no caller. The frame pointer
 * is of no use in the two. */
static void start_java(struct process *process, uint64_t pc)
{
    start(process, pc);
    process->space.is_java = true;
    PUT(process, CALLER, java_caller);
    put_code(process, CALLER + 0x40, "\xe8\x00\x00\x00\x00", 5); /* calls the leaf */
    PUT(process, CALLER + 0x60, java_end);
    PUT(process, LEAF, java_leaf);
    PUT(process, STUB, java_stub);
    put_code(process, STUB + 0x10, "\xff\xd6", 2); /* calls the function: *%rsi */
    PUT(process, INTERPRETER, interpreter);
    process->regs.r[UNWIND_REG_BP] = 12345;
}

/* The function's frame begins at this word: locals, the stub's frame pointer, the return address into the stub. */
static void put_java_frame(struct process *process, size_t index)
{
    process->words[index + 4] = STACK + 14 * 8;
    process->words[index + 5] = STUB + 0x12;
    put_frame(process, 14, 0, 0);
}

static void test_java_frames_are_as_large_as_their_functions_begin(void **unused)
{
    (void)unused;
    struct process process;
    start_java(&process, LEAF + 0x20);
    process.words[2] = 12345; /* the leaf's frame: two locals, the caller's rbp, the return address */
    process.words[3] = CALLER + 0x45;
    put_java_frame(&process, 4);
    assert_frames(&process, 3, (uint64_t[]){LEAF + 0x20, CALLER + 0x44, STUB + 0x11});
    address_space_clear(&process.space); /* what it was thought to be is forgotten */
    struct mapping mapping = {.start = CODE, .end = CODE + CODE_SIZE, .lib = MAPPING_NO_LIB};
    assert_true(address_space_map(&process.space, &mapping));
    uint64_t pcs[WORDS];
    assert_int_equal(walk(&process, pcs, true).end, UNWIND_JIT_CODE);
    address_space_destroy(&process.space);
}

static void test_java_frames_are_not_there_at_the_edges(void **unused)
{
    (void)unused;
    struct process process;
    static const struct {
        uint64_t pc;
        size_t words; /* of its own frame that are there, without the return address */
    } places[] = {{LEAF, 0}, {LEAF - 6, 0}, {LEAF + 7, 3}};
    for (size_t i = 0; i < 3; i++) {
        start_java(&process, places[i].pc);
        process.words[places[i].words] = CALLER + 0x45;
        put_java_frame(&process, places[i].words + 1);
        assert_frames(&process, 3, (uint64_t[]){places[i].pc, CALLER + 0x44, STUB + 0x11});
        address_space_destroy(&process.space);
    }
    static const struct {
        uint64_t pc;
        size_t words;
        bool has_bp;
    } of_caller[] = {{CALLER, 0, false},        {CALLER + 7, 0, false},        {CALLER + 8, 1, true},
                     {CALLER + 0x60, 5, true},  {CALLER + 0x64, 1, true},      {CALLER + 0x65, 0, false},
                     {CALLER + 0x6c, 0, false}, {CALLER + 0x60 + 18, 0, false}};
    for (size_t i = 0; i < sizeof(of_caller) / sizeof(of_caller[0]); i++) {
        start_java(&process, of_caller[i].pc);
        if (of_caller[i].has_bp)
            process.words[of_caller[i].words - 1] = STACK + 14 * 8;
        else
            process.regs.r[UNWIND_REG_BP] = STACK + 14 * 8;
        process.words[of_caller[i].words] = STUB + 0x12;
        put_frame(&process, 14, 0, 0);
        assert_frames(&process, 2, (uint64_t[]){of_caller[i].pc, STUB + 0x11});
        address_space_destroy(&process.space);
    }
}

static void test_java_leaf_may_have_pushed_a_register(void **unused)
{
    (void)unused;
    struct process process;
    start_java(&process, LEAF + 0x20);
    process.words[4] = CALLER + 0x45;
    put_java_frame(&process, 5);
    assert_frames(&process, 3, (uint64_t[]){LEAF + 0x20, CALLER + 0x44, STUB + 0x11});
    address_space_destroy(&process.space);
}

/* The interpreter's frame has room for arguments above it, and says where its caller's stack began. */
static void test_java_interpreter_knows_its_caller_s_stack(void **unused)
{
    (void)unused;
    struct process process;
    start_java(&process, INTERPRETER + 0x40);
    process.regs.r[UNWIND_REG_BP] = STACK + 8;
    process.words[0] = STACK + 6 * 8;
    put_frame(&process, 1, 12345, CALLER + 0x45);
    put_java_frame(&process, 6);
    assert_frames(&process, 3, (uint64_t[]){INTERPRETER + 0x40, CALLER + 0x44, STUB + 0x11});
    address_space_destroy(&process.space);
}

static void test_java_returns_to_the_interpreter_without_a_call(void **unused)
{
    (void)unused;
    struct process process;
    start_java(&process, LEAF + 0x20);
    process.words[2] = STACK + 8 * 8;
    process.words[3] = INTERPRETER;
    put_frame(&process, 8, 0, STUB + 0x12);
    assert_frames(&process, 3, (uint64_t[]){LEAF + 0x20, INTERPRETER - 1, STUB + 0x11});
    address_space_destroy(&process.space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_instruction_has_its_return_address_on_top),
        cmocka_unit_test(test_a_caller_that_a_jitdump_file_describes_is_found_by_frame_pointer),
        cmocka_unit_test(test_the_last_instruction_has_its_return_address_on_top),
        cmocka_unit_test(test_elsewhere_the_frame_pointer_leads),
        cmocka_unit_test(test_a_leaf_in_a_trampoline_is_known_at_each_of_its_instructions),
        cmocka_unit_test(test_a_caller_that_only_calls_on_is_known_by_its_code),
        cmocka_unit_test(test_code_is_read_once_but_at_the_edge_of_a_function),
        cmocka_unit_test(test_code_that_cannot_be_read_is_followed_by_frame_pointer),
        cmocka_unit_test(test_java_frames_are_as_large_as_their_functions_begin),
        cmocka_unit_test(test_java_frames_are_not_there_at_the_edges),
        cmocka_unit_test(test_java_leaf_may_have_pushed_a_register),
        cmocka_unit_test(test_java_interpreter_knows_its_caller_s_stack),
        cmocka_unit_test(test_java_returns_to_the_interpreter_without_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

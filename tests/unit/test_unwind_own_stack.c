/*
 * The walker on the stack of this program, on each processor: from a function that has not saved its return address,
 * through frames with and without a frame pointer, and through a signal handler.
 */
#include "base/standard.h"
#include "process/proc_maps.h"
#include "unwind/address_space.h"
#include "unwind/unwind.h"

#include <alloca.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

enum { FRAMES_MAX = 256 };

static struct address_space space;
static sigjmp_buf after_fault;
static uint64_t expected[FRAMES_MAX], walked[FRAMES_MAX];
static size_t expected_count;
static struct unwind_result result;
static volatile bool walks_from_handler;
static volatile uint64_t tag; /* added to the registers of the leaf */

static int pipe_ends[2];

/* The kernel checks the address, so a wrong address does not end the test. */
static bool read_own_memory(void *context, uint64_t address, void *out, size_t size)
{
    (void)context;
    return write(pipe_ends[1], (const void *)(uintptr_t)address, size) == (ssize_t)size &&
           read(pipe_ends[0], out, size) == (ssize_t)size;
}

static int map_own_module(void *context, const struct perf_mapping *found)
{
    struct mapping mapping = {.start = found->start, .end = found->start + found->length, .lib = MAPPING_NO_LIB};
    (void)context;
    if (!found->executable)
        return 0;
    int fd = found->path[0] == '/' ? open(found->path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        assert_int_equal(unwind_module_open(&mapping.module, fd, found->path, NULL), 0);
        mapping.rva =
            unwind_module_find_vaddr(mapping.module, found->file_offset) - unwind_module_get_base(mapping.module);
        close(fd);
    }
    assert_true(address_space_map(&space, &mapping));
    unwind_module_unref(mapping.module);
    return 0;
}

static void read_registers(const ucontext_t *context, struct unwind_regs *regs)
{
    *regs = (struct unwind_regs){0};
#ifdef __x86_64__
    static const int numbers[UNWIND_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (size_t i = 0; i < UNWIND_REGS; i++)
        regs->r[i] = (uint64_t)context->uc_mcontext.gregs[numbers[i]];
#else
    memcpy(regs->r, context->uc_mcontext.regs, sizeof(context->uc_mcontext.regs));
    regs->r[UNWIND_REG_SP] = context->uc_mcontext.sp;
    regs->r[UNWIND_REG_PC] = context->uc_mcontext.pc;
#endif
}

/* As if `late` had run up to its return. */
static bool moves_to_return;
static void move_to_return(struct unwind_regs *regs)
{
#ifdef __aarch64__
    extern const char late_return[];
    if (moves_to_return) {
        regs->r[UNWIND_REG_PC] = (uintptr_t)late_return;
        regs->r[UNWIND_REG_SP] += 64;
    }
#endif
    (void)moves_to_return, (void)regs;
}

static void walk_from(const ucontext_t *context)
{
    struct unwind_regs regs;
    read_registers(context, &regs);
    move_to_return(&regs);
    regs.r[UNWIND_REG_SP] |= tag;
    regs.r[UNWIND_REG_BP] |= tag;
    regs.r[UNWIND_REG_RETURN] |= tag;
    struct unwind_stack stack = {.sp = regs.r[UNWIND_REG_SP],
                                 .read_above = read_own_memory,
                                 .read_off_copied_stack = read_own_memory,
                                 .read_code = read_own_memory};
    result = unwind_walk(&space, &regs, &stack, walked, FRAMES_MAX);
}

static void handle_fault(int signal, siginfo_t *info, void *interrupted)
{
    ucontext_t here;
    (void)signal, (void)info;
    if (walks_from_handler && getcontext(&here) == 0)
        walk_from(&here);
    else
        walk_from(interrupted);
    siglongjmp(after_fault, 1);
}

/* Sets the handler. On arm64, the trampoline has the instructions of the vDSO, because qemu's is outside of all files.
 */
#ifdef __aarch64__
__asm__(".arch_extension pauth\n.text\n.global trampoline\nnop\ntrampoline: mov x8, #139\nsvc #0\n");
extern const char trampoline[];

static void handle_faults(void)
{
    enum { SA_WITH_TRAMPOLINE = 0x04000000 };
    const struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        const char *trampoline;
        unsigned long mask;
    } action = {handle_fault, SA_SIGINFO | SA_WITH_TRAMPOLINE, trampoline, 0};
    assert_int_equal(syscall(SYS_rt_sigaction, SIGSEGV, &action, NULL, sizeof(action.mask)), 0);
}
#else
static void handle_faults(void)
{
    const struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
}
#endif

/* ---- functions of the walked stack, each of which notes its return address ---- */

#define NOINLINE __attribute__((noinline, noclone, no_sanitize("address", "undefined")))
#ifdef __aarch64__
#define SIGNED __attribute__((target("branch-protection=pac-ret+leaf")))
#else
#define SIGNED
#endif

static void expect_caller(void *return_address)
{
    expected[expected_count++] = arch_strip_signature((uint64_t)(uintptr_t)return_address) - 1;
}

static int *volatile nowhere;

static NOINLINE int fault(int *at)
{
    return *at;
}

static NOINLINE int fault_in_signed(int *at);
static SIGNED int fault_in_signed(int *at)
{
    return *at;
}

static NOINLINE SIGNED int call_with_array(size_t size, bool is_signed)
{
    volatile char *bytes = alloca(size);
    expect_caller(__builtin_return_address(0));
    bytes[0] = bytes[size - 1] = 1;
    return (is_signed ? fault_in_signed : fault)(nowhere) + bytes[0];
}

static NOINLINE int call_without_frame_pointer(int depth, bool is_signed);
static __attribute__((optimize("omit-frame-pointer"))) int call_without_frame_pointer(int depth, bool is_signed)
{
    expect_caller(__builtin_return_address(0));
    return (depth ? call_without_frame_pointer(depth - 1, is_signed) : call_with_array(100, is_signed)) + depth;
}

static int compare(const void *a, const void *b)
{
    expect_caller(__builtin_return_address(0));
    return call_without_frame_pointer(5, *(const int *)a == *(const int *)b);
}

/* Faults below a callback of the C library, and walks the stack. */
static void walk(bool is_signed, bool from_handler)
{
    int numbers[2] = {1, is_signed ? 1 : 2};
    handle_faults();
    walks_from_handler = from_handler;
    expected_count = 0;
    if (sigsetjmp(after_fault, 1) == 0)
        qsort(numbers, 2, sizeof(*numbers), compare);
}

static void assert_stack(const uint64_t *pcs, size_t count)
{
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_true(count > expected_count);
    for (size_t i = 0; i < expected_count; i++)
        assert_int_equal(pcs[i], expected[expected_count - 1 - i]);
}

static void test_interrupted_function_has_a_complete_stack(void **state)
{
    (void)state;
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        walk(is_signed, false);
        assert_in_range(walked[0], (uintptr_t)(is_signed ? fault_in_signed : fault),
                        (uintptr_t)(is_signed ? fault_in_signed : fault) + 64);
        assert_in_range(walked[1], (uintptr_t)call_with_array, (uintptr_t)call_with_array + 1024);
        assert_stack(walked + 2, result.frames - 2);
    }
}

static void test_handler_has_the_stack_of_the_interrupted_function(void **state)
{
    (void)state;
    size_t fault_at = 0;
    walk(true, true);
    while (fault_at < result.frames && walked[fault_at] - (uintptr_t)fault_in_signed >= 64)
        fault_at++;
    assert_true(fault_at >= 2 && fault_at + 2 < result.frames);
    assert_stack(walked + fault_at + 2, result.frames - fault_at - 2);
}

/* ---- code without CFI ---- */

#ifdef __aarch64__
/* clang-format off */
__asm__(".text\n"
        ".global bare_leaf, after_bare_leaf, after_bare_push, after_bare_frame, bare_array\n"
        "bare_leaf: cbz x1, 1f\n"
        "ldr w0, [x0]\n"
        "1: ret\n"
        "bare_push: str x30, [sp, #-16]!\n"
        "bl bare_leaf\n"
        "after_bare_leaf: ldr x30, [sp], #16\n"
        "ret\n"
        "bare_frame: paciasp\n"
        "sub sp, sp, #48\n"
        "stp x29, x30, [sp, #32]\n"
        "mov x29, xzr\n"
        "bl bare_push\n"
        "after_bare_push: cbz w0, 2f\n"
        "b 3f\n"
        "2: bl abort\n"
        "bare_array: stp x29, x30, [sp, #-32]!\n"
        "mov x29, sp\n"
        "orr x29, x29, #0xf00000000000000\n" /* a tag */
        "sub sp, sp, x2\n"
        "bl bare_frame\n"
        "after_bare_frame: mov sp, x29\n"
        "ldp x29, x30, [sp], #32\n"
        "ret\n"
        "3: ldp x29, x30, [sp, #32]\n"
        "add sp, sp, #48\n"
        "retaa\n");
/* clang-format on */
extern const char bare_leaf[], after_bare_leaf[], after_bare_push[], after_bare_frame[];
int bare_array(const int *at, bool reads, uint64_t size);

/* read_own_memory() fails at an address with a tag. */
static void test_tags_of_addresses_do_not_count(void **state)
{
    (void)state;
    tag = UINT64_C(0x2a) << 56;
    walk(true, false);
    tag = 0;
    assert_stack(walked + 2, result.frames - 2);
}

/* ---- code whose CFI does not describe each instruction, as LLVM makes it ---- */

/* clang-format off */
__asm__(".global late_caller, late, late_fault, late_return, after_late\n"
        "late_caller: .cfi_startproc\n"
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n"
        ".cfi_offset 30, -8\n"
        "bl late\n"
        "after_late: ldp x29, x30, [sp], #16\n"
        "ret\n"
        ".cfi_endproc\n"
        "late: .cfi_startproc\n"
        "str d8, [sp, #-32]!\n"
        "sub sp, sp, #32\n"
        "stp x29, x30, [sp, #8]\n"
        "late_fault: str x19, [x0]\n"
        ".cfi_def_cfa_offset 64\n"
        ".cfi_offset 29, -56\n"
        ".cfi_offset 30, -48\n"
        "ldp x29, x30, [sp, #8]\n"
        "add sp, sp, #64\n"
        "late_return: ret\n"
        ".cfi_endproc\n");
/* clang-format on */
extern const char late_fault[], late_return[], after_late[];
int late_caller(const int *at);

static void test_prologue_and_return_without_rows_of_their_own(void **state)
{
    (void)state;
    handle_faults();
    walks_from_handler = false;
    for (int i = 0; i < 2; i++) {
        moves_to_return = i == 1;
        if (sigsetjmp(after_fault, 1) == 0)
            late_caller(nowhere);
        assert_int_equal(result.end, UNWIND_COMPLETE);
        assert_int_equal(walked[0], (uintptr_t)(moves_to_return ? late_return : late_fault));
        assert_int_equal(walked[1], (uintptr_t)after_late - 1);
        assert_in_range(walked[2], (uintptr_t)test_prologue_and_return_without_rows_of_their_own,
                        (uintptr_t)test_prologue_and_return_without_rows_of_their_own + 512);
    }
    moves_to_return = false;
}

static void test_code_without_cfi_is_read_up_to_its_return(void **state)
{
    (void)state;
    handle_faults();
    walks_from_handler = false;
    if (sigsetjmp(after_fault, 1) == 0)
        bare_array(nowhere, true, 64);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(walked[0], (uintptr_t)bare_leaf + 4);
    assert_int_equal(walked[1], (uintptr_t)after_bare_leaf - 1);
    assert_int_equal(walked[2], (uintptr_t)after_bare_push - 1);
    assert_int_equal(walked[3], (uintptr_t)after_bare_frame - 1);
    assert_in_range(walked[4], (uintptr_t)test_code_without_cfi_is_read_up_to_its_return,
                    (uintptr_t)test_code_without_cfi_is_read_up_to_its_return + 512);
}
#endif

int main(void)
{
    assert_int_equal(proc_maps_read((uint32_t)getpid(), map_own_module, NULL), 0);
    if (pipe(pipe_ends))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted_function_has_a_complete_stack),
        cmocka_unit_test(test_handler_has_the_stack_of_the_interrupted_function),
#ifdef __aarch64__
        cmocka_unit_test(test_tags_of_addresses_do_not_count),
        cmocka_unit_test(test_code_without_cfi_is_read_up_to_its_return),
        cmocka_unit_test(test_prologue_and_return_without_rows_of_their_own),
#endif
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    address_space_destroy(&space);
    return failed;
}

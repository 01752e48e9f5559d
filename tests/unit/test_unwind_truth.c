/*
 * The walker against the truth, at every instruction.
 *
 * The test compiles tests/targets/stacks.c and stacks_exceptions.cpp with several compilers and flags, runs them one
 * instruction at a time with ptrace, and keeps the stack that the processor's own calls and returns make: a call pushes
 * the address of the next instruction, and an entry is gone once sp is above its slot. Between the two breakpoint
 * instructions of the target, after every single instruction (of prologues, epilogues, linkage stubs, the dynamic
 * linker, the C library, the exception unwinder), the walk from there must give exactly this stack and say that it is
 * complete. Every so often the test sends a signal, whose handler runs on the same or on another stack.
 */
#include "base/array.h"
#include "process/proc_maps.h"
#include "unwind/address_space.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FRAMES_MAX = 512, COPY_MAX = 2048, JUMP_MAX = 12 };

struct variant {
    const char *name;     /* of the test */
    const char *compiler; /* skipped if this is not there */
    const char *flags;
    const char *source;
    bool with_signals;
    bool from_exec_on; /* through the dynamic linker to main, and on to the exit */
};

struct entry {
    uint64_t slot;                   /* where the return address lies; for an interrupted pc, sp at the interruption */
    uint64_t value;                  /* return address, or interrupted pc */
    bool interrupted, is_trampoline; /* its value is the pc of the frame, not one more */
};

struct tracee {
    pid_t pid;
    struct user_regs_struct regs;
    ARRAY(struct entry) entries; /* outermost first */
    unsigned signal_depth;
    struct address_space space;
    bool space_is_old;
    uint64_t steps, compared, wrong, pardoned, cut;
    uint64_t suspects;             /* wrong stacks since the last right one, not judged yet */
    uint64_t foretold[FRAMES_MAX]; /* the callers of the last suspect */
    size_t foretold_length;
    unsigned char stack[128 * 1024];
};

static bool read_memory(pid_t pid, uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool read_above(void *context, uint64_t address, void *out, size_t size)
{
    return read_memory(((struct tracee *)context)->pid, address, out, size);
}

/* ---- what is mapped ---- */

static struct unwind_module *open_module(struct tracee *tracee, const char *path, uint64_t start, uint64_t end)
{
    struct unwind_module *module = NULL;
    if (strcmp(path, "[vdso]") == 0) {
        unsigned char *image = malloc(end - start);
        if (read_memory(tracee->pid, start, image, end - start))
            unwind_module_open_memory(&module, image, end - start, path, NULL);
        free(image);
        return module;
    }
    int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        unwind_module_open(&module, fd, path, NULL);
        close(fd);
    }
    return module;
}

static int map_module(void *context, const struct perf_mapping *found)
{
    struct tracee *tracee = context;
    struct mapping mapping = {.start = found->start, .end = found->start + found->length, .lib = MAPPING_NO_LIB};
    if (!found->executable)
        return 0;
    struct unwind_module *module = open_module(tracee, found->path, mapping.start, mapping.end);
    uint64_t vaddr = module ? unwind_module_find_vaddr(module, found->file_offset) : UINT64_MAX;
    if (vaddr != UINT64_MAX) {
        mapping.module = module;
        mapping.rva = vaddr - unwind_module_get_base(module);
    }
    assert_true(address_space_map(&tracee->space, &mapping));
    unwind_module_unref(module);
    return 0;
}

static void refresh_space(struct tracee *tracee)
{
    address_space_clear(&tracee->space);
    assert_int_equal(proc_maps_read((uint32_t)tracee->pid, map_module, tracee), 0);
    tracee->space_is_old = false;
}

/* ---- the truth ---- */

/* After one instruction: drops the entries that it returned from, and adds the one that it called. */
static void follow_instruction(struct tracee *tracee, const struct user_regs_struct *before)
{
    const struct user_regs_struct *now = &tracee->regs;
    while (tracee->entries.length > 0) {
        const struct entry *last = &tracee->entries.data[tracee->entries.length - 1];
        if (last->interrupted) {
            if (now->rip != last->value || now->rsp != last->slot) /* not sigreturn */
                break;
            tracee->signal_depth--;
        } else if (last->slot >= now->rsp) {
            break;
        }
        tracee->entries.length--;
    }
    uint64_t pushed;
    if (now->rsp == before->rsp - 8 && read_memory(tracee->pid, now->rsp, &pushed, 8) && pushed > before->rip &&
        pushed - before->rip <= 7 && now->rip != pushed)
        assert_true(array_push(&tracee->entries, (struct entry){.slot = now->rsp, .value = pushed}));
    if (now->rcx == now->rip && before->rip + 2 == now->rip) /* a system call, which may have been mmap */
        tracee->space_is_old = true;
}

static void follow_signal(struct tracee *tracee, const struct user_regs_struct *before)
{
    uint64_t restorer;
    assert_true(read_memory(tracee->pid, tracee->regs.rsp, &restorer, 8));
    assert_true(
        array_push(&tracee->entries, (struct entry){.slot = before->rsp, .value = before->rip, .interrupted = true}));
    assert_true(array_push(&tracee->entries,
                           (struct entry){.slot = tracee->regs.rsp, .value = restorer, .is_trampoline = true}));
    tracee->signal_depth++;
}

/* ---- comparing ---- */

static struct unwind_regs registers_of(const struct user_regs_struct *r)
{
    return (struct unwind_regs){{r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8, r->r9, r->r10,
                                 r->r11, r->r12, r->r13, r->r14, r->r15, r->rip}};
}

static const char *place(const struct tracee *tracee, uint64_t pc)
{
    static char text[64];
    const struct mapping *mapping = address_space_find(&tracee->space, pc);
    snprintf(text, sizeof(text), mapping ? "%#" PRIx64 " (rva %#" PRIx64 ")" : "%#" PRIx64 " (not mapped)", pc,
             mapping ? pc - mapping->start + mapping->rva : 0);
    return text;
}

static bool equals_callers(const struct tracee *tracee, const uint64_t *callers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = &tracee->entries.data[tracee->entries.length - 1 - i];
        if (callers[i] != entry->value - (entry->interrupted || entry->is_trampoline ? 0 : 1))
            return false;
    }
    return true;
}

static bool is_true_stack(const struct tracee *tracee, const uint64_t *pcs, const struct unwind_result *result)
{
    if (result->end != UNWIND_COMPLETE || result->frames != tracee->entries.length + 1 || pcs[0] != tracee->regs.rip)
        return false;
    return equals_callers(tracee, pcs + 1, result->frames - 1);
}

static void report(struct tracee *tracee, const uint64_t *pcs, const struct unwind_result *result)
{
    enum { REPORTS_MAX = 8 };
    if (tracee->wrong + tracee->suspects >= REPORTS_MAX)
        return;
    print_message("suspect at step %" PRIu64 ": %zu frames of %zu, end %d\n", tracee->steps, result->frames,
                  tracee->entries.length + 1, result->end);
    for (size_t i = 0; i < 4 && i < result->frames; i++)
        print_message("   walked %s\n", place(tracee, pcs[i]));
    for (size_t i = 0; i < 3 && i < tracee->entries.length; i++)
        print_message("   true caller %s\n", place(tracee, tracee->entries.data[tracee->entries.length - 1 - i].value));
}

static bool has_jumped_as_foretold(const struct tracee *tracee)
{
    return tracee->suspects <= JUMP_MAX && tracee->foretold_length == tracee->entries.length + 1 &&
           tracee->foretold[0] + 1 == tracee->regs.rip &&
           equals_callers(tracee, tracee->foretold + 1, tracee->entries.length);
}

static bool has_overwritten_return_address(const struct tracee *tracee)
{
    for (size_t i = tracee->entries.length; i-- > 0;) {
        uint64_t value;
        const struct entry *entry = &tracee->entries.data[i];
        if (!entry->interrupted && (!read_memory(tracee->pid, entry->slot, &value, 8) || value != entry->value))
            return true;
    }
    return false;
}

/* The last instruction of the unwinder, which jumps to the handler: pop %rcx; jmp *%rcx, with the handler's stack in
 * place. */
static bool is_unwinders_jump(const struct tracee *tracee)
{
    unsigned char code[3];
    return read_memory(tracee->pid, tracee->regs.rip - 1, code, 3) && memcmp(code, "\x59\xff\xe1", 3) == 0;
}

/* Decides about earlier suspects, once that is possible. */
static void judge(struct tracee *tracee, bool right, bool overwritten)
{
    if (overwritten || (right && has_jumped_as_foretold(tracee)))
        tracee->pardoned += tracee->suspects;
    else if (right)
        tracee->wrong += tracee->suspects;
    else
        return;
    tracee->suspects = 0;
}

static void suspect(struct tracee *tracee, const uint64_t *pcs, const struct unwind_result *result)
{
    tracee->suspects++;
    tracee->foretold_length = result->frames - 1;
    memcpy(tracee->foretold, pcs + 1, tracee->foretold_length * sizeof(*pcs));
}

static void compare_walk(struct tracee *tracee)
{
    uint64_t pcs[FRAMES_MAX];
    if (tracee->space_is_old)
        refresh_space(tracee);
    /* Small enough that deep stacks need read_above as well. */
    uint64_t sp = tracee->regs.rsp;
    size_t size = 4096 - sp % 4096 < COPY_MAX ? 4096 - sp % 4096 : COPY_MAX;
    assert_true(read_memory(tracee->pid, sp, tracee->stack, size));
    struct unwind_stack stack = {.sp = sp,
                                 .bytes = tracee->stack,
                                 .size = size,
                                 .read_above = read_above,
                                 .read_below = read_above,
                                 .context = tracee};
    struct unwind_regs regs = registers_of(&tracee->regs);
    struct unwind_result result = unwind_walk(&tracee->space, &regs, &stack, pcs, FRAMES_MAX);
    tracee->compared++;
    bool right = is_true_stack(tracee, pcs, &result);
    bool overwritten = (!right || tracee->suspects) && has_overwritten_return_address(tracee);
    judge(tracee, right, overwritten);
    if (right)
        return;
    if (overwritten || is_unwinders_jump(tracee)) {
        tracee->pardoned++;
    } else if (result.end == UNWIND_NO_CFI && equals_callers(tracee, pcs + 1, result.frames - 1)) {
        tracee->cut++;
    } else {
        report(tracee, pcs, &result);
        suspect(tracee, pcs, &result);
    }
}

/* ---- running ---- */

/* Stepping through the dynamic linker takes longer than all the rest, so one variant does it, and the others take the
 * stack of main at the first breakpoint as the walker gives it. */
static void trust_first_walk(struct tracee *tracee)
{
    uint64_t pcs[8], slot = tracee->regs.rsp;
    unsigned char bytes[4096];
    size_t size = 4096 - slot % 4096;
    assert_true(read_memory(tracee->pid, slot, bytes, size));
    struct unwind_stack stack = {.sp = slot, .bytes = bytes, .size = size, .read_above = read_above, .context = tracee};
    struct unwind_regs regs = registers_of(&tracee->regs);
    refresh_space(tracee);
    struct unwind_result result = unwind_walk(&tracee->space, &regs, &stack, pcs, 8);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_in_range(result.frames, 3, 5);
    struct entry entries[8];
    for (size_t i = 1; i < result.frames; i++, slot += 8) {
        uint64_t value;
        while (read_memory(tracee->pid, slot, &value, 8) && value != pcs[i] + 1)
            slot += 8;
        assert_int_equal(value, pcs[i] + 1);
        entries[i] = (struct entry){.slot = slot, .value = value};
    }
    for (size_t i = result.frames - 1; i >= 1; i--)
        assert_true(array_push(&tracee->entries, entries[i]));
}

static void run_to_first_breakpoint(struct tracee *tracee)
{
    int status;
    assert_int_equal(ptrace(PTRACE_CONT, tracee->pid, NULL, NULL), 0);
    assert_int_equal(waitpid(tracee->pid, &status, 0), tracee->pid);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    assert_int_equal(ptrace(PTRACE_GETREGS, tracee->pid, NULL, &tracee->regs), 0);
}

static pid_t start_target(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSTOPPED(status))
        return -1; /* no ptrace here */
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
    return pid;
}

static bool is_breakpoint(const struct tracee *tracee)
{
    unsigned char code;
    return read_memory(tracee->pid, tracee->regs.rip - 1, &code, 1) && code == 0xcc;
}

/* A signal every few hundred instructions, alternately on the stack of the program and on another. None in the middle
 * of a jump: its handler would run on top of two stacks at once for longer than any jump takes. */
static int signal_to_send(const struct tracee *tracee, bool with_signals)
{
    enum { INTERVAL = 397 };
    if (!with_signals || tracee->signal_depth > 0 || tracee->suspects > 0 || tracee->steps % INTERVAL != 0)
        return 0;
    return tracee->steps / INTERVAL % 2 ? SIGUSR1 : SIGUSR2;
}

/* One step; false when the target has ended. `signal_number` is delivered, which runs its handler's first instruction
 * at the next step. */
static bool step(struct tracee *tracee, int signal_number)
{
    struct user_regs_struct before = tracee->regs;
    int status;
    assert_int_equal(ptrace(PTRACE_SINGLESTEP, tracee->pid, NULL, (void *)(intptr_t)signal_number), 0);
    assert_int_equal(waitpid(tracee->pid, &status, 0), tracee->pid);
    if (!WIFSTOPPED(status))
        return false;
    assert_int_equal(ptrace(PTRACE_GETREGS, tracee->pid, NULL, &tracee->regs), 0);
    tracee->steps++;
    if (signal_number)
        follow_signal(tracee, &before);
    else
        follow_instruction(tracee, &before);
    if (WSTOPSIG(status) != SIGTRAP)
        return step(tracee, WSTOPSIG(status)); /* the target's own signal */
    return true;
}

static void step_through(struct tracee *tracee, const struct variant *variant)
{
    tracee->space_is_old = true;
    if (variant->from_exec_on) {
        assert_int_equal(ptrace(PTRACE_GETREGS, tracee->pid, NULL, &tracee->regs), 0);
    } else {
        run_to_first_breakpoint(tracee);
        trust_first_walk(tracee);
    }
    unsigned left = variant->from_exec_on ? 2 : 1;
    while (left > 0 || variant->from_exec_on) {
        uint64_t before = tracee->regs.rip;
        compare_walk(tracee);
        if (!step(tracee, signal_to_send(tracee, variant->with_signals && left == 1)))
            break;
        if (tracee->regs.rip == before + 1 && is_breakpoint(tracee))
            left--;
    }
    assert_int_equal(left, 0);
}

/* ---- the variants ---- */

static bool is_installed(const char *compiler)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", compiler);
    return system(command) == 0;
}

static void test_every_instruction(void **state)
{
    const struct variant *variant = *state;
    if (!is_installed(variant->compiler)) {
        print_message("skipped: no %s\n", variant->compiler);
        skip();
    }
    char directory[] = "/tmp/prof-truth-XXXXXX", program[64], command[1024];
    assert_non_null(mkdtemp(directory));
    snprintf(program, sizeof(program), "%s/target", directory);
    snprintf(command, sizeof(command), "%s %s -w -o %s tests/targets/%s 2>%s.log", variant->compiler, variant->flags,
             program, variant->source, program);
    bool compiled = system(command) == 0;
    struct tracee *tracee = calloc(1, sizeof(*tracee));
    tracee->pid = compiled ? start_target(program) : -1;
    bool traced = tracee->pid > 0;
    if (traced) {
        step_through(tracee, variant);
        kill(tracee->pid, SIGKILL);
        waitpid(tracee->pid, NULL, 0);
    }
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    uint64_t compared = tracee->compared, wrong = tracee->wrong + tracee->suspects, pardoned = tracee->pardoned,
             cut = tracee->cut;
    address_space_destroy(&tracee->space);
    array_free(&tracee->entries);
    free(tracee);
    if (!traced) {
        print_message("skipped: %s\n", compiled ? "ptrace is not permitted" : "the compiler cannot do that");
        skip();
    }
    print_message("%" PRIu64 " instructions, %" PRIu64 " wrong stacks, %" PRIu64
                  " changed by the program itself, %" PRIu64 " cut\n",
                  compared, wrong, pardoned, cut);
    assert_true(compared > 5000);
    assert_int_equal(wrong, 0);
    assert_true(pardoned * 50 < compared);
    assert_true(cut == 0);
}

#define C(name, compiler, flags)                                                                                       \
    {                                                                                                                  \
        "test_every_instruction_of_c_" name, compiler, flags, "stacks.c", true                                         \
    }
#define EXCEPTIONS(name, compiler, flags)                                                                              \
    {                                                                                                                  \
        "test_every_instruction_of_exceptions_" name, compiler, flags, "stacks_exceptions.cpp", false                  \
    }

static struct variant variants[] = {
    C("gcc_unoptimized", "gcc", "-O0"),
    {"test_every_instruction_from_exec_to_exit", "gcc", "-O2", "stacks.c", true, true},
    C("gcc_optimized", "gcc", "-O2"),
    C("gcc_with_frame_pointer", "gcc", "-O2 -fno-omit-frame-pointer"),
    C("gcc_size", "gcc", "-Os"),
    C("gcc_static", "gcc", "-O2 -static"),
    C("gcc_branch_tracking_and_lazy_binding", "gcc", "-O2 -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt"),
    C("gcc_without_eh_frame_header", "gcc", "-O2 -no-pie -Wl,--no-eh-frame-hdr"),
    C("gcc_debug_frame_only", "gcc", "-O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables"),
    C("gcc_compressed_debug_frame", "gcc", "-O2 -g -gz -fno-asynchronous-unwind-tables -fno-unwind-tables"),
    C("clang_unoptimized", "clang", "-O0"),
    C("clang_optimized", "clang", "-O2"),
    C("clang_lld_lazy_binding", "clang", "-O2 -fuse-ld=lld -Wl,-z,lazy"),
    {"test_every_instruction_of_assembly", "gcc", "-O2", "stacks_assembly.c", false},
    EXCEPTIONS("gcc", "g++", "-O2"),
    EXCEPTIONS("gcc_unoptimized", "g++", "-O0"),
    EXCEPTIONS("clang", "clang++", "-O2"),
};

int main(void)
{
    enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };
    static struct CMUnitTest tests[VARIANTS];
    for (size_t i = 0; i < VARIANTS; i++)
        tests[i] = (struct CMUnitTest){variants[i].name, test_every_instruction, NULL, NULL, &variants[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

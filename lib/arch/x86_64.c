/*
 * x86-64: recognizes signal frames and some code without CFI by its bytes.
 *
 * Reading code ahead to its return (x86_64_return.c) finds the frame of most code without CFI. Some code cannot be read
 * ahead to a return: a lazy PLT entry (lld writes no CFI for it) leaves its pushed values to the dynamic linker, clone
 * returns in two threads, and a sigreturn trampoline never returns. In JIT code the walker tries the frame pointer
 * first. In a trampoline, a prologue or an epilogue, the frame pointer still belongs to the caller, so following the
 * frame pointer would silently skip the caller. Such code always has the same bytes.
 */
#include "arch/arch.h"

/* struct rt_sigframe after its return address was popped: struct ucontext at sp, whose uc_mcontext begins at byte 40
 * with r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip (Linux, arch/x86/include/uapi/asm/sigcontext.h). */
const uint16_t arch_signal_frame_slots[UNWIND_REGS] = {
    [0] = 40 + 13 * 8, [1] = 40 + 12 * 8, [2] = 40 + 14 * 8, [3] = 40 + 11 * 8, [4] = 40 + 9 * 8,   [5] = 40 + 8 * 8,
    [6] = 40 + 10 * 8, [7] = 40 + 15 * 8, [8] = 40 + 0 * 8,  [9] = 40 + 1 * 8,  [10] = 40 + 2 * 8,  [11] = 40 + 3 * 8,
    [12] = 40 + 4 * 8, [13] = 40 + 5 * 8, [14] = 40 + 6 * 8, [15] = 40 + 7 * 8, [16] = 40 + 16 * 8,
};

/* One instruction of a snippet: its fixed first bytes, the number of variable bytes after them, and the distance from
 * sp to the CFA before the instruction. */
struct instruction {
    const char *bytes;
    uint8_t fixed, any;
    uint8_t cfa_offset;
    bool saved_bp;
};

enum { SNIPPET_MAX = 16 };

struct snippet {
    struct instruction instructions[SNIPPET_MAX]; /* ends with fixed == 0 */
};

/* Three kinds of snippet instructions: with an unknown CFA; with the CFA at this distance from sp; with the caller's
 * frame pointer saved below the CFA. */
#define CODE(text, any_bytes) CODE_CFA(text, any_bytes, 0)
#define CODE_CFA(text, any_bytes, cfa)                                                                                 \
    {                                                                                                                  \
        (text), sizeof(text) - 1, (any_bytes), (cfa), false                                                            \
    }
#define CODE_CFA_BP(text, any_bytes, cfa)                                                                              \
    {                                                                                                                  \
        (text), sizeof(text) - 1, (any_bytes), (cfa), true                                                             \
    }

static const struct snippet snippets[] = {
    /* First entry of a lazy PLT, reached from an entry that has pushed its index. */
    {{CODE_CFA("\xff\x35", 4, 16), CODE_CFA("\xff\x25", 4, 24)}},
    {{CODE_CFA("\xff\x35", 4, 16), CODE_CFA("\xf2\xff\x25", 4, 24)}},
    /* Lazy PLT entries, the second and third with branch tracking (endbr64). */
    {{CODE_CFA("\xff\x25", 4, 8), CODE_CFA("\x68", 4, 8), CODE_CFA("\xe9", 4, 16)}},
    {{CODE_CFA("\xf3\x0f\x1e\xfa", 0, 8), CODE_CFA("\x68", 4, 8), CODE_CFA("\xe9", 4, 16)}},
    {{CODE_CFA("\xf3\x0f\x1e\xfa", 0, 8), CODE_CFA("\x68", 4, 8), CODE_CFA("\xf2\xe9", 4, 16)}},
    /* CPython's trampoline for each of its functions (Python/asm_trampoline.S, -X perf), with and without branch
     * tracking: sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
    {{CODE_CFA("\xf3\x0f\x1e\xfa", 0, 8), CODE_CFA("\x48\x83\xec\x08", 0, 8), CODE_CFA("\xff\xd1", 0, 16),
      CODE_CFA("\x48\x83\xc4\x08", 0, 16), CODE_CFA("\xc3", 0, 8)}},
    {{CODE_CFA("\x48\x83\xec\x08", 0, 8), CODE_CFA("\xff\xd1", 0, 16), CODE_CFA("\x48\x83\xc4\x08", 0, 16),
      CODE_CFA("\xc3", 0, 8)}},
    /* push %rbp; mov %rsp,%rbp */
    {{CODE_CFA("\x55", 0, 8), CODE_CFA_BP("\x48\x89\xe5", 0, 16)}},
    /* pop %rbp; ret */
    {{CODE_CFA_BP("\x5d", 0, 16), CODE_CFA("\xc3", 0, 8)}},
    {{CODE_CFA("\xc3", 0, 8)}},
    {{CODE_CFA("\xc2", 2, 8)}},
};

/* clone and clone3, where glibc interrupts their CFI because two threads come back from one system call: syscall; test
 * %rax,%rax; jl to the error; je to the start of the new thread, which has CFI again. Newer glibc versions use the long
 * form of jl. musl: syscall; test %eax,%eax; jnz; xor %ebp,%ebp; pop %rdi; call *%r9. */
static const struct snippet clones[] = {
    {{CODE_CFA("\x0f\x05", 0, 8), CODE_CFA("\x48\x85\xc0", 0, 8), CODE_CFA("\x7c", 1, 8), CODE_CFA("\x74", 1, 8)}},
    {{CODE_CFA("\x0f\x05", 0, 8), CODE_CFA("\x48\x85\xc0", 0, 8), CODE_CFA("\x0f\x8c", 4, 8), CODE_CFA("\x74", 1, 8)}},
    {{CODE_CFA("\x0f\x05", 0, 8), CODE_CFA("\x85\xc0", 0, 8), CODE_CFA("\x75", 1, 8), CODE_CFA("\x31\xed", 0, 8),
      CODE_CFA("\x5f", 0, 8), CODE_CFA("\x41\xff\xd1", 0, 8)}},
    /* Go: syscall; cmp $0,%rax; je to the start of the new thread; mov %eax,48(%rsp); ret */
    {{CODE_CFA("\x0f\x05", 0, 8), CODE_CFA("\x48\x83\xf8\x00", 0, 8), CODE_CFA("\x74\x05", 0, 8),
      CODE_CFA("\x89\x44\x24\x30", 0, 8), CODE_CFA("\xc3", 0, 8)}},
};

/* musl's clone, in the new thread: call *%r9; mov %eax,%edi; xor %eax,%eax; mov $60 (__NR_exit),%al; syscall */
static const struct snippet thread_starts[] = {
    {{CODE("\x41\xff\xd1", 0), CODE("\x89\xc7", 0), CODE("\x31\xc0", 0), CODE("\xb0\x3c", 0), CODE("\x0f\x05", 0)}},
};

/* Functions in which Go's runtime starts a stack (asm_amd64.s of Go 1.17 to 1.26). The first instruction of these
 * functions still runs on the old stack. */
static const struct snippet go_starts[] = {
    /* mcall: mov gobuf.sp,%rsp; push %rax; mov (%rdx),%r12; call *%r12; pop %rax; jmp badmcall2. Since Go 1.23 a nop
     * follows the call, since Go 1.25 the code clears the frame pointer before the call. */
    {{CODE("\x49\x8b\x66", 1), CODE("\x50", 0), CODE("\x4c\x8b\x22", 0), CODE("\x41\xff\xd4", 0), CODE("\x58", 0),
      CODE("\xe9", 4)}},
    {{CODE("\x49\x8b\x66", 1), CODE("\x50", 0), CODE("\x4c\x8b\x22", 0), CODE("\x41\xff\xd4", 0), CODE("\x90", 0),
      CODE("\x58", 0), CODE("\xe9", 4)}},
    {{CODE("\x49\x8b\x66", 1), CODE("\x48\xc7\xc5\x00\x00\x00\x00", 0), CODE("\x50", 0), CODE("\x4c\x8b\x22", 0),
      CODE("\x41\xff\xd4", 0), CODE("\x90", 0), CODE("\x58", 0), CODE("\xe9", 4)}},
    /* morestack: mov gobuf.sp,%rsp; call newstack; call abort. Go 1.21 to 1.24 load the frame pointer before the calls,
     * Go 1.25 and later clear it. */
    {{CODE("\x48\x8b\x63", 1), CODE("\xe8", 4), CODE("\xe8", 4), CODE("\xc3", 0)}},
    {{CODE("\x48\x8b\x63", 1), CODE("\x48\x8b\x6b", 1), CODE("\xe8", 4), CODE("\xe8", 4), CODE("\xc3", 0)}},
    {{CODE("\x48\x8b\x63", 1), CODE("\x48\xc7\xc5\x00\x00\x00\x00", 0), CODE("\xe8", 4), CODE("\xe8", 4),
      CODE("\xc3", 0)}},
    /* mstart: call mstart0; ret. The int3 before and after are the padding between functions. Since Go 1.26 the code
     * clears the frame pointer first. */
    {{CODE("\xcc", 0), CODE("\xe8", 4), CODE("\xc3", 0), CODE("\xcc", 0)}},
    {{CODE("\xcc", 0), CODE("\x48\xc7\xc5\x00\x00\x00\x00", 0), CODE("\xe8", 4), CODE("\xc3", 0), CODE("\xcc", 0)}},
};

/* goexit: nop; call goexit1; nop. The runtime creates a goroutine as if the nop had called the goroutine's first
 * function, so the return address points to the second instruction. No other code returns to an address after a nop. */
static const struct snippet goexit = {{CODE("\x90", 0), CODE("\xe8", 4), CODE("\x90", 0)}};

/* mov $15 (__NR_rt_sigreturn),%eax or %rax; syscall */
static const struct snippet sigreturns[] = {
    {{CODE("\x48\xc7\xc0\x0f\x00\x00\x00", 0), CODE("\x0f\x05", 0)}},
    {{CODE("\xb8\x0f\x00\x00\x00", 0), CODE("\x0f\x05", 0)}},
};

static bool snippet_begins_at(const struct snippet *snippet, const unsigned char *at, const unsigned char *end)
{
    for (const struct instruction *i = snippet->instructions; i < snippet->instructions + SNIPPET_MAX && i->fixed;
         i++) {
        if ((size_t)(end - at) < (size_t)i->fixed + i->any || memcmp(at, i->bytes, i->fixed) != 0)
            return false;
        at += i->fixed + i->any;
    }
    return true;
}

/* Returns the snippet's instruction at the pc, or NULL. */
static const struct instruction *find_snippet_instruction(const struct snippet *snippet, const unsigned char *code)
{
    const unsigned char *pc = code + ARCH_CODE_BEFORE, *end = pc + ARCH_CODE_AFTER;
    size_t before = 0;
    for (const struct instruction *i = snippet->instructions; i < snippet->instructions + SNIPPET_MAX && i->fixed;
         i++) {
        if (snippet_begins_at(snippet, pc - before, end))
            return i;
        before += (size_t)i->fixed + i->any;
        if (before > ARCH_CODE_BEFORE)
            break;
    }
    return NULL;
}

/* Finds the instruction at the pc in a list of snippets. `skips_first`: the first instruction of a snippet does not
 * count, because it runs before the snippet takes effect. */
static const struct instruction *find_in_snippets(const struct snippet *list, size_t count, const unsigned char *code,
                                                  bool skips_first)
{
    for (size_t i = 0; i < count; i++) {
        const struct instruction *found = find_snippet_instruction(&list[i], code);
        if (found && !(skips_first && found == list[i].instructions))
            return found;
    }
    return NULL;
}

#define FIND_IN(list, code, skips_first) find_in_snippets((list), sizeof(list) / sizeof(*(list)), (code), (skips_first))

struct arch_code arch_code_recognize(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    const struct instruction *found;
    if (FIND_IN(sigreturns, code, false))
        return (struct arch_code){.kind = ARCH_CODE_SIGNAL_FRAME};
    if ((found = FIND_IN(clones, code, true)))
        return (struct arch_code){ARCH_CODE_AFTER_CLONE, found->cfa_offset, -1, false};
    if (FIND_IN(thread_starts, code, true))
        return (struct arch_code){.kind = ARCH_CODE_START};
    if ((found = FIND_IN(snippets, code, false)))
        return (struct arch_code){ARCH_CODE_STUB, found->cfa_offset, -1, found->saved_bp};
    return (struct arch_code){.kind = ARCH_CODE_UNKNOWN};
}

bool arch_code_is_system_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    return code[ARCH_CODE_BEFORE] == 0x0f && code[ARCH_CODE_BEFORE + 1] == 0x05;
}

bool arch_code_starts_go_stack(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], bool is_return)
{
    return FIND_IN(go_starts, code, true) ||
           (is_return && find_snippet_instruction(&goexit, code) == &goexit.instructions[1]);
}

/* GHC keeps the address of its registers in r13. A function without stack or heap left jumps through the word at -8 or
 * -16: jmp *-8(%r13). Haskell programs and libraries have 35 or more of these jumps in 64 KiB of code; gdb, cc1, node
 * and LLVM have none. */
bool arch_code_is_haskell(const unsigned char *code, size_t size)
{
    enum { LENGTH = 4, ENOUGH = 4 };
    size_t found = 0;
    for (const unsigned char *at = code, *end = code + size; found < ENOUGH && end - at >= LENGTH; at++) {
        at = memchr(at, 0x41, (size_t)(end - at) - LENGTH + 1);
        if (!at)
            break;
        found += at[1] == 0xff && at[2] == 0x65 && (at[3] == 0xf8 || at[3] == 0xf0);
    }
    return found == ENOUGH;
}

/* call: e8 and a distance, or ff with 2 in the middle of its second byte and up to five more bytes for the address. */
bool arch_code_is_after_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    enum { DIRECT = 5, SHORTEST = 2, LONGEST = 7, REGISTER_BITS = 0x38, CALL = 0x10 };
    const unsigned char *pc = code + ARCH_CODE_BEFORE;
    if (pc[-DIRECT] == 0xe8)
        return true;
    for (int length = SHORTEST; length <= LONGEST; length++)
        if (pc[-length] == 0xff && (pc[1 - length] & REGISTER_BITS) == CALL)
            return true;
    return false;
}

bool arch_code_is_return(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    (void)code;
    return false;
}

int32_t arch_find_prologue_size(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    (void)code;
    return 0;
}

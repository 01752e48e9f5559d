/*
 * arm64: recognizes signal frames, system calls and code without CFI by its instructions, which have four bytes each.
 */
#include "arch/arch.h"

enum { WORD = 4 };

/* struct rt_sigframe: 128 bytes of siginfo, then struct ucontext, whose uc_mcontext begins at byte 176 with the address
 * of a fault, x0..x30, sp, pc (Linux, arch/arm64/include/uapi/asm/sigcontext.h). */
enum { X0 = 128 + 176 + 8 };
#define SLOT(reg)      [reg] = X0 + (reg)*8
#define FOUR_SLOTS(at) SLOT(at), SLOT((at) + 1), SLOT((at) + 2), SLOT((at) + 3)
const uint16_t arch_signal_frame_slots[UNWIND_REGS] = {FOUR_SLOTS(0),  FOUR_SLOTS(4),  FOUR_SLOTS(8),
                                                       FOUR_SLOTS(12), FOUR_SLOTS(16), FOUR_SLOTS(20),
                                                       FOUR_SLOTS(24), FOUR_SLOTS(28), SLOT(32)};

/* One instruction of a snippet, and the frame before the instruction. */
struct instruction {
    uint32_t mask, value;
    uint8_t cfa_offset;  /* bytes from sp */
    int16_t return_slot; /* as in struct arch_code; a saved frame pointer lies below it */
};

enum { SNIPPET_MAX = 5 };

struct snippet {
    struct instruction instructions[SNIPPET_MAX]; /* ends with a mask of 0 */
};

#define CODE(mask, value)                                                                                              \
    {                                                                                                                  \
        (mask), (value), 0, ARCH_RETURN_IN_LINK                                                                        \
    }
#define EXACT(value)  CODE(UINT32_MAX, value)
#define BRANCH(value) CODE(UINT32_C(0xff00001f), value)

static const struct snippet snippets[] = {
    /* First entry of a lazy PLT: stp x16,x30,[sp,#-16]!; adrp x16; ldr x17,[x16]; add x16; br x17. The other entries
     * change neither sp nor lr. */
    {{EXACT(0xa9bf7bf0),
      {0x9f00001f, 0x90000010, 16, -1},
      {0xffc003ff, 0xf9400211, 16, -1},
      {0xffc003ff, 0x91000210, 16, -1},
      {UINT32_MAX, 0xd61f0220, 16, -1}}},
    /* stp x29,x30,[sp,#-16]!; mov x29,sp */
    {{EXACT(0xa9bf7bfd), {UINT32_MAX, 0x910003fd, 16, -1}}},
    /* ldp x29,x30,[sp],#16; ret */
    {{{UINT32_MAX, 0xa8c17bfd, 16, -1}, EXACT(0xd65f03c0)}},
    {{EXACT(0xd65f03c0)}},
};

/* clone and clone3, where two threads come back from one system call. glibc: svc; cmp x0,#0; b.eq to the start of the
 * new thread; b.lt or b.mi to the error; ret. musl: svc; cbz x0 to the start; ret. */
static const struct snippet clones[] = {
    {{EXACT(0xd4000001), EXACT(0xf100001f), BRANCH(0x54000000), BRANCH(0x5400000b), EXACT(0xd65f03c0)}},
    {{EXACT(0xd4000001), EXACT(0xf100001f), BRANCH(0x54000000), BRANCH(0x54000004), EXACT(0xd65f03c0)}},
    {{EXACT(0xd4000001), BRANCH(0xb4000000), EXACT(0xd65f03c0)}},
};

/* musl's clone, in the new thread: blr x1; mov x8,#93 (__NR_exit); svc */
static const struct snippet thread_starts[] = {
    {{EXACT(0xd63f0020), EXACT(0xd2800ba8), EXACT(0xd4000001)}},
};

/* mov x8,#139 (__NR_rt_sigreturn); svc */
static const struct snippet sigreturns[] = {
    {{EXACT(0xd2801168), EXACT(0xd4000001)}},
};

static uint32_t read_instruction(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

static bool is_snippet_at(const struct snippet *snippet, const unsigned char *at)
{
    for (size_t i = 0; i < SNIPPET_MAX && snippet->instructions[i].mask; i++)
        if ((read_instruction(at + i * WORD) & snippet->instructions[i].mask) != snippet->instructions[i].value)
            return false;
    return true;
}

/* Finds the instruction at the pc in a list of snippets. `skips_first`: the first instruction of a snippet does not
 * count, because it runs before the snippet takes effect. */
static const struct instruction *find_in_snippets(const struct snippet *list, size_t count, const unsigned char *code,
                                                  bool skips_first)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = skips_first; at < SNIPPET_MAX && list[i].instructions[at].mask; at++)
            if (is_snippet_at(&list[i], code + ARCH_CODE_BEFORE - at * WORD))
                return &list[i].instructions[at];
    return NULL;
}

#define FIND_IN(list, code, skips_first) find_in_snippets((list), sizeof(list) / sizeof(*(list)), (code), (skips_first))

struct arch_code arch_code_recognize(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    const struct instruction *found;
    if (FIND_IN(sigreturns, code, false))
        return (struct arch_code){.kind = ARCH_CODE_SIGNAL_FRAME};
    if (FIND_IN(clones, code, true))
        return (struct arch_code){ARCH_CODE_AFTER_CLONE, 0, ARCH_RETURN_IN_LINK, false};
    if (FIND_IN(thread_starts, code, true))
        return (struct arch_code){.kind = ARCH_CODE_START};
    if ((found = FIND_IN(snippets, code, false)))
        return (struct arch_code){ARCH_CODE_STUB, found->cfa_offset, found->return_slot,
                                  found->value == 0x910003fd || found->value == 0xa8c17bfd};
    return (struct arch_code){.kind = ARCH_CODE_UNKNOWN};
}

bool arch_code_is_system_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    return read_instruction(code + ARCH_CODE_BEFORE) == 0xd4000001;
}

/* bl, or blr with or without a signature (blraa, blrab and their forms without a modifier) */
bool arch_code_is_after_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    uint32_t call = read_instruction(code + ARCH_CODE_BEFORE - WORD);
    return call >> 26 == 0x25 || (call & 0xfffffc1f) == 0xd63f0000 || (call & 0xfefff800) == 0xd63f0800;
}

/* goexit: mov x0,x0; bl goexit1. The runtime creates a goroutine as if the mov had called the first function.
 * The others set x29 to zero, at most six instructions before they call. */
bool arch_code_starts_go_stack(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], bool is_return)
{
    enum { BEFORE = 6 };
    const unsigned char *pc = code + ARCH_CODE_BEFORE;
    bool starts = read_instruction(pc - WORD) == 0xaa0003e0 && read_instruction(pc) >> 26 == 0x25;
    for (int i = 2; i <= BEFORE && arch_code_is_after_call(code); i++)
        starts |= read_instruction(pc - i * WORD) == 0xaa1f03fd;
    return is_return && starts;
}

/* Code of GHC is not recognized. */
bool arch_code_is_haskell(const unsigned char *code, size_t size)
{
    (void)code, (void)size;
    return false;
}

uint64_t arch_find_call_target(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], uint64_t return_address)
{
    uint32_t call = read_instruction(code + ARCH_CODE_BEFORE - WORD);
    /* a signed number of 26 bits, which counts instructions */
    int64_t distance = ((int64_t)(call & 0x3ffffff) ^ 0x2000000) - 0x2000000;
    return call >> 26 == 0x25 ? return_address - WORD + (uint64_t)(distance * WORD) : 0;
}

/* ---- prologues ---- */

/* Returns N of sub sp,sp,#N, or 0 for other instructions. */
static uint32_t read_sub_sp(uint32_t word)
{
    uint32_t size = word >> 10 & 0xfff;
    return (word & 0xff8003ff) != 0xd10003ff ? 0 : word >> 22 & 1 ? size << 12 : size;
}

/* Returns N of a store with sp as its base that first lowers sp by N: stp or str of x or d registers, [sp,#-N]!. */
static int32_t read_push_size(uint32_t word)
{
    if ((word & 0xffc003e0) == 0xa98003e0 ||
        (word & 0xffc003e0) == 0x6d8003e0) /* a signed number of 7 bits, in words */
        return -8 * ((int32_t)((word >> 15 & 0x7f) ^ 0x40) - 0x40);
    if ((word & 0xfbe00fe0) == 0xf8000fe0) /* a signed number of 9 bits */
        return -((int32_t)((word >> 12 & 0x1ff) ^ 0x100) - 0x100);
    return 0;
}

/* stp or str of x or d registers, [sp,#N]; add x29,sp,#N; paciasp, pacibsp; bti c */
static bool is_in_frame_setup(uint32_t word)
{
    return (word & 0xffc003e0) == 0xa90003e0 || (word & 0xffc003e0) == 0x6d0003e0 ||
           (word & 0xfbc003e0) == 0xf90003e0 || (word & 0xffc003ff) == 0x910003fd ||
           (word & 0xffffffbf) == 0xd503233f || word == 0xd503245f;
}

int32_t arch_find_prologue_size(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    int32_t size = 0;
    for (const unsigned char *at = code + ARCH_CODE_BEFORE - WORD; at >= code; at -= WORD) {
        uint32_t word = read_instruction(at);
        int32_t lowered = (int32_t)read_sub_sp(word) + read_push_size(word);
        if (lowered <= 0 && !is_in_frame_setup(word))
            break;
        size += lowered;
    }
    return size;
}

/* ret, retaa, retab */
bool arch_code_is_return(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    uint32_t word = read_instruction(code + ARCH_CODE_BEFORE);
    return word == 0xd65f03c0 || (word & 0xfffffbff) == 0xd65f0bff;
}

/* ---- code that HotSpot compiles ---- */

/* stp x29,x30,[sp,#N-16] or ldp */
static bool is_record_at(uint32_t word, bool is_load, uint32_t size)
{
    return (word & 0xffc07fff) == (is_load ? 0xa9407bfd : 0xa9007bfd) && (word >> 15 & 0x7f) == (size - 16) / 8;
}

/*
 * HotSpot's functions have a frame of constant size, with the record of x29 and lr at its top, and use x29 like any
 * other register (macroAssembler_aarch64.cpp, build_frame):
 *
 *     sub sp,sp,#N  stp x29,x30,[sp,#N-16]
 *     stp x29,x30,[sp,#-16]!  sub sp,sp,#N-16
 *
 * The interpreter and stubs begin with stp x29,x30,[sp,#-16]!  mov x29,sp.
 */
struct arch_code arch_find_java_function(const unsigned char *code, size_t size)
{
    for (size_t at = size < 2 * WORD ? 0 : (size - 2 * WORD) / WORD * WORD; at > 0; at -= WORD) {
        uint32_t first = read_instruction(code + at), next = read_instruction(code + at + WORD);
        bool is_push = first == 0xa9bf7bfd;
        uint32_t frame = is_push ? read_sub_sp(next) + 16 : read_sub_sp(first);
        if (is_push ? frame > 16 : frame >= 16 && is_record_at(next, false, frame))
            return (struct arch_code){ARCH_CODE_STUB, frame, -1, true};
        if (is_push)
            break;
    }
    return (struct arch_code){.kind = ARCH_CODE_UNKNOWN};
}

struct arch_code arch_find_java_prologue_or_epilogue(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    const unsigned char *pc = code + ARCH_CODE_BEFORE;
    uint32_t before = read_instruction(pc - WORD), at = read_instruction(pc), next = read_instruction(pc + WORD);
    uint32_t size = read_sub_sp(before);
    const struct arch_code on_entry = {ARCH_CODE_STUB, 0, ARCH_RETURN_IN_LINK, false};
    if (at == 0xd65f03c0 || at == 0xa9bf7bfd || (read_sub_sp(at) >= 16 && is_record_at(next, false, read_sub_sp(at))))
        return on_entry;
    if (size >= 16 && is_record_at(at, false, size))
        return (struct arch_code){ARCH_CODE_STUB, size, ARCH_RETURN_IN_LINK, false};
    uint32_t added = (at & 0xff8003ff) == 0x910003ff ? at >> 10 & 0xfff : 0; /* add sp,sp,#N */
    if (added >= 16 && is_record_at(before, true, added))
        return (struct arch_code){ARCH_CODE_STUB, added, ARCH_RETURN_IN_LINK, false};
    return (struct arch_code){.kind = ARCH_CODE_UNKNOWN};
}

/* ldur x20 or x8,[x29,#-16]: the interpreter loads its stack pointer (templateInterpreterGenerator_aarch64.cpp,
 * generate_return_entry_for). */
bool arch_returns_to_java_interpreter(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    uint32_t word = read_instruction(code + ARCH_CODE_BEFORE);
    return word == 0xf85f03b4 || word == 0xf85f03a8;
}

/*
 * x86-64: the frames of code compiled by HotSpot, the JVM of OpenJDK. The code uses the frame pointer like any other
 * register (without -XX:+PreserveFramePointer). Each function has a frame of constant size, and begins in one of these
 * ways (macroAssembler_x86.cpp and c1_MacroAssembler_x86.cpp; JDK 8 to 23):
 *
 *     mov %eax,-N(%rsp)  push %rbp  sub $N,%rsp        a function that calls others: it first touches their stack pages
 *     sub $N,%rsp  mov %rbp,N-8(%rsp)                  a leaf; encodes N in four bytes always
 *     push %rbp  mov %rsp,%rbp                         with a frame pointer: stubs, the interpreter
 *
 * So the nearest prologue before a pc gives the frame size. The nearest prologue may belong to an earlier function if
 * the function of the pc begins in another way. Therefore the walker accepts a frame only if the slot of the return
 * address holds a possible return address.
 *
 * The interpreter and its stubs keep a frame pointer.
 */
#include "arch/arch.h"

enum { BANG = 7, PUSH = 1, SUB_SHORT = 4, SUB_LONG = 7, WORD = 8 };

static uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* Reads N of `sub $N,%rsp`. Returns 0 for other instructions, or if no frame has this size. */
static uint32_t read_frame_size(const unsigned char *at, bool may_be_short)
{
    uint32_t size = 0;
    if (may_be_short && memcmp(at, "\x48\x83\xec", 3) == 0)
        size = at[3];
    else if (memcmp(at, "\x48\x81\xec", 3) == 0)
        size = read_u32(at + 3);
    return size % WORD == 0 && size < ARCH_JAVA_FRAME_MAX ? size : 0;
}

/* mov %eax,-N(%rsp), push, sub */
static bool is_stack_probe(const unsigned char *at, uint32_t *size)
{
    if (memcmp(at, "\x89\x84\x24", 3) != 0 || read_u32(at + 3) < UINT32_C(0xff000000) || at[BANG] != 0x55)
        return false;
    *size = read_frame_size(at + BANG + PUSH, true);
    return *size != 0;
}

/* sub, mov %rbp,N-8(%rsp) */
static bool is_leaf_prologue(const unsigned char *at, uint32_t *size)
{
    *size = read_frame_size(at, false);
    if (*size < WORD)
        return false;
    const unsigned char *store = at + SUB_LONG;
    uint32_t slot = *size - WORD;
    if (memcmp(store, "\x48\x89\x2c\x24", 4) == 0)
        return slot == 0;
    if (memcmp(store, "\x48\x89\x6c\x24", 4) == 0)
        return slot == store[4];
    return memcmp(store, "\x48\x89\xac\x24", 4) == 0 && slot == read_u32(store + 4);
}

static bool keeps_frame_pointer(const unsigned char *at)
{
    return memcmp(at, "\x55\x48\x8b\xec", 4) == 0 || memcmp(at, "\x55\x48\x89\xe5", 4) == 0;
}

struct arch_code arch_find_java_function(const unsigned char *code, size_t size)
{
    struct arch_code unknown = {.kind = ARCH_CODE_UNKNOWN};
    for (size_t at = size < ARCH_JAVA_BEGINNING ? 0 : size - ARCH_JAVA_BEGINNING + 1; at-- > 0;) {
        uint32_t frame;
        if (keeps_frame_pointer(code + at))
            return unknown;
        if (is_stack_probe(code + at, &frame))
            return (struct arch_code){ARCH_CODE_STUB, frame + 2 * WORD, -1, true};
        if (is_leaf_prologue(code + at, &frame))
            return (struct arch_code){ARCH_CODE_STUB, frame + WORD, -1, true};
    }
    return unknown;
}

/* ---- the first and last instructions ---- */

/* A safepoint poll may follow the prologue (JDK 17: cmp, ja; 11: mov, test; 8: test). */
static size_t skip_poll(const unsigned char *at)
{
    if (memcmp(at, "\x49\x3b\xa7", 3) == 0 && memcmp(at + 7, "\x0f\x87", 2) == 0)
        return 13;
    if (memcmp(at, "\x0f\x87", 2) == 0)
        return 6;
    if (memcmp(at, "\x4d\x8b\x97", 3) == 0 && memcmp(at + 7, "\x41\x85\x02", 3) == 0)
        return 10;
    if (memcmp(at, "\x41\x85\x02", 3) == 0)
        return 3;
    return memcmp(at, "\x85\x05", 2) == 0 ? 6 : 0;
}

static bool is_epilogue(const unsigned char *at)
{
    at += skip_poll(at);
    return *at == 0xc3;
}

/* Whether the pc lies in a prologue; if so, fills `code` with the frame at the pc. */
static bool is_in_prologue(const unsigned char *at, struct arch_code *code)
{
    uint32_t frame;
    *code = (struct arch_code){ARCH_CODE_STUB, WORD, -1, false};
    if (is_stack_probe(at - BANG, &frame)) /* before the push */
        return true;
    if (is_leaf_prologue(at - SUB_LONG, &frame)) {
        code->cfa_offset = frame + WORD;
        return true;
    }
    if (!is_stack_probe(at - BANG - PUSH, &frame))
        return false;
    *code = (struct arch_code){ARCH_CODE_STUB, 2 * WORD, -1, true};
    return true;
}

struct arch_code arch_find_java_prologue_or_epilogue(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    const unsigned char *at = code + ARCH_CODE_BEFORE;
    struct arch_code found;
    uint32_t frame;
    if (is_in_prologue(at, &found))
        return found;
    if (*at == 0x5d && is_epilogue(at + 1)) /* pop %rbp */
        return (struct arch_code){ARCH_CODE_STUB, 2 * WORD, -1, true};
    if (is_epilogue(at))
        return (struct arch_code){ARCH_CODE_STUB, WORD, -1, false};
    /* The class check for virtual calls comes directly before the prologue. */
    for (size_t ahead = 0; ahead + ARCH_JAVA_BEGINNING <= ARCH_CODE_AFTER; ahead++)
        if (is_stack_probe(at + ahead, &frame) || is_leaf_prologue(at + ahead, &frame))
            return (struct arch_code){ARCH_CODE_STUB, WORD, -1, false};
    return (struct arch_code){.kind = ARCH_CODE_UNKNOWN};
}

/* mov last_sp(%rbp),%rsp; movq $0,last_sp(%rbp): the interpreter's return addresses lead to this code. */
bool arch_returns_to_java_interpreter(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    const unsigned char *at = code + ARCH_CODE_BEFORE;
    return memcmp(at, "\x48\x8b\x65", 3) == 0 && memcmp(at + 4, "\x48\xc7\x45", 3) == 0;
}

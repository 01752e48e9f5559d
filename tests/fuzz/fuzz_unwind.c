/*
 * Any bytes as an ELF file that is mapped, and walks through it. Each input makes few walks of few frames, so the
 * fuzzer can try many inputs: the last bytes of the file choose the start of the walks and the contents of the stack.
 */
#include "unwind/address_space.h"
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 4, WORDS = 16, WALKS = 2 };
#define MAPPED_AT UINT64_C(0x10000)
#define STACK_AT  UINT64_C(0x7ffc0000) /* where a 32-bit program can have it, too */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void walk_from(struct address_space *space, uint64_t pc, const uint64_t *words)
{
    struct unwind_regs regs = {0};
    uint64_t pcs[FRAMES_MAX];
    for (unsigned i = 0; i < UNWIND_REGS; i++)
        regs.r[i] = STACK_AT + i * 16;
    regs.r[UNWIND_REG_SP] = STACK_AT;
    regs.r[UNWIND_REG_PC] = pc;
    struct unwind_stack stack = {.sp = STACK_AT, .bytes = (const unsigned char *)words, .size = WORDS * sizeof(*words)};
    struct unwind_result result = unwind_walk(space, &regs, &stack, pcs, FRAMES_MAX);
    if (result.frames == 0 || result.frames > FRAMES_MAX || pcs[0] != pc)
        abort();
    for (size_t i = 1; i < result.frames; i++)
        if (!address_space_find(space, pcs[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct unwind_module *module;
    if (unwind_module_open_memory(&module, bytes, size, "fuzz", NULL))
        return 0;
    struct address_space space = {0};
    struct mapping mapping = {.start = MAPPED_AT, .end = MAPPED_AT + size, .module = module};
    if (!address_space_map(&space, &mapping))
        abort();
    unwind_module_unref(module);
    uint64_t words[WORDS], seed = 0;
    memcpy(&seed, bytes + size - sizeof(seed), sizeof(seed)); /* a module is longer than its header */
    for (size_t i = 0; i < WORDS; i++)
        words[i] = i % 2 ? MAPPED_AT + (seed >> (i % 16)) % size : STACK_AT + (i + 4) * 8;
    for (unsigned i = 0; i < WALKS; i++)
        walk_from(&space, MAPPED_AT + (seed >> (16 * i) & 0xffff) % size, words);
    address_space_destroy(&space);
    return 0;
}

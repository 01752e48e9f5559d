/*
 * Decodes one x86-64 instruction: its length, and for a few opcodes its effect. Intel's Software Developer's Manual,
 * volume 2, appendix A (opcode maps) and 2.1 to 2.7 (prefixes). Private to lib/arch.
 */
#pragma once

#include "base/standard.h"

/* Bytes. INSTRUCTION_SLACK: bytes after the start of an instruction that the decoder may read, even beyond the end of
 * the code. */
enum { INSTRUCTION_LENGTH_MAX = 15, INSTRUCTION_SLACK = 40 };

enum { REX_B = 1, REX_R = 4, REX_W = 8 };

/* Registers by their numbers in instructions. */
enum {
    REG_RAX = 0,
    REG_RCX = 1,
    REG_RDX = 2,
    REG_RBX = 3,
    REG_RSP = 4,
    REG_RBP = 5,
    REG_RSI = 6,
    REG_RDI = 7,
    REG_R11 = 11
};
enum { INSTRUCTION_REGISTERS = 16 };

struct instruction {
    unsigned length;
    uint8_t map; /* opcode map: 1, 2 after 0F, 3 after 0F 38, 4 after 0F 3A */
    bool is_vex, has_notrack, has_66, has_f3;
    uint8_t opcode, rex, modrm, sib; /* rex: also the bits of VEX and EVEX */
    uint8_t vex_register;            /* the operand in the prefix */
    int64_t displacement, constant;
};

/* Decodes the instruction at `code`. INSTRUCTION_SLACK bytes must be readable for any `size`. Returns false if the
 * bytes are no instruction, or an instruction longer than `size` bytes. */
bool instruction_decode(const unsigned char *code, size_t size, struct instruction *in);

/* Returns the bits of the registers that an instruction may change. Excludes the implied rsp of push, pop, call,
 * return, enter and leave, and the registers that pop and leave restore. */
unsigned instruction_get_written_registers(const struct instruction *in);

/* The two operands in the ModRM byte: the register reg, and rm, which is a register if instruction_is_register(). */
static inline unsigned instruction_get_reg(const struct instruction *in)
{
    return (in->modrm >> 3 & 7) | (in->rex & REX_R ? 8 : 0);
}

static inline unsigned instruction_get_rm(const struct instruction *in)
{
    return (in->modrm & 7) | (in->rex & REX_B ? 8 : 0);
}

static inline bool instruction_is_register(const struct instruction *in)
{
    return in->modrm >> 6 == 3;
}

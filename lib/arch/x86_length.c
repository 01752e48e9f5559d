/*
 * The installed disassembler may not know the instructions of newer processors. Decoding can continue after an unknown
 * instruction only if its length is known, which prefixes, opcode and ModRM byte determine.
 */
#include "arch/x86_length.h"
#include "arch/x86_instruction.h"

/* Whether a VEX or EVEX prefix is invalid, or is another instruction in 32-bit code. There, REX prefixes are
 * increments, and VEX and EVEX prefixes are loads, unless a ModRM byte with registers follows. */
static bool has_invalid_prefix(const unsigned char *code, bool is_64)
{
    while (*code && strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", *code))
        code++;
    bool has_rex = (*code & 0xf0) == 0x40;
    code += has_rex;
    bool is_evex = *code == 0x62, is_vex = is_evex || *code == 0xc4 || *code == 0xc5;
    if (is_evex && ((code[1] & 0x08) || !(code[2] & 0x04)))
        return true;
    return (has_rex && (is_vex || !is_64)) || (is_vex && !is_64 && (code[1] & 0xc0) != 0xc0);
}

size_t x86_find_length(const unsigned char *code, size_t size, bool is_64)
{
    enum { MAP_4 = 5, MAP_6 = 7 }; /* map 4 of EVEX has legacy instructions, maps 5 and 6 have half precision */
    unsigned char copy[INSTRUCTION_LENGTH_MAX + INSTRUCTION_SLACK] = {0};
    struct instruction in;
    if (size > INSTRUCTION_LENGTH_MAX)
        size = INSTRUCTION_LENGTH_MAX;
    memcpy(copy, code, size);
    if (has_invalid_prefix(copy, is_64) || !instruction_decode(copy, size, &in))
        return 0;
    return in.map > 1 && in.map != MAP_4 && in.map <= MAP_6 ? in.length : 0;
}

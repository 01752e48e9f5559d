/*
 * objdump disassembles x86 instructions that are newer than capstone. Debian 12's capstone knows neither AVX-512BW nor
 * FP16, to which the hottest instructions of numeric code belong. binutils, which comes with any compiler, is newer.
 *
 * objdump runs without a shell, on a copy of these instructions only, for at most 5 seconds. prof uses a line of the
 * output only if its address and length are those of a requested instruction.
 */
#pragma once

#include "symbol/decoder.h"

enum { OBJDUMP_MAX = 1 << 16 }; /* limit of instructions per call; further instructions get no text */

struct objdump_instruction {
    uint64_t address;
    const unsigned char *bytes;
    uint32_t size;
    /* out: texts as capstone writes them, in the syntaxes of the decoder; "" for an instruction that objdump does not
     * know */
    char texts[DECODER_SYNTAXES][INSTRUCTION_TEXT_MAX];
    bool has_memory; /* objdump printed a referenced address: see `memory` */
    uint64_t memory;
};

/* Fills the texts. Returns false if objdump is not installed or fails: all texts are empty then. */
bool objdump_decode(struct objdump_instruction *list, size_t count, bool is_64);

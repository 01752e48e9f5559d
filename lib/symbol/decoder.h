/*
 * Decodes machine code into text, one instruction at a time, with the address that each instruction refers to. Uses
 * capstone.
 */
#pragma once

#include "base/error.h"

enum { DECODER_SYNTAXES = 2, INSTRUCTION_TEXT_MAX = 256 };

enum reference_kind {
    REFERENCE_NONE,
    REFERENCE_JUMP,   /* a jump or call target */
    REFERENCE_MEMORY, /* an address that the instruction reads, writes or computes */
};

struct instruction {
    uint64_t address;
    uint32_t size;                                      /* bytes */
    char texts[DECODER_SYNTAXES][INSTRUCTION_TEXT_MAX]; /* instruction text, without the name of its reference */
    enum reference_kind reference;
    uint64_t target; /* the address that the instruction refers to, if it encodes an address */
    bool is_newer;   /* capstone does not know the instruction: its text is ".byte ..." */
};

/* How to decode bytes: the same bytes are different instructions in Thumb state. */
enum code_kind { CODE_PLAIN, CODE_THUMB, CODE_DATA };

struct decoder;

/* Opens a decoder for a machine of <elf.h> (EM_X86_64, EM_386, EM_AARCH64 or EM_ARM). Returns -ENOTSUP for other
 * machines. `base` is the vaddr of address 0 in decoder_next(), and is subtracted from absolute operands. */
int decoder_open(struct decoder **out, uint16_t machine, uint64_t base, struct error *err);
void decoder_close(struct decoder *decoder); /* accepts NULL */

/* "x86_64", "i686", "aarch64" or "arm". */
const char *decoder_get_architecture(const struct decoder *decoder);

/* "capstone 4.0" */
void decoder_write_name(char *name, size_t size);

/* Stores the names of the assembly syntaxes. Returns the number of syntaxes, which is also the number of texts per
 * instruction.
 */
size_t decoder_list_syntaxes(const struct decoder *decoder, const char *names[DECODER_SYNTAXES]);

/* Decodes the instruction at `code`, whose address is `address`. `size` is at least 1. Data and unknown instructions
 * become a ".byte" line, with a comment if the instruction is newer than capstone. */
void decoder_next(struct decoder *decoder, enum code_kind kind, const unsigned char *code, size_t size,
                  uint64_t address, struct instruction *out);

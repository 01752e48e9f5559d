/*
 * Machine code to text, one instruction at a time, and what the instruction refers to. On capstone.
 */
#ifndef PROF_SYMBOL_DECODER_H
#define PROF_SYMBOL_DECODER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECODER_SYNTAXES = 2, INSTRUCTION_TEXT_MAX = 256 };

enum reference_kind {
    REFERENCE_NONE,
    REFERENCE_JUMP,   /* it may go on there: a jump or a call */
    REFERENCE_MEMORY, /* it reads, writes or names that address */
};

struct instruction {
    uint64_t address;
    uint32_t size;                                      /* bytes */
    char texts[DECODER_SYNTAXES][INSTRUCTION_TEXT_MAX]; /* what it refers to is not in it */
    enum reference_kind reference;
    uint64_t target; /* the address that it refers to, if that stands in the code */
};

/* The same bytes are other instructions for a processor in another state. */
enum code_kind { CODE_PLAIN, CODE_THUMB, CODE_DATA };

struct decoder;

/* For a machine of <elf.h>: EM_X86_64, EM_386, EM_AARCH64 or EM_ARM; -ENOTSUP for any other. `base` is the difference
 * between addresses as absolute operands have them and addresses as decoder_next() is given them. */
int decoder_open(struct decoder **out, uint16_t machine, uint64_t base, struct error *err);
void decoder_close(struct decoder *decoder); /* NULL is allowed */

/* "x86_64", "i686", "aarch64" or "arm". */
const char *decoder_architecture(const struct decoder *decoder);

/* The names of the syntaxes, as many as instruction.texts are filled. */
size_t decoder_syntaxes(const struct decoder *decoder, const char *names[DECODER_SYNTAXES]);

/* Takes the instruction that begins at `code`, whose address is `address`. There must be at least one byte. What is
 * data or cannot be decoded is given as a line of ".byte", with a comment if it is an instruction newer than capstone.
 */
void decoder_next(struct decoder *decoder, enum code_kind kind, const unsigned char *code, size_t size,
                  uint64_t address, struct instruction *out);

#endif

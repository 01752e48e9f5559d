/*
 * Disassembles machine code of a library, and adds the symbols of call and jump targets.
 */
#pragma once

#include "symbol/debug_search.h"
#include "symbol/decoder.h"
#include "symbol/symbol.h"

/* Bytes of code per call; functions of real programs are smaller. */
enum { DISASSEMBLE_MAX = 1 << 20 };

struct disassemble_request {
    struct symbol_lib lib;
    const struct debug_search *search; /* where to search for a file that is not at its path, or NULL (nowhere) */
    uint64_t start;                    /* library-relative */
    uint64_t size;                     /* bytes, at most DISASSEMBLE_MAX */
    bool until_function_end;           /* continue to the end of the function that contains `start` */
};

struct disassembled {
    uint64_t offset; /* offset from `start` */
    const char *texts[DECODER_SYNTAXES];
};

struct disassembly {
    uint64_t start; /* library-relative address: the requested start, or the start of an instruction */
    uint64_t size;  /* bytes of all instructions; fewer than requested at the end of the code */
    const char *architecture;
    const char *syntaxes[DECODER_SYNTAXES];
    size_t syntax_count;
    ARRAY(struct disassembled) instructions;
    struct arena arena; /* all texts */
    char note[160];     /* a sentence about instructions that no installed disassembler knows, or "" */
};

/*
 * Disassembles `request` into `out`. Call disassembly_destroy() also after a failure. A jump or call shows its target
 * as a library-relative address and symbol: "call 0x1030 <memcpy@plt>", "jne 0x11f0 <main+0x40>". A memory operand
 * shows its address, and a GOT entry shows the symbol whose address it holds: "call qword ptr [rip + 0x2fe2] # 0x3fd8
 * <memcpy@got>".
 *
 * Instructions that are newer than capstone have objdump's text, if objdump is installed. `names` finds the symbols. A
 * symbolizer without inlines and lines is faster.
 *
 * -ENOENT if the file is missing, was replaced, or has no code at that address; -ENOTSUP for an unknown machine;
 * -E2BIG; -ENOMEM.
 */
int disassemble(struct disassembly *out, const struct disassemble_request *request, struct symbolizer *names,
                struct error *err);
void disassembly_destroy(struct disassembly *disassembly);

/*
 * The machine code of a library as text, with the names of what it calls and jumps to.
 */
#ifndef PROF_SYMBOL_DISASSEMBLE_H
#define PROF_SYMBOL_DISASSEMBLE_H

#include "symbol/debug_search.h"
#include "symbol/decoder.h"
#include "symbol/symbol.h"

/* Bytes of code that are taken at once; the largest functions of real programs have less. */
enum { DISASSEMBLE_MAX = 1 << 20 };

struct disassemble_request {
    struct symbol_lib lib;
    const struct debug_search *search; /* where the file may be, if not where it was; NULL: nowhere */
    uint64_t start;                    /* library-relative */
    uint64_t size;                     /* bytes, at most DISASSEMBLE_MAX */
    bool until_function_end;           /* go on to the end of the function that `start` is in, if that is further */
};

struct disassembled {
    uint64_t offset; /* from the start */
    const char *texts[DECODER_SYNTAXES];
};

struct disassembly {
    uint64_t start; /* library-relative: the request's, but even where instructions are */
    uint64_t size;  /* bytes that the instructions have together; less than asked where the code ends before */
    const char *architecture;
    const char *syntaxes[DECODER_SYNTAXES];
    size_t syntax_count;
    ARRAY(struct disassembled) instructions;
    struct arena arena; /* all texts */
};

/*
 * Disassembles `request` into `out`, to which disassembly_destroy() is owed in any case. Jumps and calls have their
 * target as a library-relative address, with its symbol behind it: "call 0x1030 <memcpy@plt>", "jne 0x11f0
 * <main+0x40>". What is read or called through memory has the address and, of an entry of the global offset table, what
 * is in it: "call qword ptr [rip + 0x2fe2] # 0x3fd8 <memcpy@got>".
 *
 * `names` looks up these symbols: one without inlines and lines does it faster.
 *
 * -ENOENT if the file is not there, is another one, or has no code at that address; -ENOTSUP for code of a machine that
 * is not known; -E2BIG; -ENOMEM.
 */
int disassemble(struct disassembly *out, const struct disassemble_request *request, struct symbolizer *names,
                struct error *err);
void disassembly_destroy(struct disassembly *disassembly);

#endif

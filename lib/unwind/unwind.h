/*
 * From registers and a copy of a stack to the list of callers.
 *
 * A `struct unwind_module` holds the call frame information of one ELF file; a `struct address_space` says which module
 * is mapped where in one process; unwind_walk() takes one sample and gives the pcs of its frames, leaf first.
 */
#ifndef PROF_UNWIND_UNWIND_H
#define PROF_UNWIND_UNWIND_H

#include "base/error.h"
#include "base/file_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by their DWARF numbers. x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8..15 r8..r15, 16
 * rip (System V psABI, figure 3.36). */
enum { UNWIND_REG_BP = 6, UNWIND_REG_SP = 7, UNWIND_REG_PC = 16, UNWIND_REGS = 17 };

struct unwind_regs {
    uint64_t r[UNWIND_REGS];
};

/* The stack of a sampled thread: `size` bytes copied from `sp` upward at the time of the sample, and where there is
 * one, a way to read what lies above the copy from the living process. */
struct unwind_stack {
    uint64_t sp;
    const unsigned char *bytes;
    size_t size;
    /* Copies `size` bytes at `address` of the process to `out`; returns false when that is not possible (any more).
     * Asked for a word at a time, rising with the frames: the reader does the buffering, because it knows where the
     * stack ends. Never asked for what is in the copy, nor for addresses below sp. May be NULL. */
    bool (*read_above)(void *context, uint64_t address, void *out, size_t size);
    /* The same for another stack: a thread of Go that runs on its system stack goes on in the goroutine's, which may be
     * anywhere. May be NULL. */
    bool (*read_off_copied_stack)(void *context, uint64_t address, void *out, size_t size);
    /* The same for code in memory that is no file's, which a compiler has put there. May be NULL. */
    bool (*read_code)(void *context, uint64_t address, void *out, size_t size);
    void *context;
};

/* How a walk ended. Only UNWIND_COMPLETE is a whole stack; unwind_ends says of each what it means. */
enum unwind_end {
    UNWIND_COMPLETE,
    UNWIND_STACK_SHORT,
    UNWIND_OFF_COPIED_STACK,
    UNWIND_NO_CFI,
    UNWIND_JIT_CODE,
    UNWIND_NO_FILE,
    UNWIND_NO_MODULE,
    UNWIND_DAMAGED,
    UNWIND_TOO_DEEP,
    UNWIND_32_BIT, /* the recorder's: such registers are not given to unwind_walk() */
};
enum { UNWIND_ENDS = UNWIND_32_BIT + 1 };

struct unwind_end_text {
    const char *key;    /* in spool files */
    const char *reason; /* for users; follows a number of stacks, in parentheses */
};
extern const struct unwind_end_text unwind_ends[UNWIND_ENDS];

struct unwind_result {
    size_t frames; /* how many pcs were written */
    enum unwind_end end;
    bool used_no_cfi;     /* some frame was found by its frame pointer or its code, because there was no CFI */
    bool used_read_above; /* some slot came from read_above or read_off_copied_stack */
};

struct address_space;

/*
 * Walks from `regs` to the start of the thread. pcs[0] is the interrupted pc itself; every later one points into the
 * call instruction (return address - 1), except the frame below a signal frame, which was interrupted too and is exact.
 * All but pcs[0] lie in a mapping. Never fails: a stack that does not reach its start says why in `end`. Not
 * thread-safe for one `space` (it has a pc cache), nor for two that share a module (which reads its CFI when it is
 * needed).
 */
struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs);

/* True if the thread has no user stack: execve has dropped the old program's memory, and the new one does not run yet.
 * Its registers are still those of the old program. */
bool unwind_has_no_user_stack(const struct unwind_regs *regs, const struct unwind_stack *stack);

/* ---- modules ---- */

struct unwind_module;

/* Reads the program headers of an ELF file that was mapped. The module keeps a reference to `file`, because it reads
 * the CFI when a walk needs it, which may be never; whether the file stays open meanwhile is the caller's decision. On
 * failure returns NULL with `err` filled: the caller maps the range with no module, and walks there fall back to the
 * frame pointer. */
struct unwind_module *unwind_module_open_file(struct file_source *file, struct error *err);

/* The same for an open descriptor, which is duplicated and stays open. `name` is for error texts. */
struct unwind_module *unwind_module_open(int fd, const char *name, struct error *err);

/* The same for an ELF image in memory (the vDSO), which is copied. */
struct unwind_module *unwind_module_from_memory(const void *image, size_t size, const char *name, struct error *err);

/* A module for code in memory that a compiler has made: `frames` are its .eh_frame, which is copied, with addresses as
 * if it stood behind the code, at the next multiple of 8. The code begins at vaddr `start`. NULL if they are not about
 * this code, or memory ran out. */
struct unwind_module *unwind_module_of_code(const void *frames, size_t frames_size, uint64_t start, uint64_t size,
                                            struct error *err);

/* Reference counting: one reference from open, one per mapping that uses it. */
struct unwind_module *unwind_module_ref(struct unwind_module *module);
void unwind_module_unref(struct unwind_module *module);

/* The link-time vaddr of the byte at `file_offset`, or UINT64_MAX if no PT_LOAD holds it. */
uint64_t unwind_module_vaddr(const struct unwind_module *module, uint64_t file_offset);

/* The vaddr of the first PT_LOAD: library-relative addresses (rva) count from it. */
uint64_t unwind_module_base(const struct unwind_module *module);

/* Copies the GNU build id, which tells whether a file is still the one that was mapped. Returns its size; 0 if there is
 * none. */
enum { UNWIND_BUILD_ID_MAX = 64 };
size_t unwind_module_build_id(struct unwind_module *module, unsigned char build_id[UNWIND_BUILD_ID_MAX]);

/* The function that holds `vaddr`, as far as the call frame information tells functions apart: its first address and
 * its size. False if no entry covers vaddr. Stripped files have it too. */
bool unwind_module_function(struct unwind_module *module, uint64_t vaddr, uint64_t *start, uint64_t *size);

#endif

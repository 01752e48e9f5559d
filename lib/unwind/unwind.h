/*
 * Walks stacks: from registers and a copy of a stack to the list of callers.
 *
 * A `struct unwind_module` has the call frame information (CFI) of one ELF file. A `struct address_space` has the
 * mappings of modules in one process. unwind_walk() takes one sample and writes the pcs of its frames, leaf first. It
 * also walks code without CFI: walk.c documents how it finds callers, and when a stack is complete.
 *
 * Threads. Nothing here locks. Only one thread at a time may use an address space or any module that is mapped in it:
 * a walk fills the pc cache of the space, and loads the CFI of modules when it needs it. Address spaces that share a
 * module (a library in two processes) count as one. There is no global state, so spaces without a common module may be
 * used at the same time. The recorder uses all of its spaces and modules on one thread.
 */
#pragma once

#include "arch/dwarf_registers.h"
#include "base/error.h"
#include "os/file_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the registers of a waiting thread, of which the kernel reports sp, pc and the arguments of its system call.
 * `arguments`: six, or NULL outside of a system call. */
void unwind_regs_of_waiting(struct unwind_regs *regs, uint64_t sp, uint64_t pc, const uint64_t *arguments);

/* How far below sp a leaf may keep words (System V psABI, 3.2.2: the red zone). */
enum { UNWIND_BELOW_SP = 128 };

/* The stack of a sampled thread: `size` bytes copied from `sp` upward at the time of the sample. The functions read
 * other memory of the process while it runs; unwind_walk() calls them on its own thread. */
struct unwind_stack {
    uint64_t sp;
    const unsigned char *bytes;
    size_t size;
    size_t below; /* copied bytes before `bytes`, from below sp; 0 for perf's samples */
    /* Copies `size` bytes at `address` of the process to `out`; returns false on failure. The walker requests single
     * words at ascending addresses above the copy, so the reader should buffer. May be NULL. */
    bool (*read_above)(void *context, uint64_t address, void *out, size_t size);
    /* The same for another stack at any address: the stack interrupted by a signal handler on an alternate stack, a
     * goroutine's stack below Go's system stack, the C stack of a Lisp. May be NULL. */
    bool (*read_off_copied_stack)(void *context, uint64_t address, void *out, size_t size);
    /* The same for the UNWIND_BELOW_SP bytes below sp. The result counts only if it leads to a caller. May be NULL. */
    bool (*read_below)(void *context, uint64_t address, void *out, size_t size);
    /* The same for JIT code. May be NULL. */
    bool (*read_code)(void *context, uint64_t address, void *out, size_t size);
    void *context;
    uint64_t *sps; /* receives the stack pointer of each frame, parallel to pcs. May be NULL */
};

/* How a walk ended. Only UNWIND_COMPLETE is a whole stack; unwind_ends describes the others. */
enum unwind_end {
    UNWIND_COMPLETE,
    UNWIND_STACK_SHORT,
    UNWIND_OFF_COPIED_STACK,
    UNWIND_NO_STACK,
    UNWIND_NO_CFI,
    UNWIND_JIT_CODE,
    UNWIND_NO_FILE,
    UNWIND_NO_MODULE,
    UNWIND_DAMAGED,
    UNWIND_TOO_DEEP,
    UNWIND_TOO_COSTLY,
    UNWIND_SAVED_BELOW,
    UNWIND_HASKELL,
    UNWIND_CHAIN_SHORT, /* only perf.data readers set this and the next one */
    UNWIND_NO_CALL_GRAPH,
    UNWIND_NO_MEMORY,
};
enum { UNWIND_ENDS = UNWIND_NO_MEMORY + 1 };

struct unwind_end_text {
    const char *key;    /* in spool files */
    const char *reason; /* for users; follows a number of stacks, in parentheses */
};
extern const struct unwind_end_text unwind_ends[UNWIND_ENDS];

/* If a stack has more frames than fit, frames from its middle are dropped. Between them, one pc contains the number of
 * omitted frames (unwind_omitted()). */
enum { UNWIND_DEPTH_MAX = 32768 }; /* frames of one walk, missing ones included: 10 ns each */

static inline uint64_t unwind_omitted(uint64_t frames)
{
    return UINT64_C(1) << 61 | frames;
}

/* Returns the number of frames for which this pc stands; 0 if it is an address. */
static inline uint64_t unwind_omitted_frames(uint64_t pc)
{
    return pc >> 61 == 1 ? pc & UINT32_MAX : 0;
}

struct unwind_result {
    size_t frames; /* number of written pcs */
    enum unwind_end end;
    bool used_no_cfi;     /* some caller was found without CFI, by frame pointer or by reading code */
    bool used_read_above; /* some word came from read_above or read_off_copied_stack */
    uint64_t unmapped;    /* first caller address outside of all mappings; 0: none */
};

struct address_space;

/*
 * Walks from `regs` to the start of the thread and writes up to `max_pcs` pcs. pcs[0] is the interrupted pc itself.
 * Each later one points into a call instruction (return address - 1), except the exact pcs of a signal trampoline and
 * of the frame that the signal interrupted. In a system call that is the last instruction of its function, pcs[0] is
 * the pc of this instruction. All pcs except pcs[0] are in a mapping. If the stack has more than `max_pcs` frames, one
 * pc stands for the omitted ones (unwind_omitted). Never fails: `end` has the reason if a walk did not reach the start.
 */
struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs);

/* Whether the thread has no user stack: execve has dropped the old program's memory, and the new one does not run yet.
 * The registers are still those of the old program. */
bool unwind_has_no_user_stack(const struct unwind_regs *regs, const struct unwind_stack *stack);

/* ---- modules ---- */

struct unwind_module;

/* Reads the program headers of a mapped ELF file. The module keeps a reference to `file`, and reads CFI and code when a
 * walk needs them. The caller decides whether the file stays open. After a failure the caller maps the range without a
 * module, and walks follow the frame pointer there. */
int unwind_module_open_file(struct unwind_module **out, struct file_source *file, struct error *err);

/* The same for an open descriptor, which is duplicated and stays open. `name`: for error messages. */
int unwind_module_open(struct unwind_module **out, int fd, const char *name, struct error *err);

/* The same for an ELF image in memory (the vDSO), which is copied. */
int unwind_module_from_memory(struct unwind_module **out, const void *image, size_t size, const char *name,
                              struct error *err);

/* Creates a module for JIT code at vaddr `start`, with its .eh_frame from a jitdump file. Copies `frames`, whose
 * addresses assume that it follows the code, at the next multiple of 8. Fails if `frames` does not describe this
 * code. */
int unwind_module_of_code(struct unwind_module **out, const void *frames, size_t frames_size, uint64_t start,
                          uint64_t size, struct error *err);

/* Reads all CFI of the module at once, for a file that cannot be reopened once its descriptor is closed. Accepts
 * NULL. */
void unwind_module_load(struct unwind_module *module);

/* Reference counting: one reference from open, one per mapping that uses it. */
struct unwind_module *unwind_module_ref(struct unwind_module *module);
void unwind_module_unref(struct unwind_module *module);

/* Returns the link-time vaddr of the byte at `file_offset`; UINT64_MAX if it is in no PT_LOAD. */
uint64_t unwind_module_vaddr(const struct unwind_module *module, uint64_t file_offset);

/* The vaddr of the first PT_LOAD: library-relative addresses (rva) count from it. */
uint64_t unwind_module_base(const struct unwind_module *module);

/* Copies the GNU build id, which identifies the mapped file. Returns its size in bytes; 0: none. */
enum { UNWIND_BUILD_ID_MAX = 64 };
size_t unwind_module_build_id(struct unwind_module *module, unsigned char build_id[UNWIND_BUILD_ID_MAX]);

/* Finds the function at `vaddr` by its FDE: first address and size in bytes. Returns false if no FDE covers vaddr. Also
 * works for stripped files. */
bool unwind_module_function(struct unwind_module *module, uint64_t vaddr, uint64_t *start, uint64_t *size);

/*
 * From registers and a copy of a stack to the list of callers.
 *
 * A `struct unwind_module` holds the call frame information (CFI) of one ELF file. A `struct address_space` says which
 * module is mapped where in one process. unwind_walk() takes one sample and writes the pcs of its frames, leaf first.
 * Code without CFI is no obstacle: walk.c says how the walker finds callers, and when it calls a stack complete.
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

/* The registers of a thread that waits, of which the kernel reports sp, pc and the arguments of the system call that it
 * is in. `arguments`: six, or NULL outside of a system call. */
void unwind_regs_of_waiting(struct unwind_regs *regs, uint64_t sp, uint64_t pc, const uint64_t *arguments);

/* How far below sp a leaf may keep words (System V psABI, 3.2.2: the red zone). */
enum { UNWIND_BELOW_SP = 128 };

/* The stack of a sampled thread: `size` bytes copied from `sp` upward at the time of the sample. The functions read
 * other memory of the process while it runs; unwind_walk() calls them on its own thread. */
struct unwind_stack {
    uint64_t sp;
    const unsigned char *bytes;
    size_t size;
    size_t below; /* bytes in front of `bytes` that were copied as well, from below sp: 0 of perf's samples */
    /* Copies `size` bytes at `address` of the process to `out`; returns false if it cannot. The walker asks for a word
     * at a time, at ascending addresses above the copy: the reader buffers, because it knows where the stack ends. May
     * be NULL. */
    bool (*read_above)(void *context, uint64_t address, void *out, size_t size);
    /* The same for another stack, which may be anywhere: the one that a signal handler on an alternate stack has
     * interrupted, the goroutine's below Go's system stack, the C stack of a Lisp. May be NULL. */
    bool (*read_off_copied_stack)(void *context, uint64_t address, void *out, size_t size);
    /* The same for the UNWIND_BELOW_SP bytes below sp. What it finds counts only if it leads to a caller. May be NULL.
     */
    bool (*read_below)(void *context, uint64_t address, void *out, size_t size);
    /* The same for JIT code. May be NULL. */
    bool (*read_code)(void *context, uint64_t address, void *out, size_t size);
    void *context;
    uint64_t *sps; /* set to the stack pointer in each frame of the walk, as many as pcs. May be NULL */
};

/* How a walk ended. Only UNWIND_COMPLETE is a whole stack; unwind_ends says what each means. */
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

/* A stack with more frames than fit keeps its leaf and its root. Between them, one pc is no address but the number of
 * missing frames (unwind_omitted()). */
enum { UNWIND_DEPTH_MAX = 32768 }; /* frames of one walk, missing ones included: 10 ns each */

static inline uint64_t unwind_omitted(uint64_t frames)
{
    return UINT64_C(1) << 61 | frames;
}

/* How many frames this pc stands for; 0 if it is an address. */
static inline uint64_t unwind_omitted_frames(uint64_t pc)
{
    return pc >> 61 == 1 ? pc & UINT32_MAX : 0;
}

struct unwind_result {
    size_t frames; /* how many pcs were written */
    enum unwind_end end;
    bool used_no_cfi;     /* some caller was found by frame pointer or by reading code, because there was no CFI */
    bool used_read_above; /* some word came from read_above or read_off_copied_stack */
    uint64_t unmapped;    /* the first address of a caller that is in no mapping; 0: none */
};

struct address_space;

/*
 * Walks from `regs` to the start of the thread and writes up to `max_pcs` pcs. pcs[0] is the interrupted pc itself.
 * Each later one points into a call instruction (return address - 1). Exact are the pcs of a signal trampoline and of
 * the frame that the signal has interrupted. In a system call that is the last instruction of its function, pcs[0] is
 * the pc of this instruction. All but pcs[0] lie in a mapping. Where more than `max_pcs`
 * frames were found, one pc stands for those missing (unwind_omitted). Never fails: `end` says why a walk did not reach
 * the start.
 */
struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs);

/* Returns whether the thread has no user stack: execve has dropped the old program's memory, and the new one does not
 * run yet. Its registers are still those of the old program. */
bool unwind_has_no_user_stack(const struct unwind_regs *regs, const struct unwind_stack *stack);

/* ---- modules ---- */

struct unwind_module;

/* Reads the program headers of an ELF file that was mapped. The module keeps a reference to `file`, because it reads
 * the CFI and the code when a walk needs them, which may be never. The caller decides whether the file stays open
 * meanwhile. After a failure the caller maps the range without a module, and walks follow the frame pointer there. */
int unwind_module_open_file(struct unwind_module **out, struct file_source *file, struct error *err);

/* The same for an open descriptor, which is duplicated and stays open. `name` is for error texts. */
int unwind_module_open(struct unwind_module **out, int fd, const char *name, struct error *err);

/* The same for an ELF image in memory (the vDSO), which is copied. */
int unwind_module_from_memory(struct unwind_module **out, const void *image, size_t size, const char *name,
                              struct error *err);

/* A module for JIT code at vaddr `start`, with the .eh_frame that a jitdump file has for it. `frames` is copied. Its
 * addresses are as if it followed the code, at the next multiple of 8. Fails if `frames` does not describe this code.
 */
int unwind_module_of_code(struct unwind_module **out, const void *frames, size_t frames_size, uint64_t start,
                          uint64_t size, struct error *err);

/* Reads all of the module's CFI at once, for a file that cannot be opened again once its descriptor is closed. NULL is
 * allowed. */
void unwind_module_load(struct unwind_module *module);

/* Reference counting: one reference from open, one per mapping that uses it. */
struct unwind_module *unwind_module_ref(struct unwind_module *module);
void unwind_module_unref(struct unwind_module *module);

/* The link-time vaddr of the byte at `file_offset`, or UINT64_MAX if no PT_LOAD holds it. */
uint64_t unwind_module_vaddr(const struct unwind_module *module, uint64_t file_offset);

/* The vaddr of the first PT_LOAD: library-relative addresses (rva) count from it. */
uint64_t unwind_module_base(const struct unwind_module *module);

/* Copies the GNU build id, which tells whether a file is still the one that was mapped. Returns its size in bytes, 0 if
 * there is none. */
enum { UNWIND_BUILD_ID_MAX = 64 };
size_t unwind_module_build_id(struct unwind_module *module, unsigned char build_id[UNWIND_BUILD_ID_MAX]);

/* Finds the function that holds `vaddr`, as far as CFI tells functions apart: its first address and its size in bytes.
 * Returns false if no FDE covers vaddr. Works for stripped files, too. */
bool unwind_module_function(struct unwind_module *module, uint64_t vaddr, uint64_t *start, uint64_t *size);

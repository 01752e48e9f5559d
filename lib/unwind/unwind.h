/*
 * Walks stacks: from registers and a copy of a stack to the list of callers.
 *
 * A `struct unwind_module` has the call frame information (CFI) of one ELF file. A `struct address_space` has the
 * mappings of modules in one process. unwind_walk() walks the stack of one sample and writes the pcs of its frames,
 * leaf first. The walker also walks code without CFI: walk.c documents how the walker finds callers, and when a stack
 * is complete.
 *
 * Threads. Nothing here locks. Only one thread at a time may use an address space or any module that is mapped in it: a
 * walk fills the pc cache of the space, and loads the CFI of modules when the walk needs CFI. Address spaces that share
 * a module (a library in two processes) must be used by one thread at a time. Threads may use address spaces without a
 * common module at the same time, because the unwinder has no global state. The recorder uses all of its spaces and
 * modules on one thread.
 */
#pragma once

#include "arch/dwarf_registers.h"
#include "base/error.h"
#include "os/file_source.h"

/* Sets the known registers of a waiting thread: the kernel reports only sp, pc and the six arguments of its system
 * call. `arguments` is NULL outside of a system call. */
void unwind_regs_fill_waiting(struct unwind_regs *regs, uint64_t sp, uint64_t pc, const uint64_t *arguments);

/* Bytes below sp in which a leaf function may keep words (the red zone: System V psABI, 3.2.2). */
enum { UNWIND_BELOW_SP = 128 };

/* The stack of a sampled thread: `size` bytes copied from `sp` upward at the time of the sample. The functions read
 * other memory of the process while it runs; unwind_walk() calls them on its own thread. */
struct unwind_stack {
    uint64_t sp;
    const unsigned char *bytes;
    size_t size;
    size_t below; /* copied bytes from below sp, which precede `bytes`, or 0 for perf's samples */
    /* Copies `size` bytes at `address` of the process to `out`; returns false on failure. Reads memory above the copy.
     * The walker requests single words at ascending addresses, so the callback should buffer. May be NULL. */
    bool (*read_above)(void *context, uint64_t address, void *out, size_t size);
    /* Reads another stack at any address: the stack that a signal handler on an alternate stack interrupted, a
     * goroutine's stack below Go's system stack, the C stack of a Lisp. May be NULL. */
    bool (*read_off_copied_stack)(void *context, uint64_t address, void *out, size_t size);
    /* Reads the UNWIND_BELOW_SP bytes below sp. The walker uses a word from there only if it leads to a caller. May be
     * NULL. */
    bool (*read_below)(void *context, uint64_t address, void *out, size_t size);
    /* Reads JIT code. May be NULL. */
    bool (*read_code)(void *context, uint64_t address, void *out, size_t size);
    void *context;
    uint64_t *sps; /* output: the stack pointer of each frame, parallel to `pcs`. May be NULL */
};

/* The reason why a walk ended. Only UNWIND_COMPLETE is a whole stack; unwind_ends describes the others. */
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
    UNWIND_CHAIN_SHORT, /* set only by readers of perf.data, like UNWIND_NO_MEMORY */
    UNWIND_NO_CALL_GRAPH,
    UNWIND_NO_MEMORY,
};
enum { UNWIND_ENDS = UNWIND_NO_MEMORY + 1 };

struct unwind_end_text {
    const char *key;    /* name of the reason in spool files */
    const char *reason; /* text for users, in parentheses after a number of stacks */
};
extern const struct unwind_end_text unwind_ends[UNWIND_ENDS];

/* If a stack has more frames than fit, frames from its middle are dropped. One pc in the middle then encodes the number
 * of omitted frames (unwind_encode_omitted()). */
enum { UNWIND_DEPTH_MAX = 32768 }; /* limit of frames of one walk, including omitted frames: 10 ns each */

static inline uint64_t unwind_encode_omitted(uint64_t frames)
{
    return UINT64_C(1) << 61 | frames;
}

/* Returns the number of frames for which this pc stands, or 0 if the pc is an address. */
static inline uint64_t unwind_decode_omitted(uint64_t pc)
{
    return pc >> 61 == 1 ? pc & UINT32_MAX : 0;
}

struct unwind_result {
    size_t frames; /* number of written pcs */
    enum unwind_end end;
    bool used_no_cfi;     /* the walk found some caller without CFI, by frame pointer or by reading code */
    bool used_read_above; /* the walk used a word from read_above or read_off_copied_stack */
    uint64_t unmapped;    /* first caller address outside of all mappings, or 0 */
};

struct address_space;

/*
 * Walks from `regs` to the start of the thread and writes up to `max_pcs` pcs. pcs[0] is the interrupted pc itself.
 * Each later pc points into a call instruction (return address - 1), except the exact pcs of a signal trampoline and of
 * the frame that a signal interrupted. In a system call that is the last instruction of its function, pcs[0] is the pc
 * of this instruction. All pcs except pcs[0] are in a mapping. If the stack has more than `max_pcs` frames, one pc
 * stands for the omitted frames (unwind_omitted). Never fails: `end` has the reason if the walk did not reach the start
 * of the thread.
 */
struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs);

/* Whether the thread has no user stack, because the thread is inside execve. The kernel has dropped the old program's
 * memory, the new program does not run yet, and the registers still belong to the old program. */
bool unwind_has_no_user_stack(const struct unwind_regs *regs, const struct unwind_stack *stack);

/* ---- modules ---- */

struct unwind_module;

/* Reads the program headers of a mapped ELF file. The module keeps a reference to `file`, and reads CFI and code when a
 * walk needs them. The caller decides whether the file stays open. After a failure the caller maps the range without a
 * module, and walks follow the frame pointer there. */
int unwind_module_open_file(struct unwind_module **out, struct file_source *file, struct error *err);

/* Creates a module from an open descriptor, which this function duplicates and does not close. Error messages contain
 * `name`. */
int unwind_module_open(struct unwind_module **out, int fd, const char *name, struct error *err);

/* Creates a module from an ELF image in memory (the vDSO), which this function copies. */
int unwind_module_open_memory(struct unwind_module **out, const void *image, size_t size, const char *name,
                              struct error *err);

/* Creates a module for JIT code at vaddr `start`, with its .eh_frame from a jitdump file. Copies `frames`. Addresses in
 * `frames` assume that the section is mapped after the code, at the next multiple of 8. Fails if `frames` does not
 * describe this code. */
int unwind_module_open_jit_code(struct unwind_module **out, const void *frames, size_t frames_size, uint64_t start,
                                uint64_t size, struct error *err);

/* Reads all CFI of the module into memory, for a file that cannot be reopened after its descriptor is closed. Accepts
 * NULL. */
void unwind_module_load(struct unwind_module *module);

/* The creator has one reference to a module, and each mapping of the module has one reference. */
struct unwind_module *unwind_module_ref(struct unwind_module *module);
void unwind_module_unref(struct unwind_module *module);

/* Returns the link-time vaddr of the byte at `file_offset`; returns UINT64_MAX if no PT_LOAD contains the offset. */
uint64_t unwind_module_find_vaddr(const struct unwind_module *module, uint64_t file_offset);

/* Returns the vaddr of the first PT_LOAD, from which library-relative addresses (rva) count. */
uint64_t unwind_module_get_base(const struct unwind_module *module);

/* Copies the GNU build id, which identifies the mapped file. Returns the size of the build id in bytes, or 0. */
enum { UNWIND_BUILD_ID_MAX = 64 };
size_t unwind_module_copy_build_id(struct unwind_module *module, unsigned char build_id[UNWIND_BUILD_ID_MAX]);

/* Finds the function at `vaddr` by its FDE: first address and size in bytes. Returns false if no FDE covers vaddr.
 * Stripped files have FDEs, too. */
bool unwind_module_find_function(struct unwind_module *module, uint64_t vaddr, uint64_t *start, uint64_t *size);

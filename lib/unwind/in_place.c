#include "unwind/in_place.h"

#include "os/clock.h"
#include "os/late_library.h"
#include "os/target_memory.h"
#include "unwind/address_space.h"

#include <libunwind-ptrace.h>

enum {
    WALKS_PER_SECOND = 200,
    TIME_SHARE = 100, /* walks take at most 1/TIME_SHARE of the time since the first walk */
};
static const uint64_t longest_walk = SECOND / 200, first_time = SECOND / 50; /* ns */

/* libunwind's function names are macros for the names of the architecture, and must expand before they become field
 * names. */
#define EXPANDED_FUNCTION(name) LATE_FUNCTION(name)
#define EXPANDED_SYMBOL(name)   LATE_SYMBOL(name)
#define UNWIND_FUNCTIONS(use)                                                                                          \
    use(unw_create_addr_space) use(unw_destroy_addr_space) use(unw_set_caching_policy) use(unw_flush_cache)            \
        use(unw_init_remote) use(unw_step) use(unw_get_reg) use(unw_is_signal_frame)
#define PTRACE_FUNCTIONS(use) use(_UPT_accessors) use(_UPT_create) use(_UPT_destroy)

struct in_place_walker {
    struct {
        UNWIND_FUNCTIONS(EXPANDED_FUNCTION)
    } libunwind;
    struct {
        PTRACE_FUNCTIONS(LATE_FUNCTION)
    } libunwind_ptrace;
    unw_addr_space_t space;
    uint32_t program;           /* program whose rules libunwind has cached */
    uint64_t flushed;           /* ns: last flush of the cache */
    uint64_t first_walk, spent; /* ns */
    uint64_t second;            /* the second to which `walks` belongs */
    uint32_t walks;
};

/* Debian's libunwind-ptrace lacks dependency entries for libunwind itself, and for liblzma, which is part of prof. */
static bool load_libunwind(struct in_place_walker *walker)
{
    static const struct late_symbol symbols[] = {UNWIND_FUNCTIONS(EXPANDED_SYMBOL)};
    static const struct late_symbol ptrace_symbols[] = {PTRACE_FUNCTIONS(LATE_SYMBOL)};
    static const char library[] = "libunwind-" ARCH_NAME ".so.8";
    return late_library_load_for_others(library) &&
           late_library_load(library, symbols, sizeof(symbols) / sizeof(*symbols), &walker->libunwind) &&
           late_library_load("libunwind-ptrace.so.0", ptrace_symbols, sizeof(ptrace_symbols) / sizeof(*ptrace_symbols),
                             &walker->libunwind_ptrace);
}

static _Thread_local struct target_thread walked;

/* Reads target memory for libunwind. libunwind-ptrace's own function uses PTRACE_PEEKDATA, which may never return. */
static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int is_write, void *context)
{
    (void)space, (void)context;
    return !is_write && target_memory_read(walked, address, value, sizeof(*value)) == sizeof(*value) ? 0 : -UNW_EINVAL;
}

struct in_place_walker *in_place_walker_new(void)
{
    struct in_place_walker *walker = calloc(1, sizeof(*walker));
    if (!walker)
        return NULL;
    if (load_libunwind(walker)) {
        walker->libunwind_ptrace._UPT_accessors->access_mem = access_memory;
        walker->space = walker->libunwind.unw_create_addr_space(walker->libunwind_ptrace._UPT_accessors, 0);
    }
    if (!walker->space) {
        free(walker);
        return NULL;
    }
    walker->libunwind.unw_set_caching_policy(walker->space, UNW_CACHE_GLOBAL);
    return walker;
}

void in_place_walker_free(struct in_place_walker *walker)
{
    if (walker)
        walker->libunwind.unw_destroy_addr_space(walker->space);
    free(walker);
}

static bool has_time_left(struct in_place_walker *walker, uint64_t now)
{
    if (!walker->first_walk)
        walker->first_walk = now;
    if (walker->second != now / SECOND) {
        walker->second = now / SECOND;
        walker->walks = 0;
    }
    return walker->walks < WALKS_PER_SECOND && walker->spent < first_time + (now - walker->first_walk) / TIME_SHARE;
}

/* Flushes libunwind's cache when the program changes, and every second, because its rules by address ignore changed
 * mappings. */
static void flush_stale_cache(struct in_place_walker *walker, uint32_t program, uint64_t now)
{
    if (walker->program == program && now < walker->flushed + SECOND)
        return;
    walker->libunwind.unw_flush_cache(walker->space, 0, 0);
    walker->program = program;
    walker->flushed = now;
}

/* Reads a register by its DWARF number, which libunwind also uses. */
static bool read_registers(const struct in_place_walker *walker, unw_cursor_t *cursor, struct unwind_regs *regs)
{
    *regs = (struct unwind_regs){0};
    for (int i = 0; i < UNWIND_REGS; i++) {
        unw_word_t value = 0;
        if (walker->libunwind.unw_get_reg(cursor, i, &value) && (i == UNWIND_REG_PC || i == UNWIND_REG_SP))
            return false;
        regs->r[i] = value;
    }
    return true;
}

/* Whether prof's own rules end a walk at this frame, without reading the stack. */
static bool is_thread_start(struct address_space *space, const struct unwind_regs *regs)
{
    uint64_t pcs[2];
    struct unwind_stack nothing = {.sp = regs->r[UNWIND_REG_SP]};
    struct unwind_result result = unwind_walk(space, regs, &nothing, pcs, 2);
    return result.end == UNWIND_COMPLETE && result.frames == 1;
}

static size_t walk_stack(struct in_place_walker *walker, const struct in_place_thread *thread, void *context,
                         uint64_t deadline, uint64_t *pcs, size_t max)
{
    unw_cursor_t cursor;
    struct unwind_regs regs;
    size_t count = 0;
    if (walker->libunwind.unw_init_remote(&cursor, walker->space, context) < 0)
        return 0;
    bool exact = true;
    do {
        if (!read_registers(walker, &cursor, &regs) || !address_space_find(thread->space, regs.r[UNWIND_REG_PC]))
            return 0;
        bool is_trampoline = walker->libunwind.unw_is_signal_frame(&cursor) > 0;
        pcs[count++] = regs.r[UNWIND_REG_PC] - (exact || is_trampoline ? 0 : 1);
        if (is_thread_start(thread->space, &regs))
            return count;
        exact = is_trampoline;
    } while (count < max && monotonic_ns() < deadline && walker->libunwind.unw_step(&cursor) > 0);
    return 0;
}

size_t in_place_walk(struct in_place_walker *walker, const struct in_place_thread *thread, uint64_t *pcs, size_t max)
{
    uint64_t start = monotonic_ns();
    if (!has_time_left(walker, start))
        return 0;
    void *context = walker->libunwind_ptrace._UPT_create(thread->tid);
    if (!context)
        return 0;
    flush_stale_cache(walker, thread->program, start);
    walked = (struct target_thread){(uint32_t)thread->pid, (uint32_t)thread->tid};
    size_t count = walk_stack(walker, thread, context, start + longest_walk, pcs, max);
    walker->libunwind_ptrace._UPT_destroy(context);
    walker->walks++;
    walker->spent += monotonic_ns() - start;
    return count;
}

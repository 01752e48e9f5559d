/*
 * The C library's own code around system calls: the first moments of a thread, where it has no CFI; vfork, which keeps
 * its return address in a register; and the sigreturn trampoline, which ends with its system call.
 */
#include "support/c_library.h"
#include "unwind/address_space.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct c_library library;
    struct address_space space;
};

enum { REG_AX = 0 };

static int map_c_library(void **state)
{
    static struct fixture fixture;
    struct c_library *library = &fixture.library;
    if (!c_library_find(library))
        return -1;
    int fd = open(library->path, O_RDONLY);
    struct unwind_module *module;
    int code = unwind_module_open(&module, fd, library->path, NULL);
    close(fd);
    if (code)
        return -1;
    struct mapping mapping = {.start = (uint64_t)(uintptr_t)library->start,
                              .end = (uint64_t)(uintptr_t)library->end,
                              .rva = (uint64_t)(uintptr_t)library->start - library->load_address,
                              .module = module};
    bool mapped = address_space_map(&fixture.space, &mapping);
    unwind_module_unref(module);
    *state = &fixture;
    return mapped ? 0 : -1;
}

static int unmap(void **state)
{
    struct fixture *fixture = *state;
    address_space_destroy(&fixture->space);
    return 0;
}

/* The next code after `from` that begins with a system call and asks whether its result is below 0, or 0: clone and
 * clone3. Returns the place after the system call. */
static const unsigned char *find_clone(const struct c_library *library, const unsigned char *from)
{
    static const unsigned char call[] = {0x0f, 0x05, 0x48, 0x85, 0xc0};
    for (;;) {
        const unsigned char *at = memmem(from, (size_t)(library->end - from), call, sizeof(call));
        if (!at)
            return NULL;
        from = at + sizeof(call);
        if ((at[5] == 0x7c && at[7] == 0x74) || (at[5] == 0x0f && at[6] == 0x8c && at[11] == 0x74))
            return at + 2;
    }
}

/* Walks from `pc` with the system call's result and one word on the stack. */
static struct unwind_result walk_from(struct fixture *fixture, const unsigned char *pc, uint64_t result,
                                      uint64_t top_of_stack, uint64_t *pcs, size_t max)
{
    struct unwind_regs regs = {{0}};
    regs.r[REG_AX] = result;
    regs.r[UNWIND_REG_SP] = 0x7ffe0000;
    regs.r[UNWIND_REG_BP] = 0x12345; /* nothing to follow */
    regs.r[UNWIND_REG_PC] = (uint64_t)(uintptr_t)pc;
    struct unwind_stack stack = {
        .sp = regs.r[UNWIND_REG_SP], .bytes = (const unsigned char *)&top_of_stack, .size = sizeof(top_of_stack)};
    return unwind_walk(&fixture->space, &regs, &stack, pcs, max);
}

/* test, jl, je: 3 bytes, 2 or 6, 2. */
static size_t instruction_offsets(const unsigned char *after_call, size_t *offsets)
{
    offsets[0] = 0;
    offsets[1] = 3;
    offsets[2] = after_call[3] == 0x7c ? 5 : 9;
    return 3;
}

static void test_a_new_thread_begins_after_the_system_call(void **state)
{
    struct fixture *fixture = *state;
    size_t found = 0;
    for (const unsigned char *at = find_clone(&fixture->library, fixture->library.start); at;
         at = find_clone(&fixture->library, at)) {
        size_t offsets[3], count = instruction_offsets(at, offsets);
        for (size_t i = 0; i < count; i++) {
            uint64_t pcs[8];
            struct unwind_result result = walk_from(fixture, at + offsets[i], 0, 0xdead, pcs, 8);
            assert_int_equal(result.end, UNWIND_COMPLETE);
            assert_int_equal(result.frames, 1);
        }
        found++;
    }
    assert_true(found >= 1);
}

static void test_the_old_thread_has_its_caller_there(void **state)
{
    struct fixture *fixture = *state;
    const unsigned char *at = find_clone(&fixture->library, fixture->library.start);
    assert_non_null(at);
    /* Where the new thread would begin has CFI without a caller, so it will do as a caller's address. */
    uint64_t caller = (uint64_t)(uintptr_t)at + (at[3] == 0x7c ? 7 : 11) + 4;
    size_t offsets[3], count = instruction_offsets(at, offsets);
    for (size_t i = 0; i < count; i++) {
        uint64_t pcs[8];
        struct unwind_result result = walk_from(fixture, at + offsets[i], 4711, caller, pcs, 8);
        assert_int_equal(result.frames, 2);
        assert_true(pcs[1] == caller - 1);
        assert_int_equal(result.end, UNWIND_COMPLETE);
    }
}

/* The place where a new thread would begin, whose CFI says that it has no caller. */
static uint64_t place_without_caller(const struct fixture *fixture)
{
    const unsigned char *at = find_clone(&fixture->library, fixture->library.start);
    assert_non_null(at);
    return (uint64_t)(uintptr_t)at + (at[3] == 0x7c ? 7 : 11) + 4;
}

static void test_the_parent_of_vfork_waits_for_it(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t caller = place_without_caller(fixture), arguments[6] = {caller}, sp = 0x7ffe0000, stack[8] = {7};
    void *own = dlopen(fixture->library.path, RTLD_NOW | RTLD_NOLOAD); /* the sanitizer has a vfork() of its own */
    assert_non_null(own);
    const unsigned char *code = dlsym(own, "vfork"), *call = code ? memmem(code, 32, "\x0f\x05", 2) : NULL;
    dlclose(own);
    assert_non_null(call);
    struct unwind_regs regs;
    unwind_regs_fill_waiting(&regs, sp, (uint64_t)(uintptr_t)call + 2, arguments);
    struct unwind_stack copy = {.sp = sp, .bytes = (const unsigned char *)stack, .size = sizeof(stack)};
    uint64_t pcs[8];
    struct unwind_result result = unwind_walk(&fixture->space, &regs, &copy, pcs, 8);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(result.frames, 2);
    assert_true(pcs[1] == caller - 1);

    /* outside of a system call nobody knows that register */
    unwind_regs_fill_waiting(&regs, sp, (uint64_t)(uintptr_t)call + 2, NULL);
    result = unwind_walk(&fixture->space, &regs, &copy, pcs, 8);
    assert_int_not_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(result.frames, 1);
}

/* The kernel's pc is one behind the last instruction of the trampoline, where its CFI has ended. */
static void test_sigreturn_leads_to_the_interrupted_code(void **state)
{
    enum { REG_CX = 2, TO_CALL = 7, CALL_SIZE = 2, PC_SLOT = 5 + 16 };
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    struct fixture *fixture = *state;
    const unsigned char *trampoline =
        memmem(fixture->library.start, (size_t)(fixture->library.end - fixture->library.start), code, sizeof(code));
    assert_non_null(trampoline);
    uint64_t stack[64] = {0}, pcs[8], interrupted = place_without_caller(fixture);
    stack[PC_SLOT] = interrupted;
    struct unwind_regs regs = {.r = {[UNWIND_REG_SP] = 0x7ffe0000}};
    regs.r[UNWIND_REG_PC] = regs.r[REG_CX] = (uint64_t)(uintptr_t)trampoline + TO_CALL + CALL_SIZE;
    struct unwind_stack copy = {
        .sp = regs.r[UNWIND_REG_SP], .bytes = (const unsigned char *)stack, .size = sizeof(stack)};
    struct unwind_result result = unwind_walk(&fixture->space, &regs, &copy, pcs, 8);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(result.frames, 2);
    assert_true(pcs[0] == (uint64_t)(uintptr_t)trampoline + TO_CALL);
    assert_true(pcs[1] == interrupted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_thread_begins_after_the_system_call),
        cmocka_unit_test(test_the_old_thread_has_its_caller_there),
        cmocka_unit_test(test_the_parent_of_vfork_waits_for_it),
        cmocka_unit_test(test_sigreturn_leads_to_the_interrupted_code),
    };
    return cmocka_run_group_tests(tests, map_c_library, unmap);
}

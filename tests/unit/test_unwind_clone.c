/*
 * The first moments of a thread: the C library's own code around the system call that makes one, which has no CFI
 * there.
 */
#include "support/c_library.h"
#include "unwind/address_space.h"
#include "unwind/unwind.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_thread_begins_after_the_system_call),
        cmocka_unit_test(test_the_old_thread_has_its_caller_there),
    };
    return cmocka_run_group_tests(tests, map_c_library, unmap);
}

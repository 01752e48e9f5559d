/*
 * Hostile ELF files and stacks: the walker must return, and read only bytes inside its input.
 */
#include "unwind/address_space.h"
#include "unwind/module.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { FRAMES_MAX = 256, STACK_SIZE = 4096 };
#define MAPPED_AT UINT64_C(0x10000000)
#define STACK_AT  UINT64_C(0x7ffc00000000)

/* ---- helpers ---- */

static int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, 0), size);
    return fd;
}

/* Walks from several pcs of the module over a stack full of addresses of the same module. */
static void walk_around(struct unwind_module *module, uint64_t image_size, unsigned seed)
{
    static uint64_t stack[STACK_SIZE / 8];
    struct address_space space = {0};
    struct mapping mapping = {.start = MAPPED_AT, .end = MAPPED_AT + image_size, .module = module};
    assert_true(address_space_map(&space, &mapping));
    for (size_t i = 0; i < STACK_SIZE / 8; i++)
        stack[i] = i % 3 ? MAPPED_AT + (uint64_t)rand_r(&seed) % image_size : STACK_AT + (i + 2 + i % 7) * 8;
    for (unsigned i = 0; i < 24; i++) {
        struct unwind_regs regs = {0};
        uint64_t pcs[FRAMES_MAX];
        for (unsigned r = 0; r < UNWIND_REGS; r++)
            regs.r[r] = STACK_AT + (unsigned)rand_r(&seed) % STACK_SIZE;
        regs.r[UNWIND_REG_SP] = STACK_AT;
        regs.r[UNWIND_REG_PC] = MAPPED_AT + (uint64_t)rand_r(&seed) % image_size;
        struct unwind_stack copy = {.sp = STACK_AT, .bytes = (unsigned char *)stack, .size = STACK_SIZE};
        struct unwind_result result = unwind_walk(&space, &regs, &copy, pcs, FRAMES_MAX);
        assert_in_range(result.frames, 1, FRAMES_MAX);
        assert_int_equal(pcs[0], regs.r[UNWIND_REG_PC]);
        for (size_t f = 1; f < result.frames; f++)
            assert_true(unwind_decode_omitted(pcs[f]) || address_space_find(&space, pcs[f]));
    }
    address_space_destroy(&space);
}

static void try_image(const unsigned char *image, size_t size, uint64_t mapped_size, unsigned seed)
{
    struct error err;
    unsigned char *exact = malloc(size ? size : 1); /* so that the sanitizer sees one byte too far */
    memcpy(exact, image, size);
    struct unwind_module *module;
    int code = unwind_module_open_memory(&module, exact, size, "damaged", &err);
    free(exact);
    if (!code) {
        walk_around(module, mapped_size, seed);
        unwind_module_unref(module);
    } else {
        assert_true(strlen(err.text) > 10);
    }
}

/* The smallest real library at hand: the kernel's vDSO, with .eh_frame_hdr, .eh_frame and code. */
static const unsigned char *vdso(size_t *size)
{
    const unsigned char *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    assert_non_null(image);
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof(header));
    *size = (size_t)header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    if (*size > 16384 || *size < 1024)
        *size = 4096;
    return image;
}

/* A C program with FDEs of all kinds of functions, whose CFI is reached the slow way. */
static unsigned char *compiled_library(const char *flags, size_t *size)
{
    char directory[] = "/tmp/prof-hostile-XXXXXX", command[512];
    assert_non_null(mkdtemp(directory));
    snprintf(
        command, sizeof(command),
        "printf 'int f(int x){return x;} int g(int x){volatile char b[99]; b[x]=1; return f(x)+b[3];}"
        "int h(int x){return g(x)*g(x+1)+g(x+2);}' | cc -shared -nostdlib -fPIC -O1 -s %s -x c - -o %s/lib 2>/dev/null",
        flags, directory);
    unsigned char *bytes = NULL;
    if (system(command) == 0) {
        snprintf(command, sizeof(command), "%s/lib", directory);
        FILE *file = fopen(command, "rb");
        bytes = malloc(1 << 20);
        *size = fread(bytes, 1, 1 << 20, file);
        fclose(file);
    }
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    return bytes;
}

/* ---- files ---- */

static void test_every_truncation_is_survived(void **state)
{
    (void)state;
    size_t size;
    const unsigned char *image = vdso(&size);
    for (size_t length = 0; length <= size; length++)
        try_image(image, length, size, (unsigned)length);
}

static void test_every_truncation_without_a_search_table_is_survived(void **state)
{
    (void)state;
    size_t size;
    unsigned char *image = compiled_library("-Wl,--no-eh-frame-hdr -Wl,-z,noseparate-code", &size);
    if (!image)
        skip();
    for (size_t length = 0; length <= size; length += length < 1024 ? 1 : 3)
        try_image(image, length, size, (unsigned)length);
    free(image);
}

static void test_random_damage_is_survived(void **state)
{
    (void)state;
    size_t size;
    const unsigned char *image = vdso(&size);
    unsigned char *damaged = malloc(size);
    for (unsigned round = 1; round <= 3000; round++) {
        unsigned seed = round, count = 1 + round % 8;
        memcpy(damaged, image, size);
        for (unsigned i = 0; i < count; i++)
            damaged[(unsigned)rand_r(&seed) % size] = (unsigned char)(round % 3 ? rand_r(&seed) : 0xff);
        try_image(damaged, size, size, seed);
    }
    free(damaged);
}

/* Damage only where CFI is: headers that are wrong get no further. */
static void test_random_damage_to_cfi_is_survived(void **state)
{
    (void)state;
    static const char *const flags[] = {"", "-Wl,--no-eh-frame-hdr"};
    for (size_t kind = 0; kind < 2; kind++) {
        size_t size;
        unsigned char *image = compiled_library(flags[kind], &size);
        if (!image)
            skip();
        /* CIEs begin with their augmentation "zR": what follows in the file is CFI */
        unsigned char *cfi = memmem(image, size, "\x01zR\0", 4);
        assert_non_null(cfi);
        size_t start = (size_t)(cfi - image) - 8, length = 400;
        unsigned char *damaged = malloc(size);
        for (unsigned round = 1; round <= 3000; round++) {
            unsigned seed = round;
            memcpy(damaged, image, size);
            for (unsigned i = 0; i <= round % 5; i++)
                damaged[start + (unsigned)rand_r(&seed) % length] = (unsigned char)rand_r(&seed);
            try_image(damaged, size, size, seed);
        }
        free(damaged);
        free(image);
    }
}

static void test_what_is_not_an_elf_file_of_this_machine_is_refused_with_a_sentence(void **state)
{
    (void)state;
    struct error err;
    struct unwind_module *module;
    int fd = memory_file("#!/bin/sh\n", 10);
    assert_true(unwind_module_open(&module, fd, "script", &err) < 0);
    assert_null(module);
    assert_non_null(strstr(err.text, "script is not an ELF file"));
    close(fd);
    fd = open("/tmp", O_RDONLY);
    assert_true(unwind_module_open(&module, fd, "/tmp", &err) < 0);
    assert_null(module);
    assert_string_equal(err.text, "/tmp is not a regular file");
    close(fd);
    size_t size;
    const unsigned char *image = vdso(&size);
    unsigned char *other = malloc(size);
    memcpy(other, image, size);
    other[EI_NIDENT + 2] = EM_AARCH64;
    assert_true(unwind_module_open_memory(&module, other, size, "foreign", &err) < 0);
    assert_null(module);
    assert_non_null(strstr(err.text, "foreign is for another kind of machine"));
    free(other);
}

/* A mapped file that shrinks raises SIGBUS in whoever reads it. */
static void test_a_file_that_is_truncated_meanwhile_is_survived(void **state)
{
    (void)state;
    struct error err;
    size_t size;
    const unsigned char *image = vdso(&size);
    int fd = memory_file(image, size);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open(&module, fd, "shrinking", &err), 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    close(fd);
    walk_around(module, size, 1);
    unwind_module_unref(module);
}

/* ---- stacks ---- */

static struct unwind_result walk_jit(const uint64_t *words, size_t count, struct unwind_regs *regs, uint64_t *pcs,
                                     size_t max)
{
    struct address_space space = {0};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x2000, .lib = MAPPING_NO_LIB}));
    struct unwind_stack stack = {.sp = STACK_AT, .bytes = (const unsigned char *)words, .size = count * 8};
    regs->r[UNWIND_REG_SP] = STACK_AT;
    struct unwind_result result = unwind_walk(&space, regs, &stack, pcs, max);
    address_space_destroy(&space);
    return result;
}

static void test_frame_pointers_lead_to_the_mark_of_the_deepest_frame(void **state)
{
    (void)state;
    uint64_t stack[] = {7, STACK_AT + 4 * 8, 0x1101, 8, 0, 0x1201}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT + 8}};
    struct unwind_result result = walk_jit(stack, 6, &regs, pcs, 8);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_true(result.used_no_cfi);
    assert_int_equal(result.frames, 3);
    assert_int_equal(pcs[1], 0x1100);
    assert_int_equal(pcs[2], 0x1200);
}

/* A frame pointer of 0 is no start where the stack goes on: the code does not use it. */
static void test_a_frame_pointer_of_zero_below_other_callers_is_no_start(void **state)
{
    (void)state;
    uint64_t stack[] = {7, STACK_AT + 4 * 8, 0x1101, 8, 0, 0x1201, 9, 0x1301}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT + 8}};
    struct unwind_result result = walk_jit(stack, 8, &regs, pcs, 8);
    assert_int_equal(result.end, UNWIND_JIT_CODE);
    assert_int_equal(result.frames, 3);
}

/* JIT code that is found in another way may use the register for anything, as Erlang's does. */
static void test_a_zero_in_the_register_of_jit_code_is_no_start(void **state)
{
    (void)state;
    uint64_t stack[] = {0x1101, 5, 0, 7}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0, [UNWIND_REG_BP] = 0}};
    struct unwind_result result = walk_jit(stack, 4, &regs, pcs, 8);
    assert_int_equal(result.end, UNWIND_JIT_CODE);
    assert_int_equal(result.frames, 2);
}

static void test_a_frame_pointer_cycle_ends(void **state)
{
    (void)state;
    uint64_t stack[] = {STACK_AT, 0x1101, 0}, pcs[64];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT}};
    struct unwind_result result = walk_jit(stack, 3, &regs, pcs, 64);
    assert_int_equal(result.end, UNWIND_JIT_CODE);
    assert_int_equal(result.frames, 2);
}

static void test_a_frame_pointer_to_code_that_is_not_there_is_no_frame(void **state)
{
    (void)state;
    uint64_t stack[] = {STACK_AT + 64, 0x9999, 0}, pcs[64];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT}};
    struct unwind_result result = walk_jit(stack, 3, &regs, pcs, 64);
    assert_int_equal(result.end, UNWIND_NO_MODULE); /* it may have been mapped since */
    assert_int_equal(result.frames, 1);
}

static void test_a_call_through_a_null_pointer_has_its_caller(void **state)
{
    (void)state;
    uint64_t stack[] = {0x1101, 5, 0, 0x1201}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0, [UNWIND_REG_BP] = STACK_AT + 16}};
    struct unwind_result result = walk_jit(stack, 4, &regs, pcs, 8);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_int_equal(result.frames, 3);
    assert_int_equal(pcs[0], 0);
    assert_int_equal(pcs[1], 0x1100);
    assert_int_equal(pcs[2], 0x1200);
}

static void test_a_stack_that_ends_too_early_is_short(void **state)
{
    (void)state;
    uint64_t stack[] = {STACK_AT + 16, 0x1101, STACK_AT + 32}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT}};
    struct unwind_result result = walk_jit(stack, 3, &regs, pcs, 8);
    assert_int_equal(result.end, UNWIND_STACK_SHORT);
    assert_int_equal(result.frames, 2);
}

static void test_a_stack_of_which_nothing_was_copied_says_so(void **state)
{
    (void)state;
    uint64_t stack[] = {0}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT}};
    struct unwind_result result = walk_jit(stack, 0, &regs, pcs, 8);
    assert_int_equal(result.end, UNWIND_NO_STACK);
    assert_int_equal(result.frames, 1);
}

static void test_more_frames_than_room_is_too_deep(void **state)
{
    (void)state;
    uint64_t stack[] = {STACK_AT + 16, 0x1101, 0, 0x1201}, pcs[2];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT}};
    struct unwind_result result = walk_jit(stack, 4, &regs, pcs, 2);
    assert_int_equal(result.end, UNWIND_TOO_DEEP);
    assert_int_equal(result.frames, 2);
    result = walk_jit(stack, 4, &regs, pcs, 0);
    assert_int_equal(result.frames, 0);
}

static void test_a_deep_stack_keeps_both_ends(void **state)
{
    (void)state;
    enum { CALLERS = 300, ROOM = 64, CODE = 0x1101 };
    uint64_t stack[2 * CALLERS], pcs[ROOM], sps[ROOM];
    for (uint64_t i = 0; i < CALLERS; i++) { /* a chain of frame pointers, which ends with 0 */
        stack[2 * i] = i + 1 < CALLERS ? STACK_AT + (2 * i + 2) * 8 : 0;
        stack[2 * i + 1] = CODE + i;
    }
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT, [UNWIND_REG_SP] = STACK_AT}};
    struct address_space space = {0};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x2000, .lib = MAPPING_NO_LIB}));
    struct unwind_stack copy = {
        .sp = STACK_AT, .bytes = (const unsigned char *)stack, .size = sizeof(stack), .sps = sps};
    struct unwind_result result = unwind_walk(&space, &regs, &copy, pcs, ROOM);
    address_space_destroy(&space);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_in_range(result.frames, ROOM / 2 + ROOM / 4, ROOM);
    uint64_t omitted = unwind_decode_omitted(pcs[ROOM / 2]);
    assert_int_equal(result.frames - 1 + omitted, CALLERS + 1);
    for (uint64_t i = 1; i < ROOM / 2; i++)
        assert_int_equal(pcs[i], CODE + i - 2);
    for (uint64_t i = ROOM / 2 + 1; i < result.frames; i++) {
        uint64_t frame = i - 1 + omitted;
        assert_int_equal(pcs[i], CODE + frame - 2);
        assert_int_equal(sps[i], STACK_AT + 2 * frame * 8);
    }
}

static void test_a_deep_stack_of_a_32_bit_program_keeps_both_ends(void **state)
{
    (void)state;
    enum { CALLERS = 300, ROOM = 64, CODE = 0x1101, AT = 0x80000 };
    uint32_t stack[2 * CALLERS];
    uint64_t pcs[ROOM];
    for (uint32_t i = 0; i < CALLERS; i++) {
        stack[2 * i] = i + 1 < CALLERS ? AT + (2 * i + 2) * 4 : 0;
        stack[2 * i + 1] = CODE + i;
    }
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = AT, [UNWIND_REG_SP] = AT},
                               .is_32_bit = true};
    struct address_space space = {0};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x2000, .lib = MAPPING_NO_LIB}));
    struct unwind_stack copy = {.sp = AT, .bytes = (const unsigned char *)stack, .size = sizeof(stack)};
    struct unwind_result result = unwind_walk(&space, &regs, &copy, pcs, ROOM);
    address_space_destroy(&space);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    uint64_t omitted = unwind_decode_omitted(pcs[ROOM / 2]);
    assert_int_equal(result.frames - 1 + omitted, CALLERS + 1);
    assert_int_equal(pcs[ROOM / 2 - 1], CODE + ROOM / 2 - 3);
    assert_int_equal(pcs[result.frames - 1], CODE + CALLERS - 2);
}

static bool read_word_above(void *context, uint64_t address, void *out, size_t size)
{
    const uint64_t *words = context;
    assert_true(address >= STACK_AT + 16);
    if (address + size > STACK_AT + 32) /* the stack ends there */
        return false;
    memcpy(out, (const char *)words + (address - STACK_AT), size);
    return true;
}

static void test_what_lies_above_the_copy_is_asked_for(void **state)
{
    (void)state;
    uint64_t words[] = {STACK_AT + 16, 0x1101, 0, 0x1201}, pcs[8];
    struct address_space space = {0};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x2000, .lib = MAPPING_NO_LIB}));
    struct unwind_stack stack = {.sp = STACK_AT,
                                 .bytes = (const unsigned char *)words,
                                 .size = 16,
                                 .read_above = read_word_above,
                                 .context = words};
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = 0x1001, [UNWIND_REG_BP] = STACK_AT, [UNWIND_REG_SP] = STACK_AT}};
    struct unwind_result result = unwind_walk(&space, &regs, &stack, pcs, 8);
    assert_int_equal(result.end, UNWIND_COMPLETE);
    assert_true(result.used_read_above);
    assert_int_equal(result.frames, 3);
    address_space_destroy(&space);
}

/* The first function of .eh_frame_hdr's table, at its first instruction: there the return address is at sp. */
static uint64_t first_function(const unsigned char *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof(header));
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, image + header.e_phoff + i * sizeof(segment), sizeof(segment));
        int32_t distance;
        memcpy(&distance, image + segment.p_offset + 12, sizeof(distance));
        if (segment.p_type == PT_GNU_EH_FRAME)
            return segment.p_vaddr + (uint64_t)distance;
    }
    fail_msg("the vDSO has no .eh_frame_hdr");
    return 0;
}

static void test_a_remapped_pc_forgets_its_rule(void **state)
{
    (void)state;
    struct error err;
    size_t size;
    const unsigned char *image = vdso(&size);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open_memory(&module, image, size, "vdso", &err), 0);
    uint64_t stack[] = {0x1101, 0, 0, 0x1201}, pcs[8];
    struct address_space space = {0};
    struct unwind_stack copy = {.sp = STACK_AT, .bytes = (const unsigned char *)stack, .size = sizeof(stack)};
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = MAPPED_AT + first_function(image),
                                     [UNWIND_REG_SP] = STACK_AT,
                                     [UNWIND_REG_BP] = STACK_AT + 16}};
    struct mapping anonymous = {.start = MAPPED_AT, .end = MAPPED_AT + size, .lib = MAPPING_NO_LIB};
    struct mapping with_module = {.start = MAPPED_AT, .end = MAPPED_AT + size, .module = module};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x2000, .lib = MAPPING_NO_LIB}));
    assert_true(address_space_map(&space, &anonymous));
    unwind_walk(&space, &regs, &copy, pcs, 8);
    assert_int_equal(pcs[1], 0x1200); /* by the frame pointer */
    assert_true(address_space_map(&space, &with_module));
    unwind_walk(&space, &regs, &copy, pcs, 8);
    assert_int_equal(pcs[1], 0x1100); /* by the CFI */
    assert_true(address_space_map(&space, &anonymous));
    unwind_walk(&space, &regs, &copy, pcs, 8);
    assert_int_equal(pcs[1], 0x1200);
    address_space_destroy(&space);
    unwind_module_unref(module);
}

/* ---- what a process makes the walker do ---- */

enum { CODE_AT = 0x20000000, CODE_SIZE = 0x1000 };

/* Bytes of .eh_frame that are built one after the other. */
struct frames {
    unsigned char *bytes;
    size_t size;
};

static void put_u32(struct frames *frames, uint32_t value)
{
    memcpy(frames->bytes + frames->size, &value, 4);
    frames->size += 4;
}

static void put_bytes(struct frames *frames, const void *bytes, size_t size)
{
    memcpy(frames->bytes + frames->size, bytes, size);
    frames->size += size;
}

/* A CIE: CFA = rsp + 8, the return address below it; absolute addresses of 4 bytes. */
static void put_cie(struct frames *frames)
{
    put_u32(frames, 20);
    put_u32(frames, 0);
    put_bytes(frames, "\1zR\0\1\x78\x10\1\x03\x0c\7\x08\x90\1\0\0", 16);
}

/* An FDE of `size` bytes of code, whose instructions are `pairs` times remember_state and restore_state. */
static void put_fde(struct frames *frames, uint32_t start, uint32_t size, size_t pairs)
{
    size_t at = frames->size + 4;
    put_u32(frames, (uint32_t)(4 + 8 + 4 + 2 * pairs));
    put_u32(frames, (uint32_t)at);
    put_u32(frames, start);
    put_u32(frames, size);
    put_bytes(frames, "\0\0\0\0", 4);
    for (size_t i = 0; i < pairs; i++)
        put_bytes(frames, "\x0a\x0b", 2);
}

static struct unwind_result walk_at(struct address_space *space, uint64_t pc)
{
    uint64_t stack[] = {CODE_AT + CODE_SIZE - 1, 0, 0, 0}, pcs[8];
    struct unwind_regs regs = {.r = {[UNWIND_REG_PC] = pc, [UNWIND_REG_SP] = STACK_AT}};
    struct unwind_stack copy = {.sp = STACK_AT, .bytes = (const unsigned char *)stack, .size = sizeof(stack)};
    return unwind_walk(space, &regs, &copy, pcs, 8);
}

static void test_long_cfi_costs_its_process_alone(void **state)
{
    (void)state;
    enum { PAIRS = 250000, WALKS = 1000 };
    struct frames frames = {.bytes = malloc(2 * PAIRS + 1024)};
    put_cie(&frames);
    put_fde(&frames, CODE_AT, CODE_SIZE / 2, PAIRS);
    put_fde(&frames, CODE_AT + CODE_SIZE / 2, CODE_SIZE / 2, 1);
    put_u32(&frames, 0);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open_jit_code(&module, frames.bytes, frames.size, CODE_AT, CODE_SIZE, NULL), 0);
    struct address_space greedy = {0}, other = {0}, child = {0};
    struct mapping mapping = {.start = CODE_AT, .end = CODE_AT + CODE_SIZE, .lib = MAPPING_NO_LIB, .module = module};
    assert_true(address_space_map(&greedy, &mapping));
    assert_true(address_space_map(&other, &mapping));
    size_t finished = 0;
    for (uint64_t i = 0; i < WALKS; i++)
        finished += walk_at(&greedy, CODE_AT + i).end != UNWIND_TOO_COSTLY;
    assert_in_range(finished, 1, UNWIND_WORK_MAX / (2 * PAIRS)); /* long CFI is followed, as long as it is seldom */
    assert_true(unwind_work_is_over(&greedy.work));
    assert_int_equal(walk_at(&other, CODE_AT + CODE_SIZE / 2 + 8).end, UNWIND_COMPLETE);
    assert_true(address_space_copy(&child, &greedy)); /* fork gives no new allowance */
    assert_int_equal(walk_at(&child, CODE_AT + WALKS).end, UNWIND_TOO_COSTLY);
    for (unsigned i = 0; i < 2; i++) /* what is cheap goes on */
        assert_int_equal(walk_at(&greedy, CODE_AT + CODE_SIZE / 2 + 8).end, UNWIND_COMPLETE);
    address_space_destroy(&greedy);
    address_space_destroy(&other);
    address_space_destroy(&child);
    unwind_module_unref(module);
    free(frames.bytes);
}

static void test_an_index_of_too_many_functions_is_bounded(void **state)
{
    (void)state;
    enum { FUNCTIONS = 300000, WANTED_MAX = 1 << 18 };
    struct frames frames = {.bytes = malloc((size_t)FUNCTIONS * 24 + 1024)};
    put_cie(&frames);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        put_fde(&frames, CODE_AT + i, 1, 2);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open_jit_code(&module, frames.bytes, frames.size, CODE_AT, FUNCTIONS, NULL), 0);
    assert_in_range(unwind_module_count_indexed(module), 1000, WANTED_MAX);
    unwind_module_unref(module);
    free(frames.bytes);
}

static void test_an_entry_that_is_too_long_is_passed_over(void **state)
{
    (void)state;
    enum { PAIRS = 600000 }; /* 1.2 MB */
    struct frames frames = {.bytes = malloc(2 * PAIRS + 1024)};
    put_cie(&frames);
    put_fde(&frames, CODE_AT, CODE_SIZE / 2, PAIRS);
    put_fde(&frames, CODE_AT + CODE_SIZE / 2, CODE_SIZE / 2, 1);
    struct unwind_module *module;
    struct cfi_fde fde;
    assert_int_equal(unwind_module_open_jit_code(&module, frames.bytes, frames.size, CODE_AT, CODE_SIZE, NULL), 0);
    assert_false(unwind_module_find_fde(module, CODE_AT, &fde));
    assert_true(unwind_module_find_fde(module, CODE_AT + CODE_SIZE / 2, &fde));
    unwind_module_unref(module);
    free(frames.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_cfi_costs_its_process_alone),
        cmocka_unit_test(test_an_index_of_too_many_functions_is_bounded),
        cmocka_unit_test(test_an_entry_that_is_too_long_is_passed_over),
        cmocka_unit_test(test_every_truncation_is_survived),
        cmocka_unit_test(test_every_truncation_without_a_search_table_is_survived),
        cmocka_unit_test(test_random_damage_is_survived),
        cmocka_unit_test(test_random_damage_to_cfi_is_survived),
        cmocka_unit_test(test_what_is_not_an_elf_file_of_this_machine_is_refused_with_a_sentence),
        cmocka_unit_test(test_a_file_that_is_truncated_meanwhile_is_survived),
        cmocka_unit_test(test_frame_pointers_lead_to_the_mark_of_the_deepest_frame),
        cmocka_unit_test(test_a_frame_pointer_of_zero_below_other_callers_is_no_start),
        cmocka_unit_test(test_a_zero_in_the_register_of_jit_code_is_no_start),
        cmocka_unit_test(test_a_frame_pointer_cycle_ends),
        cmocka_unit_test(test_a_frame_pointer_to_code_that_is_not_there_is_no_frame),
        cmocka_unit_test(test_a_call_through_a_null_pointer_has_its_caller),
        cmocka_unit_test(test_a_stack_that_ends_too_early_is_short),
        cmocka_unit_test(test_a_stack_of_which_nothing_was_copied_says_so),
        cmocka_unit_test(test_more_frames_than_room_is_too_deep),
        cmocka_unit_test(test_a_deep_stack_keeps_both_ends),
        cmocka_unit_test(test_a_deep_stack_of_a_32_bit_program_keeps_both_ends),
        cmocka_unit_test(test_what_lies_above_the_copy_is_asked_for),
        cmocka_unit_test(test_a_remapped_pc_forgets_its_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

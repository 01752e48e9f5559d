/*
 * Go programs without DWARF: the runtime's own table gives the same answers as DWARF before stripping. Each program is
 * built with every Go on this machine (in PATH, below /usr/lib, and downloaded toolchains), and compared in copies
 * without DWARF and symbols.
 */
#include "elf/elf_table.h"
#include "elf/go_functions.h"
#include "symbol/symbol.h"
#include "unwind/module.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { ADDRESSES_MAX = 20000, REPORTED_MAX = 10 };

/* Inlines over several levels, across files of the runtime, in closures, methods and generic functions. */
static const char program_text[] =
    "package main\n"
    "import (\"fmt\"; \"os\"; \"sort\"; \"strings\")\n"
    "type shape interface{ area(int) int }\n"
    "type square struct{ side int }\n"
    "type rectangle struct{ square; other int }\n"
    "func add(a, b int) int { return a + b }\n"
    "func twice(a int) int { return add(a, a) * 2 }\n"
    "func (s square) area(scale int) int { return twice(s.side) * scale }\n"
    "func (r *rectangle) grow(by int) { r.side = add(r.side, by); r.other += twice(by) }\n"
    "//go:noinline\n"
    "func sum(shapes []shape) (total int) {\n"
    "	for i, s := range shapes { total += s.area(i) }\n"
    "	return\n"
    "}\n"
    "func main() {\n"
    "	r := &rectangle{square{len(os.Args)}, 7}\n"
    "	r.grow(3)\n"
    "	words := strings.Fields(\"some words to sort\")\n"
    "	sort.Slice(words, func(i, j int) bool { return twice(len(words[i])) < twice(len(words[j])) })\n"
    "	defer func() { fmt.Println(recover(), words) }()\n"
    "	fmt.Println(sum([]shape{square{1}, *r, r}))\n"
    "	panic(\"end\")\n"
    "}\n";

static const char cgo_text[] = "package main\n"
                               "// static int seven(int x) { return x + 7; }\n"
                               "import \"C\"\n"
                               "func twice(a int) int { return a * 2 }\n"
                               "func main() { println(twice(int(C.seven(C.int(4))))) }\n";

struct answers {
    uint64_t rvas[ADDRESSES_MAX];
    size_t count;
    struct symbol_answers answers;
};

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Some places in every function of the text of Go (the C part of a cgo program is not in the table). */
static void pick_addresses(struct answers *answers, const char *path)
{
    struct elf_file file;
    struct error err = {""};
    assert_int_equal(elf_file_open(&file, path, &err), 0);
    const struct elf_section *table = elf_file_find_section(&file, ".symtab");
    assert_non_null(table);
    struct elf_symbols symbols;
    assert_true(elf_symbols_load(&symbols, &file, table, 0, SIZE_MAX));
    struct go_functions functions;
    assert_int_equal(go_functions_open(&functions, &file, &err), 0);
    size_t used = 0;
    for (size_t s = 0; s < symbols.count; s++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, s);
        struct go_function function;
        if (symbol.type != STT_FUNC || !symbol.size || !go_functions_find(&functions, symbol.value, &function) ||
            function.start != symbol.value)
            continue;
        for (size_t i = 0; i < 5 && used < ADDRESSES_MAX; i++)
            answers->rvas[used++] = symbol.value - file.base + symbol.size * i / 5;
    }
    qsort(answers->rvas, used, sizeof(answers->rvas[0]), ascending);
    answers->count = 0;
    for (size_t i = 0; i < used; i++)
        if (answers->count == 0 || answers->rvas[i] != answers->rvas[answers->count - 1])
            answers->rvas[answers->count++] = answers->rvas[i];
    go_functions_close(&functions);
    elf_symbols_free(&symbols);
    elf_file_close(&file);
}

static void look_up(struct answers *answers, const char *path)
{
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(NULL);
    assert_non_null(symbolizer);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = path, .path = path};
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, answers->rvas, answers->count, &answers->answers, &err), 0);
    symbolizer_free(symbolizer);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The tables of Go 1.18 and 1.19 have dots for what is in brackets. */
static bool same_name(const char *dwarf, const char *table)
{
    const char *dots = table ? strstr(table, "[...]") : NULL;
    if (!dots || !dwarf)
        return same_text(dwarf, table);
    size_t before = (size_t)(dots - table), after = strlen(dots + 5), length = strlen(dwarf);
    return length >= before + after + 2 && strncmp(dwarf, table, before) == 0 &&
           strcmp(dwarf + length - after, dots + 5) == 0;
}

/* DWARF has no line for the first instruction of some functions, and files that generators wrote ("<autogenerated>",
 * "_cgo_gotypes.go") in the directory ".". */
static bool same_place(const struct symbol_frame *dwarf, const struct symbol_frame *table)
{
    const char *file = dwarf->file;
    if (!file)
        return true;
    while (table->file && table->file[0] != '/' && strncmp(file, "./", 2) == 0)
        file += 2;
    return same_text(file, table->file) && dwarf->line == table->line;
}

/* The DWARF of Go 1.16 leaves out what was inlined into methods that the compiler wrote itself. */
static bool is_wrapper_of_1_16(const struct symbol_answers *dwarf, const struct symbol_answer *in_dwarf,
                               const struct symbol_answers *table, const struct symbol_answer *in_table)
{
    if (in_dwarf->frame_count != 1 || in_table->frame_count < 2)
        return false;
    const struct symbol_frame *only = &dwarf->frames.data[in_dwarf->first_frame];
    const struct symbol_frame *outer = &table->frames.data[in_table->first_frame];
    const struct symbol_frame *inner = outer + in_table->frame_count - 1;
    return same_text(outer->file, "<autogenerated>") && same_text(only->function, outer->function) &&
           same_text(only->file, inner->file) && only->line == inner->line;
}

static bool same_frames(const struct symbol_answers *a, const struct symbol_answers *b, size_t i)
{
    const struct symbol_answer *x = &a->answers[i], *y = &b->answers[i];
    bool same = x->frame_count == y->frame_count || is_wrapper_of_1_16(a, x, b, y);
    if (x->frame_count != y->frame_count)
        return same;
    for (uint32_t f = 0; same && f < x->frame_count; f++) {
        const struct symbol_frame *left = &a->frames.data[x->first_frame + f];
        const struct symbol_frame *right = &b->frames.data[y->first_frame + f];
        same = same_name(left->function, right->function) && same_place(left, right);
    }
    return same;
}

static void print_answer(const char *title, const struct symbol_answers *answers, size_t i)
{
    const struct symbol_answer *answer = &answers->answers[i];
    print_error("  %s:", title);
    for (uint32_t f = 0; f < answer->frame_count; f++) {
        const struct symbol_frame *frame = &answers->frames.data[answer->first_frame + f];
        print_error(" %s (%s:%u)", frame->function ? frame->function : "?", frame->file ? frame->file : "?",
                    frame->line);
    }
    print_error("\n");
}

static struct answers picked; /* in the program that was built last */

static void compare(const char *with_dwarf, const char *stripped)
{
    static struct answers dwarf, table;
    pick_addresses(&picked, with_dwarf);
    dwarf = picked;
    table = dwarf;
    look_up(&dwarf, with_dwarf);
    look_up(&table, stripped);
    size_t wrong = 0, inlined = 0;
    for (size_t i = 0; i < dwarf.count; i++) {
        inlined += table.answers.answers[i].frame_count > 1;
        if (same_frames(&dwarf.answers, &table.answers, i) || wrong++ >= REPORTED_MAX)
            continue;
        print_error("0x%llx\n", (unsigned long long)dwarf.rvas[i]);
        print_answer("DWARF", &dwarf.answers, i);
        print_answer("table", &table.answers, i);
    }
    print_message("%s: %zu addresses, %zu with inlined calls, %zu differ\n", stripped, dwarf.count, inlined, wrong);
    assert_int_equal(wrong, 0);
    assert_true(dwarf.count > 1000 && inlined > 50);
    assert_string_equal(table.answers.problem, "");
    symbol_answers_destroy(&dwarf.answers);
    symbol_answers_destroy(&table.answers);
}

/* Whether `size` is the frame size that DWARF's call frame information has at a vaddr. Assembly of the runtime that
 * moves sp itself has a table that knows more, or less, than DWARF. */
static bool same_frame_size(struct unwind_module *module, uint64_t vaddr, int32_t size)
{
    struct cfi_fde fde;
    struct cfi_row row;
    return !unwind_module_find_fde(module, vaddr, &fde) || !fde.is_debug_frame ||
           !cfi_find_row(&fde, vaddr, &row, &(struct unwind_work){0}) || row.rules[UNWIND_REG_PC] != CFI_OFFSET ||
           row.cfa_value == size + 8;
}

static void compare_frame_sizes(const struct answers *addresses, const char *with_dwarf, const char *stripped)
{
    struct elf_file file;
    struct go_functions functions;
    struct unwind_module *module;
    struct error err = {""};
    int fd = open(with_dwarf, O_RDONLY | O_CLOEXEC);
    assert_int_equal(unwind_module_open(&module, fd, with_dwarf, &err), 0);
    close(fd);
    assert_int_equal(elf_file_open(&file, stripped, &err), 0);
    assert_int_equal(go_functions_open(&functions, &file, &err), 0);
    size_t differ = 0, with_frame = 0;
    for (size_t i = 0; i < addresses->count; i++) {
        uint64_t vaddr = addresses->rvas[i] + file.base;
        int32_t size = go_functions_find_frame_size(&functions, vaddr);
        with_frame += size > 0;
        if (!same_frame_size(module, vaddr, size) && differ++ < REPORTED_MAX)
            print_error("0x%llx: the table has a frame of %d bytes\n", (unsigned long long)vaddr, size);
    }
    print_message("%s: %zu places with a frame, %zu differ from DWARF\n", stripped, with_frame, differ);
    go_functions_close(&functions);
    elf_file_close(&file);
    unwind_module_unref(module);
    assert_int_equal(differ, 0);
    assert_true(with_frame > 1000);
}

static bool run(const char *command)
{
    print_message("%s\n", command);
    return system(command) == 0;
}

static char directory[] = "/tmp/test_symbol_go_XXXXXX";

static void write_source(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void compare_build(const char *go, const char *settings, const char *source, const char *flags, bool strip)
{
    char command[1024], built[128], stripped[128];
    snprintf(built, sizeof(built), "%s/built", directory);
    snprintf(stripped, sizeof(stripped), "%s/stripped", directory);
    snprintf(
        command, sizeof(command),
        "cd %s && build() { env GOENV=off GOTOOLCHAIN=local GO111MODULE=off GOFLAGS= %s %s build %s \"$@\" %s; } && "
        "build -o built && %s",
        directory, settings, go, flags, source,
        strip ? "objcopy --strip-all built stripped" : "build -ldflags='-s -w' -o stripped");
    assert_true(run(command));
    compare(built, stripped);
    if (!strstr(settings, "GOARCH"))
        compare_frame_sizes(&picked, built, stripped);
}

static void compare_with(const char *go)
{
    char command[512];
    compare_build(go, "CGO_ENABLED=0", "main.go", "", true);
    compare_build(go, "CGO_ENABLED=0", "main.go", "-buildmode=pie", true);
    if (getenv("THOROUGH")) { /* each variant builds Go's library anew */
        compare_build(go, "CGO_ENABLED=0 GOARCH=386", "main.go", "", true);
        compare_build(go, "CGO_ENABLED=0 GOARCH=arm64", "main.go", "", false);
    }
    if (getenv("THOROUGH") && !strstr(go, "go1.16")) { /* whose DWARF has wrong lines where cgo inserted some */
        compare_build(go, "CGO_ENABLED=1", "cgo.go", "-ldflags=-linkmode=external", true);
        compare_build(go, "CGO_ENABLED=1", "cgo.go", "-buildmode=pie -ldflags=-linkmode=external", true);
    }
    snprintf(command, sizeof(command), "rm -f %s/built %s/stripped", directory, directory);
    assert_true(run(command));
}

static void test_the_table_says_what_dwarf_said(void **unused)
{
    (void)unused;
    if (system("command -v go >/dev/null && command -v objcopy >/dev/null") != 0) {
        print_message("no go or objcopy here\n");
        skip();
    }
    compare_with("go");
}

static void test_every_release_of_this_machine_is_read(void **unused)
{
    (void)unused;
    if (!getenv("THOROUGH"))
        skip();
    static const char *const places[] = {"/usr/lib/go-*/bin/go", "/root/go/pkg/mod/golang.org/toolchain@*/bin/go"};
    for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
        glob_t found;
        if (glob(places[p], 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc; i++)
                compare_with(found.gl_pathv[i]);
        globfree(&found);
    }
}

/* Reads a damaged program at many addresses; the sanitizers look on. */
static size_t read_image(const unsigned char *image, size_t size, uint64_t from, uint64_t to)
{
    enum { PLACES = 200, FRAMES = 16 };
    struct elf_file file;
    struct go_functions functions;
    size_t found = 0;
    if (elf_file_open_image(&file, image, size, "damaged", NULL) != 0)
        return 0;
    if (go_functions_open(&functions, &file, NULL) == 0) {
        for (uint64_t i = 0; i < PLACES; i++) {
            struct go_function function;
            struct go_frame frames[FRAMES];
            uint64_t vaddr = from + (to - from) / PLACES * i;
            if (go_functions_find(&functions, vaddr, &function))
                found += go_functions_list_frames(&functions, &function, vaddr, frames, FRAMES);
        }
        go_functions_close(&functions);
    }
    elf_file_close(&file);
    return found;
}

static void test_damaged_tables_have_clean_answers(void **unused)
{
    (void)unused;
    char command[512], path[128];
    if (system("command -v go >/dev/null") != 0)
        skip();
    snprintf(
        command, sizeof(command),
        "cd %s && env GOENV=off GO111MODULE=off GOFLAGS= CGO_ENABLED=0 go build -ldflags='-s -w' -o stripped main.go",
        directory);
    assert_true(run(command));
    snprintf(path, sizeof(path), "%s/stripped", directory);
    struct elf_file file;
    assert_int_equal(elf_file_open(&file, path, NULL), 0);
    const struct elf_section *table = elf_file_find_section(&file, ".gopclntab"),
                             *text = elf_file_find_section(&file, ".text");
    assert_non_null(table);
    assert_non_null(text);
    uint64_t from = text->address, to = text->address + text->size, table_offset = table->bytes.offset;
    size_t size = (size_t)file.bytes.size, table_size = (size_t)table->bytes.size;
    unsigned char *image = bytes_load(&file.bytes);
    assert_non_null(image);
    size_t found = read_image(image, size, from, to);
    assert_true(found > 150);
    for (size_t i = 1; i < 40; i++) { /* an end before its time */
        unsigned char *part = malloc(size * i / 40);
        assert_non_null(part);
        memcpy(part, image, size * i / 40);
        assert_true(read_image(part, size * i / 40, from, to) <= found * 2);
        free(part);
    }
    srand48(1);
    for (size_t i = 0; i < 200; i++) { /* wrong bytes, from the header on and all over */
        size_t at = i < 72 ? i : (size_t)(drand48() * (double)table_size);
        unsigned char *byte = &image[table_offset + at], right = *byte;
        *byte ^= (unsigned char)(1 + drand48() * 255);
        read_image(image, size, from, to);
        *byte = right;
    }
    assert_int_equal(read_image(image, size, from, to), found);
    free(image);
    elf_file_close(&file);
}

static int make_directory(void **unused)
{
    (void)unused;
    if (!mkdtemp(directory))
        return -1;
    write_source("main.go", program_text);
    write_source("cgo.go", cgo_text);
    return 0;
}

static int remove_directory(void **unused)
{
    (void)unused;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_says_what_dwarf_said),
        cmocka_unit_test(test_every_release_of_this_machine_is_read),
        cmocka_unit_test(test_damaged_tables_have_clean_answers),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

/* Which debug files are found for a library, and which files are taken for it when the mapped one is gone, replaced, or
 * in a root directory that is not ours. Programs and debug files are made by gcc and objcopy. */
#include "os/file_io.h"
#include "support/command.h"
#include "symbol/debug_file.h"
#include "symbol/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/test_debug_file_XXXXXX";
static char directory[300]; /* of the running test, below `top` */

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    run_in(directory, format, args);
    va_end(args);
}

static int make_top(void **unused)
{
    (void)unused;
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **unused)
{
    char command[300];
    (void)unused;
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return system(command);
}

/* A directory with `whole`, its debug info in `whole.debug`, and `bare`, which has neither symbols nor a link to it.
 * The second argument of gcc's --build-id is for tests of programs that have none. */
static void make_program(const char *name, const char *build_id)
{
    snprintf(directory, sizeof(directory), "%s/%s", top, name);
    assert_int_equal(mkdir(directory, 0755), 0);
    run("echo 'int twice(int x) { return 2 * x; } int main(int c, char **v) { (void)v; return twice(c); }' >a.c && "
        "gcc -g -O0 -Wl,--build-id=%s -o whole a.c && objcopy --only-keep-debug whole whole.debug && "
        "strip -o bare whole",
        build_id);
}

struct library {
    struct elf_file file; /* only its build id is of use */
    char path[600];
    struct symbol_origin origin;
    struct file_source *kept; /* or NULL */
    struct symbol_lib lib;
};

/* The library as a recorder that keeps nothing open describes it. */
static void describe(struct library *library, const char *name)
{
    snprintf(library->path, sizeof(library->path), "%s/%s", directory, name);
    assert_int_equal(elf_file_open(&library->file, library->path, NULL), 0);
    library->kept = NULL;
    library->origin = (struct symbol_origin){.root_fd = -1};
    library->origin.identity = library->file.source->identity;
    library->lib = (struct symbol_lib){.kind = SYMBOL_LIB_ELF,
                                       .name = name,
                                       .path = library->path,
                                       .build_id = library->file.build_id_size ? library->file.build_id : NULL,
                                       .build_id_size = library->file.build_id_size,
                                       .origin = &library->origin};
}

static void keep_open(struct library *library)
{
    int fd = open(library->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(file_source_new(&library->kept, fd, -1, library->path, NULL), 0);
    library->origin.file = library->kept;
}

static void forget(struct library *library)
{
    file_source_unref(library->kept);
    if (library->origin.root_fd >= 0)
        close(library->origin.root_fd);
    elf_file_close(&library->file);
}

/* The build id as it is in the names of files. */
static const char *hex_of(const struct library *library)
{
    static char hex[2 * ELF_BUILD_ID_MAX + 1];
    for (size_t i = 0; i < library->lib.build_id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", library->lib.build_id[i]);
    return hex;
}

/* Looks in the given directory first, and nowhere in the real system. */
static void open_files(struct debug_files *files, const struct library *library, const char *named)
{
    static struct debug_search search;
    static const char *named_directory;
    named_directory = named;
    search =
        (struct debug_search){.directories = &named_directory, .directory_count = named ? 1 : 0, .root = "/nowhere"};
    debug_files_open(files, &library->lib, &search);
}

static bool finds_debug_info(const struct library *library, const char *named)
{
    struct debug_files files;
    open_files(&files, library, named);
    bool found = debug_files_get_dwarf(&files) != NULL;
    if (found)
        assert_string_equal(files.problem, "");
    debug_files_close(&files);
    return found;
}

static const char *in_directory(const char *name)
{
    static char path[700];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void test_named_directory_may_be_laid_out_in_several_ways(void **unused)
{
    (void)unused;
    make_program("layouts", "sha1");
    struct library bare;
    describe(&bare, "bare");
    const char *id = hex_of(&bare);
    char layouts[7][1000];
    snprintf(layouts[0], sizeof(layouts[0]), ".build-id/%.2s/%s.debug", id, id + 2);
    snprintf(layouts[1], sizeof(layouts[1]), ".build-id/%.2s/%s", id, id + 2);
    snprintf(layouts[2], sizeof(layouts[2]), "usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
    snprintf(layouts[3], sizeof(layouts[3]), "bare.debug");
    snprintf(layouts[4], sizeof(layouts[4]), "bare");
    snprintf(layouts[5], sizeof(layouts[5]), "%s.debug", bare.path + 1);
    snprintf(layouts[6], sizeof(layouts[6]), "%s", bare.path + 1);
    assert_false(finds_debug_info(&bare, NULL));
    for (size_t i = 0; i < 7; i++) {
        run("rm -rf named && mkdir -p \"named/$(dirname %s)\" && cp whole.debug named/%s", layouts[i], layouts[i]);
        if (!finds_debug_info(&bare, in_directory("named")))
            fail_msg("not found: %s", layouts[i]);
    }
    forget(&bare);
}

static void test_debug_file_of_another_build_in_a_named_directory_is_said(void **unused)
{
    (void)unused;
    make_program("other", "sha1");
    struct library bare;
    struct debug_files files;
    describe(&bare, "bare");
    run("mkdir named && sed s/2/3/ a.c >b.c && gcc -g -Wl,--build-id -o named/bare.debug b.c");
    open_files(&files, &bare, in_directory("named"));
    assert_null(debug_files_get_dwarf(&files));
    assert_non_null(strstr(files.problem, "named/bare.debug does not belong"));
    debug_files_close(&files);
    run("cp whole.debug named/bare");
    assert_true(finds_debug_info(&bare, in_directory("named"))); /* and then there is nothing to say */
    forget(&bare);
}

static void test_search_goes_on_behind_a_file_with_symbols_alone(void **unused)
{
    (void)unused;
    make_program("worth", "sha1");
    struct library bare;
    struct debug_files files;
    describe(&bare, "bare");
    run("mkdir named && objcopy --strip-debug whole named/bare.debug");
    open_files(&files, &bare, in_directory("named"));
    assert_true(files.has_mapped && files.has_separate);
    assert_non_null(elf_file_find_section(&files.separate, ".symtab"));
    debug_files_close(&files);
    run("cp whole.debug named/bare");
    assert_true(finds_debug_info(&bare, in_directory("named")));
    forget(&bare);
}

static void test_copy_in_a_named_directory_stands_for_the_missing_file(void **unused)
{
    (void)unused;
    make_program("copy", "sha1");
    struct library bare;
    struct debug_files files;
    struct elf_file code;
    struct error err = {""};
    describe(&bare, "bare");
    run("mkdir named && mv bare named && cp whole.debug named/bare.debug");
    open_files(&files, &bare, in_directory("named"));
    assert_true(files.has_separate);
    assert_non_null(debug_files_get_dwarf(&files));
    assert_int_equal(files.missing_symbols, MISSING_SYMBOLS_NO_FILE);
    assert_non_null(strstr(files.problem, "does not exist"));
    debug_files_close(&files);
    const char *named = in_directory("named");
    struct debug_search search = {.directories = &named, .directory_count = 1};
    assert_int_equal(debug_file_open_code(&code, &bare.lib, &search, &err), 0);
    assert_non_null(elf_file_find_section(&code, ".text"));
    elf_file_close(&code);
    assert_int_equal(debug_file_open_code(&code, &bare.lib, NULL, &err), -ENOENT);
    assert_non_null(strstr(err.text, "does not exist"));
    forget(&bare);
}

static void test_kept_file_is_used_when_its_path_is_gone_or_another_one(void **unused)
{
    (void)unused;
    make_program("kept", "sha1");
    struct library whole;
    describe(&whole, "whole");
    keep_open(&whole);
    run("rm whole");
    assert_true(finds_debug_info(&whole, NULL));
    run("cp /bin/true whole");
    assert_true(finds_debug_info(&whole, NULL));
    forget(&whole);
}

static void test_file_overwritten_in_place_is_not_used(void **unused)
{
    (void)unused;
    make_program("overwritten", "sha1");
    struct library whole;
    struct debug_files files;
    describe(&whole, "whole");
    keep_open(&whole);
    run("sed s/2/3/ a.c >b.c && gcc -g -Wl,--build-id -o new b.c && cat new >whole");
    open_files(&files, &whole, NULL);
    assert_false(files.has_mapped || files.has_separate);
    assert_int_equal(files.missing_symbols, MISSING_SYMBOLS_REPLACED);
    assert_non_null(strstr(files.problem, "was replaced after it was mapped: the file there has another build ID"));
    debug_files_close(&files);
    forget(&whole);
}

static void test_file_without_build_id_must_be_unchanged(void **unused)
{
    (void)unused;
    make_program("unchanged", "none");
    struct library whole;
    struct debug_files files;
    describe(&whole, "whole");
    assert_null(whole.lib.build_id);
    assert_true(finds_debug_info(&whole, NULL));
    run("touch -d '1 hour ago' whole");
    open_files(&files, &whole, NULL);
    assert_false(files.has_mapped);
    assert_int_equal(files.missing_symbols, MISSING_SYMBOLS_REPLACED);
    assert_non_null(strstr(files.problem, "another size or time"));
    debug_files_close(&files);
    forget(&whole);
}

static void test_without_build_id_the_checksum_of_the_link_decides(void **unused)
{
    (void)unused;
    make_program("linked", "none");
    struct library linked;
    struct debug_files files;
    run("objcopy --add-gnu-debuglink=whole.debug bare linked");
    describe(&linked, "linked");
    assert_true(finds_debug_info(&linked, NULL));
    run("sed s/2/3/ a.c >b.c && gcc -g -O0 -Wl,--build-id=none -o new b.c && objcopy --only-keep-debug new "
        "whole.debug");
    open_files(&files, &linked, NULL);
    assert_true(files.has_mapped);
    assert_false(files.has_separate);
    assert_non_null(strstr(files.problem, "does not belong to the mapped file: its build ID or checksum differs"));
    debug_files_close(&files);
    forget(&linked);
}

static void test_file_without_build_id_that_nobody_saw_is_not_used(void **unused)
{
    (void)unused;
    make_program("unseen", "none");
    struct library whole;
    struct debug_files files;
    describe(&whole, "whole");
    whole.origin.identity = (struct file_identity){0};
    open_files(&files, &whole, NULL);
    assert_false(files.has_mapped);
    assert_non_null(strstr(files.problem, "cannot identify"));
    debug_files_close(&files);
    forget(&whole);
}

static void test_files_are_found_in_the_root_directory_of_the_process(void **unused)
{
    (void)unused;
    make_program("container", "sha1");
    struct library bare;
    describe(&bare, "bare");
    const char *id = hex_of(&bare);
    run("mkdir -p root/opt root/store/%.2s root/usr/lib/debug && mv bare root/opt/program && "
        "mv whole.debug root/store/%.2s/%s.debug && ln -s /store root/usr/lib/debug/.build-id",
        id, id, id + 2);
    bare.lib.path = "/opt/program"; /* which is none in our root directory */
    bare.origin.root_fd = open(in_directory("root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct debug_files files;
    debug_files_open(&files, &bare.lib, NULL);
    assert_true(files.has_mapped);
    assert_ptr_equal(debug_files_get_dwarf(&files), &files.separate);
    debug_files_close(&files);
    run("mkdir root/opt/.debug && mv root/store/*/*.debug root/opt/.debug/linked && "
        "objcopy --add-gnu-debuglink=root/opt/.debug/linked root/opt/program");
    debug_files_open(&files, &bare.lib, NULL);
    assert_ptr_equal(debug_files_get_dwarf(&files), &files.separate);
    debug_files_close(&files);
    forget(&bare);
}

static struct symbol_answers look_up(const struct symbol_lib *lib, const struct debug_search *search,
                                     const uint64_t *rvas, size_t count)
{
    struct error err = {""};
    struct symbol_answers answers;
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.search = search});
    assert_non_null(symbolizer);
    assert_int_equal(symbolizer_lookup(symbolizer, lib, rvas, count, &answers, &err), 0);
    symbolizer_free(symbolizer);
    return answers;
}

static void test_links_that_lead_nowhere_good_end(void **unused)
{
    (void)unused;
    make_program("links", "sha1");
    struct library linked;
    run("cp bare linked && cp bare alone.debug && objcopy --add-gnu-debuglink=alone.debug linked");
    describe(&linked, "linked");
    run("cp linked alone.debug"); /* its own link leads to itself */
    assert_false(finds_debug_info(&linked, NULL));
    run("rm alone.debug && ln -s alone.debug alone.debug");
    assert_false(finds_debug_info(&linked, NULL));
    run("rm alone.debug && mkfifo alone.debug"); /* which nobody writes to */
    assert_false(finds_debug_info(&linked, NULL));
    run("rm alone.debug && mkdir alone.debug");
    assert_false(finds_debug_info(&linked, NULL));
    run("rmdir alone.debug && truncate -s 1T alone.debug");
    assert_false(finds_debug_info(&linked, NULL));
    run("rm alone.debug && cp whole.debug alone.debug");
    assert_true(finds_debug_info(&linked, NULL));
    forget(&linked);
}

static void test_why_a_file_is_not_used_is_told(void **unused)
{
    (void)unused;
    make_program("reasons", "sha1");
    const uint64_t rva = 0x1000;
    struct library whole;
    describe(&whole, "whole");
    struct debug_search search = {.root = "/nowhere"};
    run("truncate -s 3000 whole");
    struct symbol_answers answers = look_up(&whole.lib, &search, &rva, 1);
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_DAMAGED);
    assert_non_null(strstr(answers.problem, "/whole is damaged: its end is missing"));
    symbol_answers_destroy(&answers);
    run("echo no program >whole");
    answers = look_up(&whole.lib, &search, &rva, 1);
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_NOT_ELF);
    assert_non_null(strstr(answers.problem, "is not an ELF file"));
    symbol_answers_destroy(&answers);
    run("rm whole");
    answers = look_up(&whole.lib, &search, &rva, 1);
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_NO_FILE);
    symbol_answers_destroy(&answers);
    run("cp bare whole && chmod 0 whole");
    bool is_root = geteuid() == 0;
    if (is_root)
        assert_int_equal(seteuid(65534), 0);
    answers = look_up(&whole.lib, &search, &rva, 1);
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_NOT_READABLE);
    assert_non_null(strstr(answers.problem, "Permission denied"));
    symbol_answers_destroy(&answers);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    run("chmod 700 whole");
    answers = look_up(&whole.lib, &search, &rva, 1);
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_STRIPPED);
    symbol_answers_destroy(&answers);
    forget(&whole);
}

static void test_truncated_debug_files_do_no_harm(void **unused)
{
    (void)unused;
    enum { STEP = 61 };
    make_program("truncated", "sha1");
    struct library bare;
    struct stat status;
    const uint64_t rvas[] = {0x1000, 0x1120, 0x1129, 0x1130, 0x1140, 0x1150}; /* around main() */
    describe(&bare, "bare");
    run("mkdir named && cp whole.debug named/bare.debug");
    char named_path[400];
    snprintf(named_path, sizeof(named_path), "%s/named", directory);
    const char *named = named_path;
    struct debug_search search = {.directories = &named, .directory_count = 1, .root = "/nowhere"};
    char cut[400];
    snprintf(cut, sizeof(cut), "%s/named/bare.debug", directory);
    stat(cut, &status);
    for (off_t size = status.st_size; size >= 0; size -= STEP) {
        assert_int_equal(truncate(cut, size), 0);
        struct symbol_answers answers = look_up(&bare.lib, &search, rvas, 6);
        assert_true(answers.is_found);
        symbol_answers_destroy(&answers);
    }
    forget(&bare);
}

/* A stand-in for a vmlinux, which is half a gigabyte. */
static void test_vmlinux_is_found_by_its_build_id_alone(void **unused)
{
    (void)unused;
    struct utsname system;
    uname(&system);
    snprintf(directory, sizeof(directory), "%s/kernel", top);
    assert_int_equal(mkdir(directory, 0755), 0);
    run("echo 'static inline int in(int x) { return x * 7; } int do_it(int x) { return in(x); } void _start(void) {}' "
        ">v.c && gcc -g -O2 -nostdlib -static -no-pie -Wl,--build-id=0x0123456789abcdef,-Ttext-segment=0x81000000 "
        "-o vmlinux v.c");
    static const unsigned char id[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    struct symbol_lib lib = {
        .kind = SYMBOL_LIB_KERNEL, .name = "[kernel.kallsyms]", .build_id = id, .build_id_size = sizeof(id)};
    char root[400];
    snprintf(root, sizeof(root), "%s/debug", directory);
    struct debug_search search = {.root = root};
    struct elf_file file;
    char places[3][200] = {"", "", ".build-id/01/23456789abcdef.debug"};
    snprintf(places[0], sizeof(places[0]), "boot/vmlinux-%s", system.release);
    snprintf(places[1], sizeof(places[1]), "lib/modules/%s/vmlinux", system.release);
    for (size_t i = 0; i < 3; i++) {
        assert_false(kernel_file_open(&file, &lib, &search));
        run("mkdir -p \"debug/$(dirname %s)\" && cp vmlinux debug/%s", places[i], places[i]);
        assert_true(kernel_file_open(&file, &lib, &search));
        assert_int_equal(file.base, 0x81000000);
        elf_file_close(&file);
        run("rm -r debug");
    }
    const char *named = directory;
    search = (struct debug_search){.directories = &named, .directory_count = 1, .root = root};
    assert_true(kernel_file_open(&file, &lib, &search));
    elf_file_close(&file);
    lib.build_id_size = 7;
    assert_false(kernel_file_open(&file, &lib, &search));
}

static void assert_frame(const struct symbol_answers *answers, size_t answer, uint32_t depth, const char *function,
                         uint32_t line)
{
    assert_true(depth < answers->answers[answer].frame_count);
    const struct symbol_frame *frame = &answers->frames.data[answers->answers[answer].first_frame + depth];
    assert_string_equal(frame->function, function);
    assert_int_equal(frame->line, line);
}

static void test_kernel_that_does_not_run_is_named_by_its_vmlinux(void **unused)
{
    (void)unused;
    snprintf(directory, sizeof(directory), "%s/past", top);
    assert_int_equal(mkdir(directory, 0755), 0);
    run("printf 'static inline int in(int x)\\n{\\n    return x * 7;\\n}\\nint do_it(int x)\\n{\\n    return "
        "in(x);\\n}\\n' "
        ">v.c && gcc -g -O2 -nostdlib -static -no-pie -Wl,-e,do_it,--build-id=0x0123456789abcdef,-Ttext=0x81000000 -o "
        "vmlinux v.c");
    static const unsigned char id[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    struct symbol_lib lib = {
        .kind = SYMBOL_LIB_KERNEL, .name = "[kernel.kallsyms]", .build_id = id, .build_id_size = sizeof(id)};
    const char *named = directory;
    struct debug_search search = {.directories = &named, .directory_count = 1, .root = "/nowhere"};
    struct elf_file file;
    assert_true(kernel_file_open(&file, &lib, &search));
    const uint64_t rva = 0x81000000 - file.base;
    elf_file_close(&file);
    struct symbol_answers answers = look_up(&lib, &search, &rva, 1);
    assert_string_equal(answers.answers[0].symbol, "do_it");
    assert_frame(&answers, 0, 0, "do_it", 7);
    assert_frame(&answers, 0, 1, "in", 3);
    symbol_answers_destroy(&answers);
    search = (struct debug_search){.root = "/nowhere"};
    answers = look_up(&lib, &search, &rva, 1); /* and not by the symbols of the one that runs */
    assert_null(answers.answers[0].symbol);
    assert_non_null(strstr(answers.problem, "the running kernel is not the recorded kernel"));
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_REPLACED);
    symbol_answers_destroy(&answers);
}

static void test_module_has_its_code_where_the_kernel_loads_it(void **unused)
{
    (void)unused;
    snprintf(directory, sizeof(directory), "%s/module", top);
    assert_int_equal(mkdir(directory, 0755), 0);
    run("printf 'int g;\\nint one(void) { return 1; }\\n__attribute__((section(\".init.text\"))) int start(void) { "
        "return "
        "2; }\\nstatic inline int in(int x)\\n{ return x * g; }\\nint two(int x)\\n{ return in(x); }\\n' >m.c && "
        "gcc -g -O2 -c -fno-pic -mcmodel=kernel -falign-functions=16 -ffunction-sections m.c && "
        "ld -r --build-id=0x0123456789abcdef -o test_mod.ko m.o");
    static const unsigned char id[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    struct symbol_lib lib = {
        .kind = SYMBOL_LIB_MODULE, .name = "[test_mod]", .build_id = id, .build_id_size = sizeof(id)};
    const char *named = directory;
    struct debug_search search = {.directories = &named, .directory_count = 1, .root = "/nowhere"};
    const uint64_t rvas[] = {1, 0x11}; /* .text.one and .text.two; .init.text between them is freed */
    struct symbol_answers answers = look_up(&lib, &search, rvas, 2);
    assert_true(answers.has_debug_info);
    assert_frame(&answers, 0, 0, "one", 2);
    assert_frame(&answers, 1, 0, "two", 7);
    assert_frame(&answers, 1, 1, "in", 5);
    symbol_answers_destroy(&answers);
    run("objcopy --compress-debug-sections test_mod.ko && mkdir debug && objcopy --only-keep-debug test_mod.ko "
        "debug/test_mod.ko.debug");
    named = in_directory("debug");
    answers = look_up(&lib, &search, rvas, 2);
    assert_frame(&answers, 0, 0, "one", 2);
    assert_frame(&answers, 1, 1, "in", 5);
    symbol_answers_destroy(&answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named_directory_may_be_laid_out_in_several_ways),
        cmocka_unit_test(test_debug_file_of_another_build_in_a_named_directory_is_said),
        cmocka_unit_test(test_search_goes_on_behind_a_file_with_symbols_alone),
        cmocka_unit_test(test_copy_in_a_named_directory_stands_for_the_missing_file),
        cmocka_unit_test(test_kept_file_is_used_when_its_path_is_gone_or_another_one),
        cmocka_unit_test(test_file_overwritten_in_place_is_not_used),
        cmocka_unit_test(test_file_without_build_id_must_be_unchanged),
        cmocka_unit_test(test_without_build_id_the_checksum_of_the_link_decides),
        cmocka_unit_test(test_file_without_build_id_that_nobody_saw_is_not_used),
        cmocka_unit_test(test_files_are_found_in_the_root_directory_of_the_process),
        cmocka_unit_test(test_links_that_lead_nowhere_good_end),
        cmocka_unit_test(test_why_a_file_is_not_used_is_told),
        cmocka_unit_test(test_truncated_debug_files_do_no_harm),
        cmocka_unit_test(test_vmlinux_is_found_by_its_build_id_alone),
        cmocka_unit_test(test_kernel_that_does_not_run_is_named_by_its_vmlinux),
        cmocka_unit_test(test_module_has_its_code_where_the_kernel_loads_it),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}

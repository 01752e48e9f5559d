/* Names: demangling of C++, Rust, D, Fortran and Ada within bounds, parts of functions, and the kernel's symbols. */
#include "base/checksum.h"
#include "os/file_io.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_demangles(const char *mangled, const char *expected)
{
    struct arena arena = {0};
    assert_string_equal(demangle(mangled, &arena), expected);
    arena_destroy(&arena);
}

static void test_cpp_names_are_demangled(void **unused)
{
    (void)unused;
    assert_demangles("_ZN3foo3barEi", "foo::bar(int)");
    assert_demangles("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)");
    assert_demangles("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
    assert_demangles("_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden(int)");
}

static void test_rust_names_lose_their_hash(void **unused)
{
    (void)unused;
    assert_demangles("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
    assert_demangles("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
                     "<alloc::string::String as core::fmt::Display>::fmt");
    assert_demangles("_ZN40_$LT$T$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
                     "<T as core::clone::Clone>::clone"); /* not a part ".clone" of anything */
    assert_demangles("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example");
}

static void test_rust_names_have_letters_of_all_languages(void **unused)
{
    (void)unused;
    assert_demangles("_ZN3uni18berechne_l$ue4$nge17h7d6d4d9ed180d83aE", "uni::berechne_l\u00e4nge");
    assert_demangles("_ZN3uni14$u65e5$$u672c$17h7d6d4d9ed180d83aE", "uni::\u65e5\u672c");
    assert_demangles("_ZN1a8$u1f980$17h7d6d4d9ed180d83aE", "a::\U0001f980");
    assert_demangles("_ZN1a4$u7$17h7d6d4d9ed180d83aE", "a::$u7$");           /* a control character */
    assert_demangles("_ZN1a7$ud800$17h7d6d4d9ed180d83aE", "a::$ud800$");     /* half a character */
    assert_demangles("_ZN1a9$u110000$17h7d6d4d9ed180d83aE", "a::$u110000$"); /* beyond Unicode */
    assert_demangles("_ZN1a6$what$17h7d6d4d9ed180d83aE", "a::$what$");
    assert_demangles("_ZN1a11_$LT$b$GT$c17h7d6d4d9ed180d83aE", "a::<b>c");
}

static void test_damaged_rust_names_stay(void **unused)
{
    (void)unused;
    assert_demangles("_ZN917h0123456789abcdefE", "_ZN917h0123456789abcdefE");
    assert_demangles("_ZN3uni7$u65e5$$u672c$17h7d6d4d9ed180d83aE", "_ZN3uni7$u65e5$$u672c$17h7d6d4d9ed180d83aE");
    assert_demangles("_ZN3foo17h0123456789abcdefX", "_ZN3foo17h0123456789abcdefX");
    assert_demangles("_ZN99999999999999999999foo17h0123456789abcdefE",
                     "_ZN99999999999999999999foo17h0123456789abcdefE");
}

static void assert_is_in_nim(const char *mangled, const char *expected)
{
    char name[DEMANGLE_NIM_MAX];
    assert_true(demangle_nim(mangled, name));
    assert_string_equal(name, expected);
}

static void test_names_of_nim_are_those_of_its_source(void **unused)
{
    (void)unused;
    char name[DEMANGLE_NIM_MAX], longest[DEMANGLE_NIM_MAX];
    assert_is_in_nim("hotLoop__work_12", "work.hotLoop");
    assert_is_in_nim("hotLoop__work_u12", "work.hotLoop");
    assert_is_in_nim("addInt__stdZprivateZdigitsutils_164", "std/private/digitsutils.addInt");
    assert_is_in_nim("eqeq___system_7", "system.`==`");
    assert_is_in_nim("X5BX5Deq___tables_3", "tables.`[]=`");
    assert_is_in_nim("widtheq___shapes_3", "shapes.widtheq_");
    const char *const others[] = {"main", "__work_1", "work_1", "a__b", "a__b_", "a__1", "a__b_c_1", "a___1", "__", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(demangle_nim(others[i], name));
    memset(longest, 'a', sizeof(longest));
    strcpy(longest + sizeof(longest) - 8, "__b_1");
    assert_false(demangle_nim(longest, name));
}

static void test_d_names_are_demangled(void **unused)
{
    (void)unused;
    assert_demangles("_Dmain", "D main");
    assert_demangles("_D8demangle4testFiAyaZv", "demangle.test(int, immutable(char)[])");
    assert_demangles("_D3std5stdio__T7writelnTAyaZ7writelnFNfAyaZv",
                     "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
    assert_demangles("_Data", "_Data");
}

static void test_procedures_of_fortran_modules_are_demangled(void **unused)
{
    (void)unused;
    assert_demangles("__geometry_MOD_area", "geometry::area");
    assert_demangles("__geometry_MOD___copy_geometry_Shape", "geometry::__copy_geometry_Shape");
    assert_demangles("__geometry_MOD_", "__geometry_MOD_");
    assert_demangles("___MOD_area", "___MOD_area");
    assert_demangles("__MOD_area", "__MOD_area");
}

static void assert_is_in_ada(const char *mangled, const char *expected)
{
    struct arena arena = {0};
    assert_string_equal(demangle_ada(mangled, &arena), expected);
    arena_destroy(&arena);
}

static void test_names_of_ada_are_written_with_dots(void **unused)
{
    (void)unused;
    assert_is_in_ada("shapes__draw", "shapes.draw");
    assert_is_in_ada("hello__shapes__area__2", "hello.shapes.area");
    assert_is_in_ada("hello__shapes__area.0", "hello.shapes.area");
    assert_is_in_ada("shapes__Oadd", "shapes.\"+\"");
    assert_is_in_ada("shapes__Oadd__3", "shapes.\"+\"");
    assert_is_in_ada("shapes__Oor", "shapes.\"or\"");
    assert_is_in_ada("shapes__Order", "shapes.Order");
    assert_is_in_ada("_ada_hello", "hello");
    assert_is_in_ada("__", "__");
    assert_is_in_ada("", "");
}

static void test_parts_say_so_after_the_name(void **unused)
{
    (void)unused;
    assert_demangles("_Z4workv.cold", "work() [clone .cold]");
    assert_demangles("_Z4workv.part.0.cold", "work() [clone .part.0] [clone .cold]");
    assert_demangles("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.1234",
                     "core::fmt::Write::write_fmt [clone .llvm.1234]");
    assert_demangles("_D8demangle4testFiZv.cold", "demangle.test(int) [clone .cold]");
    assert_demangles("work.cold", "work.cold");
}

static void test_other_names_stay(void **unused)
{
    (void)unused;
    assert_demangles("main", "main");
    assert_demangles("_Z", "_Z");
    assert_demangles("_ZN", "_ZN");
    assert_demangles("_R", "_R");
    assert_demangles("", "");
    assert_demangles("runtime.mallocgc", "runtime.mallocgc");
}

static void test_long_real_names_are_demangled(void **unused)
{
    (void)unused;
    /* f(a<a<...a<int>...> >), 300 deep: 1,500 characters, over libiberty's own limit. */
    char mangled[4096] = "_Z1f";
    for (int i = 0; i < 300; i++)
        strcat(mangled, "1aI");
    strcat(mangled, "i");
    for (int i = 0; i < 300; i++)
        strcat(mangled, "E");
    struct arena arena = {0};
    assert_int_equal(strncmp(demangle(mangled, &arena), "f(a<a<a<", 8), 0);
    arena_destroy(&arena);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Each substitution doubles what came before: 34 of them are 2^34 names. */
static void test_names_that_explode_are_left_as_they_are(void **unused)
{
    (void)unused;
    char mangled[4096];
    size_t length = (size_t)sprintf(mangled, "_Z1f1aIiiE");
    for (int i = 0; i < 34; i++)
        length += (size_t)sprintf(mangled + length, "S_IS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10,
                                  i < 10 ? '0' + i : 'A' + i - 10);
    struct arena arena = {0};
    double start = seconds();
    const char *name = demangle(mangled, &arena);
    assert_string_equal(name, mangled);
    assert_true(seconds() - start < 5);
    arena_destroy(&arena);
}

static void assert_left_soon(const char *mangled)
{
    struct arena arena = {0};
    double start = seconds();
    assert_string_equal(demangle(mangled, &arena), mangled);
    assert_true(seconds() - start < 5);
    arena_destroy(&arena);
}

/* A pack is searched in a function's parameters, of which each is twice the one before. */
static void test_packs_that_are_searched_for_years_are_left_as_they_are(void **unused)
{
    (void)unused;
    char mangled[4096];
    size_t length = (size_t)sprintf(mangled, "_Z1fDpFv1aIiiE");
    for (int i = 0; i < 34; i++)
        length += (size_t)sprintf(mangled + length, "S_IS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10,
                                  i < 10 ? '0' + i : 'A' + i - 10);
    strcpy(mangled + length, "E");
    assert_left_soon(mangled);
}

/* A template parameter with arguments is parsed twice in the name of a conversion, and so are its arguments. */
static void test_conversions_that_are_parsed_for_years_are_left_as_they_are(void **unused)
{
    (void)unused;
    char mangled[4096] = "_ZN1acv";
    for (int i = 0; i < 60; i++)
        strcat(mangled, "T_I");
    strcat(mangled, "i");
    for (int i = 0; i < 60; i++)
        strcat(mangled, "E");
    strcat(mangled, "Ev");
    assert_left_soon(mangled);
}

static void test_packs_and_conversions_of_real_names_are_demangled(void **unused)
{
    (void)unused;
    assert_demangles("_ZN4llvm15make_scope_exitIJZN1aC1EvEUlvE_S2_S2_S2_S2_S2_EEEvDpOT_",
                     "void llvm::make_scope_exit<a::a()::{lambda()#1}, a::a()::{lambda()#1}, a::a()::{lambda()#1}, "
                     "a::a()::{lambda()#1}, a::a()::{lambda()#1}, a::a()::{lambda()#1}>(a::a()::{lambda()#1}&&, "
                     "a::a()::{lambda()#1}&&, a::a()::{lambda()#1}&&, a::a()::{lambda()#1}&&, a::a()::{lambda()#1}&&, "
                     "a::a()::{lambda()#1}&&)");
    assert_demangles("_ZNK1acvT_IiEEv", "a::operator int<int>() const");
}

/* Associative arrays of the one before: each type doubles what came before. */
static void test_d_names_that_explode_are_left_as_they_are(void **unused)
{
    (void)unused;
    char mangled[4096];
    size_t length = (size_t)sprintf(mangled, "_D1fFHiiHQeQg");
    for (int i = 0; i < 40; i++)
        length += (size_t)sprintf(mangled + length, "HQgQi");
    sprintf(mangled + length, "Zv");
    struct arena arena = {0};
    double start = seconds();
    const char *name = demangle(mangled, &arena);
    assert_string_equal(name, mangled);
    assert_true(seconds() - start < 5);
    sprintf(mangled, "_D1fFHiiHQeQgHQgQiZv");
    assert_string_equal(demangle(mangled, &arena),
                        "f(int[int], int[int][int[int]], int[int][int[int]][int[int][int[int]]])");
    arena_destroy(&arena);
}

static void test_deep_and_long_names_do_not_end_the_program(void **unused)
{
    (void)unused;
    static const char *const parts[] = {"P", "1aI", "N1a", "Dp", "F", "LZ", "X", "sZ", "dp", "J", "PF", "H"};
    struct arena arena = {0};
    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
        for (size_t size = 1000; size <= DEMANGLE_INPUT_MAX + 1000; size += 5000) {
            char *mangled = malloc(size + 16);
            size_t length = (size_t)sprintf(mangled, "_Z1f");
            while (length < size) {
                strcpy(mangled + length, parts[p]);
                length += strlen(parts[p]);
            }
            assert_non_null(demangle(mangled, &arena));
            for (const char *kind = "RD"; *kind; kind++) {
                memcpy(mangled, (char[]){'_', *kind, '1', 'f'}, 4);
                assert_non_null(demangle(mangled, &arena));
            }
            free(mangled);
        }
    arena_destroy(&arena);
}

static void test_parts_of_functions_share_a_name(void **unused)
{
    (void)unused;
    assert_int_equal(measure_base_name("work.cold"), 4);
    assert_int_equal(measure_base_name("work.constprop.0.isra.3"), 4);
    assert_int_equal(measure_base_name("_Z1fv.part.0.cold"), 5);
    assert_int_equal(measure_base_name("main.(*T).method"), strlen("main.(*T).method"));
    assert_int_equal(measure_base_name("a.colder"), strlen("a.colder"));
    assert_int_equal(measure_base_name("a.cold.b"), strlen("a.cold.b"));
    assert_int_equal(measure_base_name("a.cold.b.cold.1"), strlen("a.cold.b"));
    assert_int_equal(measure_base_name("_ZL4workv.__uniq.123456.llvm.7"), 9);
    assert_int_equal(measure_base_name(".cold"), strlen(".cold"));
    assert_int_equal(measure_base_name(""), 0);
}

/* ---- kallsyms ---- */

static struct kallsyms load(const char *symbols, const char *modules)
{
    char symbols_path[] = "/tmp/test_kallsyms_XXXXXX", modules_path[] = "/tmp/test_modules_XXXXXX";
    const char *texts[] = {symbols, modules};
    char *paths[] = {symbols_path, modules_path};
    for (int i = 0; i < 2; i++) {
        int fd = mkstemp(paths[i]);
        assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
        close(fd);
    }
    struct kallsyms kallsyms;
    struct error err = {""};
    assert_int_equal(kallsyms_load(&kallsyms, symbols_path, modules_path, &err), 0);
    unlink(symbols_path);
    unlink(modules_path);
    return kallsyms;
}

static const char kernel_text[] = "ffffffff81000000 T _stext\n"
                                  "ffffffff81000000 T _text\n"
                                  "ffffffff81000100 t do_work\n"
                                  "ffffffff82000000 D some_data\n"
                                  "ffffffff81000400 T schedule\n"
                                  "ffffffffc0001000 t init_it\t[nf_tables]\n"
                                  "ffffffffc0001080 T run_it\t[nf_tables]\n";
static const char module_text[] = "nf_tables 200704 12 nft_ct, Live 0xffffffffc0001000\n";

static void assert_kernel_symbol(const struct kallsyms *kallsyms, const char *module, uint64_t address,
                                 const char *name, uint64_t expected_size)
{
    uint64_t size = 0;
    const struct kernel_symbol *symbol = kallsyms_find(kallsyms, module, address, &size);
    assert_non_null(symbol);
    assert_string_equal(kallsyms->text + symbol->name, name);
    assert_int_equal(size, expected_size);
}

static void test_kernel_functions_are_found(void **unused)
{
    (void)unused;
    struct kallsyms kallsyms = load(kernel_text, module_text);
    uint64_t size;
    assert_string_equal(kallsyms.problem, "");
    assert_int_equal(kallsyms_find_base(&kallsyms, NULL), 0xffffffff81000000);
    assert_int_equal(kallsyms_find_base(&kallsyms, "[nf_tables]"), 0xffffffffc0001000);
    assert_int_equal(kallsyms_find_base(&kallsyms, "nf_tables"), 0xffffffffc0001000);
    assert_int_equal(kallsyms_find_base(&kallsyms, "[nf]"), 0);
    assert_kernel_symbol(&kallsyms, NULL, 0xffffffff81000123, "do_work", 0x300);
    assert_kernel_symbol(&kallsyms, "[nf_tables]", 0xffffffffc0001001, "init_it", 0x80);
    assert_kernel_symbol(&kallsyms, "[nf_tables]", 0xffffffffc0001090, "run_it", 0);
    const struct kernel_symbol *anywhere = kallsyms_find_anywhere(&kallsyms, 0xffffffffc0001090);
    assert_string_equal(kallsyms.text + anywhere->name, "run_it");
    assert_string_equal(kallsyms_get_module(&kallsyms, anywhere), "nf_tables");
    assert_null(kallsyms_get_module(&kallsyms, kallsyms_find_anywhere(&kallsyms, 0xffffffff81000123)));
    assert_null(kallsyms_find_anywhere(&kallsyms, 0xffffffffc0001080 + KALLSYMS_REACH));
    assert_null(kallsyms_find_anywhere(&kallsyms, 0x1000));
    assert_null(kallsyms_find(&kallsyms, "[other]", 0xffffffffc0001090, &size));
    assert_null(kallsyms_find(&kallsyms, NULL, 0x1000, &size));
    kallsyms_destroy(&kallsyms);
}

static void test_hidden_kernel_symbols_name_the_setting(void **unused)
{
    (void)unused;
    struct kallsyms kallsyms = load("0000000000000000 T _text\n0000000000000000 t do_work\n", "");
    assert_non_null(strstr(kallsyms.problem, "kernel.kptr_restrict"));
    assert_int_equal(kallsyms.symbols.length, 0);
    kallsyms_destroy(&kallsyms);
}

static void test_damaged_kernel_symbols_are_left_out(void **unused)
{
    (void)unused;
    struct kallsyms kallsyms = load("\n\n x\nzz T a\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
                                    "ffffffff81000040 T good\t[\nffffffff81000080 t also\t[mod",
                                    "a b\nmod 1 2 3 4 5\nmod 1 2 - Live 0xffff\n\n");
    assert_int_equal(kallsyms.symbols.length, 2);
    assert_int_equal(kallsyms_find_base(&kallsyms, "mod"), 0xffff);
    kallsyms_destroy(&kallsyms);
    struct error err;
    assert_int_equal(kallsyms_load(&kallsyms, "/nowhere/kallsyms", "/nowhere/modules", &err), 0);
    assert_non_null(strstr(kallsyms.problem, "cannot read /nowhere/kallsyms"));
    kallsyms_destroy(&kallsyms);
}

static unsigned char *encode_kernel(size_t *size)
{
    struct kallsyms kallsyms = load(kernel_text, module_text);
    unsigned char *bytes = kallsyms_encode(&kallsyms, size);
    assert_non_null(bytes);
    kallsyms_destroy(&kallsyms);
    return bytes;
}

/* Decodes from a file with these bytes. */
static int decode_kernel(struct kallsyms *saved, const unsigned char *bytes, size_t size, const uint64_t *rvas,
                         size_t count)
{
    int file = memfd_create("kernel", MFD_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(file_write(file, bytes, size), 0);
    int code = kallsyms_decode(saved, file, rvas, count);
    close(file);
    return code;
}

static void test_saved_kernel_functions_are_those_of_the_kernel_itself(void **unused)
{
    (void)unused;
    size_t size;
    unsigned char *bytes = encode_kernel(&size);
    struct kallsyms saved;
    static const uint64_t rvas[] = {0, 0x123, 0x400};
    assert_int_equal(decode_kernel(&saved, bytes, size, rvas, 3), 0);
    uint64_t base = kallsyms_find_base(&saved, NULL);
    assert_true(base != 0);
    assert_kernel_symbol(&saved, NULL, base, "_stext", 0x100);
    assert_kernel_symbol(&saved, NULL, base + 0x123, "do_work", 0x300);
    assert_kernel_symbol(&saved, NULL, base + 0x400, "schedule", 0);
    assert_int_equal(saved.symbols.length, 4);
    kallsyms_destroy(&saved);
    free(bytes);
}

static void test_kernels_that_are_hidden_are_not_saved(void **unused)
{
    (void)unused;
    size_t size;
    struct kallsyms kallsyms = load("0000000000000000 T _text\n0000000000000000 t do_work\n", "");
    assert_null(kallsyms_encode(&kallsyms, &size));
    kallsyms_destroy(&kallsyms);
}

/* Functions of 16 bytes each, in more than one block; each third has a second name. */
static unsigned char *encode_many(size_t count, size_t *size)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "ffffffff81000000 T _text\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%lx T function_%zu\n", 0xffffffff81001000 + 16 * i, i);
        if (i % 3 == 0)
            fprintf(out, "%lx t alias_%zu\n", 0xffffffff81001000 + 16 * i, i);
    }
    fclose(out);
    struct kallsyms kallsyms = load(text, "");
    free(text);
    unsigned char *bytes = kallsyms_encode(&kallsyms, size);
    assert_non_null(bytes);
    kallsyms_destroy(&kallsyms);
    return bytes;
}

static void test_saved_kernel_functions_are_found_without_reading_all(void **unused)
{
    (void)unused;
    enum { COUNT = 3000 };
    size_t size;
    unsigned char *bytes = encode_many(COUNT, &size);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct kallsyms saved;
        char name[32];
        uint64_t rva = 0x1000 + 16 * i + i % 16;
        snprintf(name, sizeof(name), "function_%d", (int)i);
        assert_int_equal(decode_kernel(&saved, bytes, size, &rva, 1), 0);
        assert_true(saved.symbols.length < COUNT / 5);
        assert_kernel_symbol(&saved, NULL, kallsyms_find_base(&saved, NULL) + rva, name, i + 1 < COUNT ? 16 : 0);
        kallsyms_destroy(&saved);
    }
    free(bytes);
}

/* Writes the checksums anew, as one who means harm would. `size` is that of a whole file of one block. */
static void seal(unsigned char *bytes, size_t size)
{
    enum { HEADER = 32, ENTRY = 16 };
    uint64_t blocks, at, checksum = checksum_bytes(bytes + HEADER, size - HEADER - ENTRY);
    memcpy(bytes + size - 8, &checksum, sizeof(checksum));
    memcpy(&blocks, bytes + 16, sizeof(blocks));
    memcpy(&at, bytes + 24, sizeof(at));
    checksum = checksum_mix(checksum_mix(blocks, at), checksum_bytes(bytes + size - ENTRY, ENTRY));
    memcpy(bytes + 8, &checksum, sizeof(checksum));
}

static void test_damaged_saved_kernel_functions_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t rvas[] = {0x123};
    size_t size;
    unsigned char *bytes = encode_kernel(&size);
    struct kallsyms saved;
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(decode_kernel(&saved, bytes, cut, rvas, 1), -EINVAL);
    for (size_t i = 0; i < size; i++) {
        unsigned char was = bytes[i];
        bytes[i] ^= 0x41;
        assert_int_equal(decode_kernel(&saved, bytes, size, rvas, 1), -EINVAL);
        seal(bytes, size);
        if (decode_kernel(&saved, bytes, size, rvas, 1) == 0)
            kallsyms_destroy(&saved);
        bytes[i] = was;
        seal(bytes, size);
    }
    bytes[size - 16 - 1] = 'x'; /* the last name does not end */
    seal(bytes, size);
    assert_int_equal(decode_kernel(&saved, bytes, size, rvas, 1), -EINVAL);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpp_names_are_demangled),
        cmocka_unit_test(test_rust_names_lose_their_hash),
        cmocka_unit_test(test_rust_names_have_letters_of_all_languages),
        cmocka_unit_test(test_damaged_rust_names_stay),
        cmocka_unit_test(test_names_of_nim_are_those_of_its_source),
        cmocka_unit_test(test_d_names_are_demangled),
        cmocka_unit_test(test_procedures_of_fortran_modules_are_demangled),
        cmocka_unit_test(test_names_of_ada_are_written_with_dots),
        cmocka_unit_test(test_parts_say_so_after_the_name),
        cmocka_unit_test(test_other_names_stay),
        cmocka_unit_test(test_long_real_names_are_demangled),
        cmocka_unit_test(test_names_that_explode_are_left_as_they_are),
        cmocka_unit_test(test_packs_that_are_searched_for_years_are_left_as_they_are),
        cmocka_unit_test(test_conversions_that_are_parsed_for_years_are_left_as_they_are),
        cmocka_unit_test(test_packs_and_conversions_of_real_names_are_demangled),
        cmocka_unit_test(test_d_names_that_explode_are_left_as_they_are),
        cmocka_unit_test(test_deep_and_long_names_do_not_end_the_program),
        cmocka_unit_test(test_parts_of_functions_share_a_name),
        cmocka_unit_test(test_kernel_functions_are_found),
        cmocka_unit_test(test_hidden_kernel_symbols_name_the_setting),
        cmocka_unit_test(test_damaged_kernel_symbols_are_left_out),
        cmocka_unit_test(test_saved_kernel_functions_are_those_of_the_kernel_itself),
        cmocka_unit_test(test_kernels_that_are_hidden_are_not_saved),
        cmocka_unit_test(test_saved_kernel_functions_are_found_without_reading_all),
        cmocka_unit_test(test_damaged_saved_kernel_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

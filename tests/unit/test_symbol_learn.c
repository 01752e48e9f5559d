/*
 * What is learned from one address of a unit is right for every other address of it, without the file: the second
 * recording of a program needs no debug info.
 */
#include "base/search.h"
#include "support/symbol_folder.h"
#include "symbol/symbol.h"

#include <errno.h>
#include <unistd.h>

static char program[64], hidden[64], cache[64];

/* Two units that both have the code of the header, of which the linker keeps one; and one that is never asked for. */
static const char shared_header[] = "#include <map>\n"
                                    "#include <string>\n"
                                    "#include <vector>\n"
                                    "template <class T> struct table {\n"
                                    "    std::map<T, std::vector<std::string>> rows;\n"
                                    "    void add(T key, int n)\n"
                                    "    {\n"
                                    "        for (int i = 0; i < n; i++)\n"
                                    "            rows[key].push_back(std::to_string(i));\n"
                                    "    }\n"
                                    "};\n"
                                    "__attribute__((noinline, used)) int first(int), second(int), third(int);\n";
static const char main_source[] = "#include \"shared.h\"\n"
                                  "int main(int argc, char **argv)\n"
                                  "{\n"
                                  "    table<int> numbers;\n"
                                  "    numbers.add(argc, 3);\n"
                                  "    return first(argc) + second(argc) + third((int)numbers.rows.size());\n"
                                  "}\n";
static const char first_source[] = "#include \"shared.h\"\n"
                                   "int first(int n)\n"
                                   "{\n"
                                   "    table<int> numbers;\n"
                                   "    table<std::string> texts;\n"
                                   "    numbers.add(n, n);\n"
                                   "    texts.add(\"text\", n);\n"
                                   "    return (int)(numbers.rows.size() + texts.rows.size());\n"
                                   "}\n";
static const char second_source[] = "#include \"shared.h\"\n"
                                    "int second(int n)\n"
                                    "{\n"
                                    "    table<std::string> texts;\n"
                                    "    texts.add(\"another\", n);\n"
                                    "    return (int)texts.rows.size();\n"
                                    "}\n";
static const char third_source[] = "int third(int n)\n"
                                   "{\n"
                                   "    return n + 1;\n"
                                   "}\n";

static int make_folder(void **unused)
{
    (void)unused;
    if (make_empty_folder(NULL) != 0)
        return -1;
    snprintf(program, sizeof(program), "%s/program", folder);
    snprintf(hidden, sizeof(hidden), "%s/hidden", folder);
    snprintf(cache, sizeof(cache), "%s/cache", folder);
    write_text("shared.h", shared_header);
    write_text("main.cpp", main_source);
    write_text("first.cpp", first_source);
    write_text("second.cpp", second_source);
    write_text("third.cpp", third_source);
    return 0;
}

static void build(const char *compiler_and_flags)
{
    char command[512];
    snprintf(command, sizeof(command),
             "rm -rf cache *.o *.dwo program && for unit in *.cpp; do %s -c -o $unit.o $unit || exit 1; done && %s "
             "-Wl,--build-id -o program *.o",
             compiler_and_flags, compiler_and_flags);
    run(command);
}

/* ---- the program ---- */

struct text {
    struct elf_file file;
    struct symbol_lib lib;
    uint64_t *rvas; /* of every byte */
    size_t count;
};

static void open_text(struct text *text)
{
    struct error err = {""};
    assert_int_equal(elf_file_open(&text->file, program, &err), 0);
    const struct elf_section *section = elf_file_section(&text->file, ".text");
    assert_non_null(section);
    text->count = (size_t)section->bytes.size;
    text->rvas = malloc(text->count * sizeof(*text->rvas));
    assert_non_null(text->rvas);
    for (size_t i = 0; i < text->count; i++)
        text->rvas[i] = section->address - text->file.base + i;
    text->lib = (struct symbol_lib){.kind = SYMBOL_LIB_ELF,
                                    .name = "program",
                                    .path = program,
                                    .build_id = text->file.build_id,
                                    .build_id_size = text->file.build_id_size};
}

static void close_text(struct text *text)
{
    elf_file_close(&text->file);
    free(text->rvas);
}

static struct symbolizer *new_symbolizer(void)
{
    struct error err = {""};
    struct symbolizer_options options = {.threads = 2, .use_cache = true, .cache_folder = cache};
    struct symbolizer *symbolizer = symbolizer_new(&options, &err);
    assert_non_null(symbolizer);
    return symbolizer;
}

static struct symbol_answers look_up_all(const struct text *text)
{
    struct error err = {""};
    struct symbol_answers answers;
    struct symbolizer *symbolizer = new_symbolizer();
    assert_int_equal(symbolizer_lookup(symbolizer, &text->lib, text->rvas, text->count, &answers, &err), 0);
    symbolizer_free(symbolizer);
    return answers;
}

/* Looks up one address in each of main(), first() and second(), and lets the symbolizer learn what comes with it. */
static int learn(const struct text *text, const atomic_bool *stop)
{
    struct error err = {""};
    struct symbol_answers answers;
    struct symbolizer *symbolizer = new_symbolizer();
    uint64_t rvas[] = {address_of(program, "main"), address_of(program, "_Z5firsti"),
                       address_of(program, "_Z6secondi")};
    sort_distinct(rvas, 3);
    assert_int_equal(symbolizer_lookup(symbolizer, &text->lib, rvas, 3, &answers, &err), 0);
    symbol_answers_destroy(&answers);
    int result = symbolizer_learn_more(symbolizer, stop, &err);
    symbolizer_free(symbolizer);
    return result;
}

/* ---- comparing ---- */

static bool equal_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool equal_frames(const struct symbol_frame *a, const struct symbol_frame *b)
{
    return equal_texts(a->function, b->function) && equal_texts(a->file, b->file) && a->line == b->line &&
           a->column == b->column;
}

static void assert_equal_answers(const struct symbol_answers *a, const struct symbol_answers *b, size_t i)
{
    const struct symbol_answer *x = &a->answers[i], *y = &b->answers[i];
    assert_true(equal_texts(x->symbol, y->symbol));
    assert_int_equal(x->symbol_address, y->symbol_address);
    assert_int_equal(x->symbol_size, y->symbol_size);
    assert_int_equal(x->frame_count, y->frame_count);
    for (uint32_t f = 0; f < x->frame_count; f++)
        assert_true(equal_frames(&a->frames.data[x->first_frame + f], &b->frames.data[y->first_frame + f]));
}

/* How many addresses of functions have an answer without the file; each has the one that the file gives. */
static size_t count_known(const struct text *text, const struct symbol_answers *known, size_t *of)
{
    struct symbol_answers fresh = lookup(&text->lib, text->rvas, text->count);
    size_t count = 0;
    *of = 0;
    for (size_t i = 0; i < text->count; i++) {
        const struct symbol_answer *answer = &fresh.answers[i];
        const char *name = answer->frame_count ? fresh.frames.data[answer->first_frame].file : NULL;
        *of += name && !strstr(name, "third.cpp");
        count += known->answers[i].frame_count > 0;
        if (known->answers[i].frame_count)
            assert_equal_answers(known, &fresh, i);
    }
    symbol_answers_destroy(&fresh);
    return count;
}

static void check_build(const char *compiler_and_flags)
{
    struct text text;
    atomic_bool stop = false;
    size_t of;
    build(compiler_and_flags);
    open_text(&text);
    assert_int_equal(learn(&text, &stop), 0);
    assert_int_equal(rename(program, hidden), 0);
    struct symbol_answers known = look_up_all(&text);
    assert_int_equal(rename(hidden, program), 0);
    size_t count = count_known(&text, &known, &of);
    assert_true(of > 2000);
    if (count < of / 20 * 19)
        fail_msg("%s: only %zu of %zu addresses are known", compiler_and_flags, count, of);
    symbol_answers_destroy(&known);
    close_text(&text);
}

/* ---- tests ---- */

static void test_units_are_known_whole(void **unused)
{
    (void)unused;
    check_build("g++ -g -O2");
    check_build("g++ -g -O2 -gdwarf-4 -ffunction-sections");
    check_build("g++ -g -O0");
}

static void test_units_of_clang_are_known_whole(void **unused)
{
    (void)unused;
    if (!has_command("clang++"))
        skip();
    check_build("clang++ -g -O2");
}

static void test_split_units_are_known_whole(void **unused)
{
    (void)unused;
    check_build("g++ -g -O2 -gsplit-dwarf");
}

static void test_link_time_optimisation_is_known_whole(void **unused)
{
    (void)unused;
    check_build("g++ -g -O2 -flto");
}

static void test_learning_ends_when_it_is_told_to(void **unused)
{
    (void)unused;
    struct text text;
    atomic_bool stop = true;
    build("g++ -g -O2");
    open_text(&text);
    assert_int_equal(learn(&text, &stop), -ECANCELED);
    unlink(program);
    struct symbol_answers known = look_up_all(&text);
    size_t count = 0;
    for (size_t i = 0; i < known.count; i++)
        count += known.answers[i].frame_count > 0;
    assert_int_equal(count, 3); /* those that were asked for */
    symbol_answers_destroy(&known);
    close_text(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_are_known_whole),
        cmocka_unit_test(test_units_of_clang_are_known_whole),
        cmocka_unit_test(test_split_units_are_known_whole),
        cmocka_unit_test(test_link_time_optimisation_is_known_whole),
        cmocka_unit_test(test_learning_ends_when_it_is_told_to),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* Several threads read a program that is one large compile unit, or nearly, with the same answers as one thread. */
#include "support/symbol_directory.h"
#include "symbol/lookup.h"

#include <errno.h>

static char program[64];

static const char source[] = "#include <map>\n"
                             "#include <regex>\n"
                             "#include <string>\n"
                             "int main(int argc, char **argv)\n"
                             "{\n"
                             "    std::map<std::string, int> seen;\n"
                             "    for (int i = 0; i < argc; i++)\n"
                             "        seen[argv[i]] += std::regex_search(argv[i], std::regex(\"[a-z]+\"));\n"
                             "    return (int)seen.size();\n"
                             "}\n";

static int make_directory(void **unused)
{
    (void)unused;
    if (make_empty_directory(NULL) != 0)
        return -1;
    snprintf(program, sizeof(program), "%s/program", directory);
    write_text("program.cpp", source);
    return 0;
}

struct text {
    struct symbol_lib lib;
    uint64_t *rvas; /* of every 16th byte */
    size_t count;
};

static struct text open_text(void)
{
    enum { STEP = 16 };
    struct text text = {.lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = program}};
    struct elf_file file;
    assert_int_equal(elf_file_open(&file, program, NULL), 0);
    const struct elf_section *section = elf_file_find_section(&file, ".text");
    assert_non_null(section);
    text.count = (size_t)section->bytes.size / STEP;
    text.rvas = malloc(text.count * sizeof(*text.rvas));
    assert_non_null(text.rvas);
    for (size_t i = 0; i < text.count; i++)
        text.rvas[i] = section->address - file.base + i * STEP;
    elf_file_close(&file);
    return text;
}

static void open_lookup(struct lookup *lookup, struct symbol_job *job, const struct text *text, unsigned threads)
{
    *job = (struct symbol_job){.lib = text->lib, .rvas = text->rvas, .count = text->count};
    lookup_open_files(lookup, &job->lib, NULL);
    lookup->threads = threads;
    assert_int_equal(lookup_open(lookup, job, true, NULL), 0);
}

static void look_up(struct symbol_answers *answers, const struct text *text, unsigned threads)
{
    struct lookup lookup;
    struct symbol_job job;
    open_lookup(&lookup, &job, text, threads);
    assert_int_equal(lookup_match_symbols(&lookup, NULL, NULL), 0);
    for (size_t i = 0; i < lookup.units.length; i++)
        assert_int_equal(lookup_read_unit(&lookup, i, NULL), 0);
    assert_int_equal(lookup_fill_answers(&lookup, NULL), 0);
    lookup_close(&lookup);
    *answers = job.answers;
}

static void test_a_large_unit_is_cut_into_parts_that_have_all_of_its_addresses(void **unused)
{
    (void)unused;
    enum { THREADS = 4 };
    run("g++ -g -O2 -o program program.cpp");
    struct text text = open_text();
    struct lookup whole, cut;
    struct symbol_job whole_job, cut_job;
    open_lookup(&whole, &whole_job, &text, 1);
    open_lookup(&cut, &cut_job, &text, THREADS);
    assert_int_equal(whole.units.length, 1);
    assert_int_equal(cut.units.length, THREADS);
    size_t next = whole.units.data[0].first;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(cut.units.data[i].unit, whole.units.data[0].unit);
        assert_int_equal(cut.units.data[i].first, next);
        assert_true(cut.units.data[i].count >= whole.units.data[0].count / THREADS);
        next += cut.units.data[i].count;
    }
    assert_int_equal(next, whole.units.data[0].first + whole.units.data[0].count);
    lookup_close(&whole);
    lookup_close(&cut);
    symbol_answers_destroy(&whole_job.answers);
    symbol_answers_destroy(&cut_job.answers);
    free(text.rvas);
}

static void assert_same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(a == b);
}

static void check_build(const char *command)
{
    struct symbol_answers one, several;
    run("%s", command);
    struct text text = open_text();
    look_up(&one, &text, 1);
    look_up(&several, &text, 4);
    assert_true(one.count > 1000);
    assert_int_equal(one.frames.length, several.frames.length);
    for (size_t i = 0; i < one.count; i++) {
        assert_same_text(one.answers[i].symbol, several.answers[i].symbol);
        assert_int_equal(one.answers[i].first_frame, several.answers[i].first_frame);
        assert_int_equal(one.answers[i].frame_count, several.answers[i].frame_count);
    }
    for (size_t i = 0; i < one.frames.length; i++) {
        const struct symbol_frame *a = &one.frames.data[i], *b = &several.frames.data[i];
        assert_same_text(a->function, b->function);
        assert_same_text(a->file, b->file);
        assert_int_equal(a->line, b->line);
        assert_int_equal(a->column, b->column);
    }
    symbol_answers_destroy(&one);
    symbol_answers_destroy(&several);
    free(text.rvas);
}

static void test_several_threads_find_what_one_finds(void **unused)
{
    (void)unused;
    check_build("g++ -g -O2 -o program program.cpp");
    check_build("g++ -g -O1 -gdwarf-4 -flto -o program program.cpp");
    check_build("g++ -g -O2 -gsplit-dwarf -o program program.cpp");
    if (has_command("clang++"))
        check_build("clang++ -g -O2 -o program program.cpp");
}

static void test_a_lookup_that_nobody_waits_for_is_given_up(void **unused)
{
    (void)unused;
    atomic_bool stop = false;
    struct symbolizer_options options = {.stop = &stop};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    struct symbol_answers answers;
    run("g++ -g -O2 -o program program.cpp");
    struct text text = open_text();
    assert_non_null(symbolizer);
    assert_int_equal(symbolizer_lookup(symbolizer, &text.lib, text.rvas, text.count, &answers, NULL), 0);
    symbol_answers_destroy(&answers);
    stop = true;
    assert_int_equal(symbolizer_lookup(symbolizer, &text.lib, text.rvas, text.count, &answers, NULL), -ECANCELED);
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
    free(text.rvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_unit_is_cut_into_parts_that_have_all_of_its_addresses),
        cmocka_unit_test(test_several_threads_find_what_one_finds),
        cmocka_unit_test(test_a_lookup_that_nobody_waits_for_is_given_up),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

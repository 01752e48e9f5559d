/*
 * Names, inline chains, files and lines are those of addr2line (GNU binutils), over the same programs as in
 * test_symbol_llvm.c: a second opinion, from another reader of DWARF. A difference counts as addr2line's error where
 * llvm-symbolizer says what we say. Without one of the tools a test is skipped.
 */
#include "support/agreement_llvm.h"

/* The answer to an address begins with the address; what is read too far is kept for the next one. */
static size_t read_frames(struct agreement *a, FILE *in, struct other_frame *frames, size_t max)
{
    static char line[AGREEMENT_LINE];
    static const struct agreement *owner;
    static bool has_line;
    size_t count = 0;
    if (owner != a || !has_line)
        assert_true(agreement_read_line(in, line));
    owner = a;
    assert_int_equal(strncmp(line, "0x", 2), 0);
    while ((has_line = agreement_read_line(in, line)) && strncmp(line, "0x", 2) != 0) {
        assert_true(count < max);
        struct other_frame *frame = &frames[count++];
        *frame = (struct other_frame){0};
        agreement_take_name(a, frame, line);
        assert_true(agreement_read_line(in, line));
        char *discriminator = strstr(line, " (discriminator ");
        if (discriminator)
            *discriminator = '\0';
        agreement_take_place(a, frame, line);
    }
    return count;
}

static const struct agreement_with addr2line;

static const char *explain_name(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost)
{
    const char *by_llvm = agreement_llvm_name(a, i, ours, theirs, is_outermost);
    if (by_llvm || !agreement_witness_is_for_us(a, &addr2line, i))
        return by_llvm;
    return "addr2line's name is wrong: llvm-symbolizer has ours";
}

static const char *explain_line(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost)
{
    const char *by_llvm = agreement_llvm_line(a, i, ours, theirs, is_outermost);
    if (by_llvm || !agreement_witness_is_for_us(a, &addr2line, i))
        return by_llvm;
    if (theirs->line == ours->line)
        return "addr2line's file is wrong, the line right: llvm-symbolizer has ours";
    if (!theirs->line)
        return "addr2line has no line: llvm-symbolizer has ours";
    return "addr2line's line is wrong: llvm-symbolizer has ours";
}

static const char *explain_count(struct agreement *a, size_t i, const struct symbol_frame *ours, size_t own_count,
                                 const struct other_frame *theirs, size_t count)
{
    (void)ours, (void)theirs;
    if (!agreement_witness_is_for_us(a, &addr2line, i))
        return NULL;
    return count < own_count ? "addr2line misses inlined calls: llvm-symbolizer has ours"
                             : "addr2line has too many inlined calls: llvm-symbolizer has ours";
}

static const struct agreement_with addr2line = {
    .name = "addr2line",
    .program = "addr2line",
    .command = "addr2line -a -f -i <%s -e '%s'",
    .read = read_frames,
    .explain_name = explain_name,
    .explain_line = explain_line,
    .explain_count = explain_count,
    .witness = &agreement_llvm,
};

int main(int argc, char **argv)
{
    if (argc > 1)
        return agreement_compare_files(argv + 1, &addr2line);
    const struct CMUnitTest tests[] = {
        AGREEMENT_TESTS(&addr2line),
    };
    return cmocka_run_group_tests(tests, NULL, agreement_print_totals);
}

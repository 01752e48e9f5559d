/* llvm-symbolizer as one to compare with (agreement.h), and where it and we differ on purpose. */
#pragma once

#include "support/agreement.h"

static size_t agreement_llvm_read(struct agreement *a, FILE *in, struct other_frame *frames, size_t max)
{
    static char line[AGREEMENT_LINE];
    size_t count = 0;
    while (agreement_read_line(in, line) && line[0]) {
        assert_true(count < max);
        struct other_frame *frame = &frames[count++];
        *frame = (struct other_frame){0};
        agreement_take_name(a, frame, line);
        assert_true(agreement_read_line(in, line));
        frame->column = agreement_cut_number(line);
        agreement_take_place(a, frame, line);
    }
    return count;
}

static const char *agreement_llvm_name(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                       const struct other_frame *theirs, bool is_outermost)
{
    const struct symbol_answer *answer = &a->answers.answers[i];
    size_t length = ours->function ? strlen(ours->function) : 0;
    size_t short_length = theirs->function ? strlen(theirs->function) : 0;
    if (!theirs->is_mangled && length > short_length + 2 && theirs->function &&
        strcmp(ours->function + length - short_length, theirs->function) == 0 &&
        strncmp(ours->function + length - short_length - 2, "::", 2) == 0)
        return "ours says more: the namespaces and classes around a DW_AT_name";
    if (!theirs->is_mangled && theirs->function && strncmp(theirs->function, "__GI_", 5) == 0)
        return "theirs is glibc's internal alias, which stands for the linkage name; we only take mangled ones";
    if (is_outermost && answer->symbol && theirs->function &&
        agreement_symbol_at(a, answer->symbol_address, theirs->function))
        return "either is right: they take the last of several symbols of an address, we the debug info's or the best";
    if (is_outermost && !theirs->function)
        return "theirs is missing: they find no symbol after a label without a size, we the function around it";
    return NULL;
}

static const char *agreement_llvm_line(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                       const struct other_frame *theirs, bool is_outermost)
{
    size_t length = theirs->file ? strlen(theirs->file) : 0, own_length = ours->file ? strlen(ours->file) : 0;
    bool is_object = agreement_ends_with(theirs->file, ".o");
    if (!ours->file && ours->line == 0 && theirs->line == 0 && length && (is_object || !strchr(theirs->file, '/')))
        return "theirs is wrong: without debug info the STT_FILE symbol before a static function, not always its file";
    if (own_length && length > own_length && strncmp(theirs->file, ours->file, length - own_length) == 0 &&
        agreement_ends_with(theirs->file, ours->file) && ours->line == theirs->line)
        return "theirs is wrong in LLVM 14, right in 19: a relative compilation directory twice (./csu/./csu/init.c)";
    if (is_outermost && !agreement_same(ours->function, theirs->function) && theirs->function &&
        agreement_symbol_at(a, a->answers.answers[i].symbol_address, theirs->function))
        return "either is right: the linker folded functions of the same code, with a line of each for one address";
    return NULL;
}

static const struct agreement_with agreement_llvm = {
    .name = "llvm-symbolizer",
    .program = "llvm-symbolizer",
    .command = "llvm-symbolizer --no-demangle <%s --obj='%s'",
    .has_columns = true,
    .read = agreement_llvm_read,
    .explain_name = agreement_llvm_name,
    .explain_line = agreement_llvm_line,
};

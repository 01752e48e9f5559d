/*
 * Names of functions in few columns. What tells C++, Rust and Swift functions apart is the qualified name; parameters
 * and template arguments can be a hundred times as long. So a name that is too long loses its parameter list first,
 * then arguments in brackets, the innermost first, and is cut in the middle only if that is not enough:
 *
 *     llvm::PassManager<llvm::Function, llvm::AnalysisManager<llvm::Function>>::run(llvm::Function&, ...)
 *     llvm::PassManager<llvm::Function, llvm::AnalysisManager<llvm::Function>>::run(…)
 *     llvm::PassManager<llvm::Function, llvm::AnalysisManager<…>>::run(…)
 *     llvm::PassManager<…>::run(…)
 *     llvm::Pass…r<…>::run(…)
 */
#include "report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char ellipsis[] = "\xe2\x80\xa6";

enum { DEEPEST = 100, BRACKET = 0x80 };

/* How many brackets each byte of a name lies in. A bracket counts for itself, and has BRACKET added. */
struct depths {
    uint8_t *of; /* per byte of the name */
    size_t length, deepest;
    size_t list; /* where the parameter list begins; `length` if there is none */
};

/* The length of what has the form of brackets and is none, or is worth as much as a name; else 0. */
static size_t length_of_plain(const char *name)
{
    static const char *const plain[] = {"(anonymous namespace)", "operator()", "->"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (strncmp(name, plain[i], strlen(plain[i])) == 0)
            return strlen(plain[i]);
    return strncmp(name, "operator", 8) == 0 ? 8 + strspn(name + 8, "<>-=") : 0;
}

/* Returns false if the brackets do not match. */
static bool find_depths(const char *name, struct depths *depths)
{
    char open[DEEPEST];
    size_t depth = 0;
    depths->list = depths->length;
    for (size_t at = 0; at < depths->length; at++) {
        size_t plain = length_of_plain(name + at);
        if (plain || !strchr("<>()", name[at])) {
            plain = plain ? plain : 1;
            memset(depths->of + at, (int)depth, plain);
            at += plain - 1;
            continue;
        }
        bool opens = name[at] == '<' || name[at] == '(';
        if (opens ? depth == DEEPEST : depth == 0 || open[depth - 1] != (name[at] == '>' ? '<' : '('))
            return false;
        if (name[at] == '(' && depth == 0 && at > 0)
            depths->list = at;
        if (opens)
            open[depth++] = name[at];
        depths->of[at] = (uint8_t)(depth | BRACKET);
        depths->deepest = depth > depths->deepest ? depth : depths->deepest;
        depth -= !opens;
    }
    return depth == 0;
}

/* The name with an ellipsis for what lies in `depth` brackets or more, and for its parameters. */
static void fold(char *out, const char *name, const struct depths *depths, size_t depth)
{
    bool is_folded = false;
    for (size_t i = 0; i < depths->length; i++) {
        size_t least = i >= depths->list ? 1 : depth, own = depths->of[i] & ~BRACKET;
        if (own < least || (own == least && depths->of[i] & BRACKET)) {
            *out++ = name[i];
            is_folded = false;
        } else if (!is_folded) {
            memcpy(out, ellipsis, strlen(ellipsis));
            out += strlen(ellipsis);
            is_folded = true;
        }
    }
    *out = '\0';
}

unsigned report_put_name(const struct report *report, const char *name, unsigned columns)
{
    struct depths depths = {.length = strlen(name)};
    if (!columns || report_text_columns(report, name) <= columns)
        return report_put_text(report, name, 0);
    char *folded = malloc(3 * depths.length + 1);
    depths.of = malloc(depths.length + 1);
    const char *shown = name;
    if (folded && depths.of && find_depths(name, &depths)) {
        shown = folded;
        for (size_t depth = depths.deepest + 1; depth > 0; depth--) {
            fold(folded, name, &depths, depth);
            if (report_text_columns(report, folded) <= columns)
                break;
        }
    }
    unsigned used = report_put_middle(report, shown, columns);
    free(depths.of);
    free(folded);
    return used;
}

/*
 * Shortens function names. The qualified name distinguishes C++, Rust and Swift functions. Parameters and template
 * arguments can be a hundred times as long. So a long name first loses its parameter list, then its template arguments,
 * innermost first. If the name is still too long, an ellipsis replaces its middle:
 *
 *     llvm::PassManager<llvm::Function, llvm::AnalysisManager<llvm::Function>>::run(llvm::Function&, ...)
 *     llvm::PassManager<llvm::Function, llvm::AnalysisManager<llvm::Function>>::run(…)
 *     llvm::PassManager<llvm::Function, llvm::AnalysisManager<…>>::run(…)
 *     llvm::PassManager<…>::run(…)
 *     llvm::Pass…r<…>::run(…)
 */
#include "cmd/report/report_text.h"

static const char ellipsis[] = "\xe2\x80\xa6";

enum { DEEPEST = 100, BRACKET = 0x80 };

/* Bracket depth of each byte of a name. A bracket has the depth of its contents, plus the flag BRACKET. */
struct depths {
    uint8_t *of; /* bracket depth of each byte of the name */
    size_t length, deepest;
    size_t list; /* start of the parameter list, or `length` if the name has none */
};

/* Returns the length of characters at `name` that look like brackets but are part of a name, such as "operator()";
 * otherwise 0. */
static size_t measure_plain(const char *name)
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
        size_t plain = measure_plain(name + at);
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

/* Writes the name with an ellipsis for everything at `depth` or deeper, and for its parameters. */
static void fold_brackets(char *out, const char *name, const struct depths *depths, size_t depth)
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

unsigned report_print_name(const struct report *report, const char *name, unsigned columns)
{
    struct depths depths = {.length = strlen(name)};
    if (!columns || report_measure_text(report, name) <= columns)
        return report_print_text(report, name, 0);
    char *folded = malloc(3 * depths.length + 1);
    depths.of = malloc(depths.length + 1);
    const char *shown = name;
    if (folded && depths.of && find_depths(name, &depths)) {
        shown = folded;
        for (size_t depth = depths.deepest + 1; depth > 0; depth--) {
            fold_brackets(folded, name, &depths, depth);
            if (report_measure_text(report, folded) <= columns)
                break;
        }
    }
    unsigned used = report_print_shortened(report, shown, columns);
    free(depths.of);
    free(folded);
    return used;
}

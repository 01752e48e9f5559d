/*
 * Recognizes these formats. Any other text is a function name.
 *
 *     JS:*work /src/app.js:3:14     V8 (node): code kind, tier, function; file, line and column of its declaration.
 *                                   An anonymous function has no name: "JS:~ /src/app.js:1:1"
 *     py::Class.work:/src/app.py    CPython: qualified name, file
 *     TRACE_7::/src/app.lua:12      LuaJIT: a trace, a path through several functions; file and line where it begins.
 *                                   All traces from one line are one function, "app.lua:12"
 *     $lists:map/2                  Erlang: a function, as its perf map has it; its jitdump has it without "$"
 *     int32 [app] A::B(int32)[Tier0]   .NET: return type, assembly, function, tier
 *     Builtin:ArrayMap              V8's own code; also BytecodeHandler:, Stub:, RegExp: and so on; left as they are
 *
 * V8 marks the tier: ~ interpreted, ^ baseline (Sparkplug), + Maglev, * TurboFan. A ' after + or * marks
 * context-specialized code, and an o before the tier marks on-stack replacement of a running loop (CodeKindToMarker()
 * in src/objects/code-kind.cc, src/logging/log.cc). A function passes through several tiers, and stays one function.
 */
#include "symbol/jit_name.h"

#include "base/utf8.h"

struct span {
    const char *at, *end;
};

static bool skip_text(struct span *span, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(span->end - span->at) < length || memcmp(span->at, text, length) != 0)
        return false;
    span->at += length;
    return true;
}

static bool is_control(const char *at, size_t length)
{
    unsigned char first = (unsigned char)at[0];
    if (length == 1)
        return first < 0x20 || first == 0x7f;
    return length == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0; /* U+0080 to U+009F */
}

bool jit_text_is_printable(const char *text, size_t length)
{
    const char *end = text + length;
    for (size_t step; text < end; text += step) {
        step = utf8_measure_character(text, end);
        if (!step || is_control(text, step))
            return false;
    }
    return length != 0;
}

/* Copies the text with unprintable characters replaced, or NULL if memory ran out. */
static const char *copy_text(struct span span, struct arena *arena)
{
    static const size_t most_growth = sizeof(UTF8_REPLACEMENT) - 1; /* one byte becomes the three of U+FFFD */
    char *copy = arena_alloc(arena, most_growth * (size_t)(span.end - span.at) + 1), *out = copy;
    if (!copy)
        return NULL;
    while (span.at < span.end) {
        size_t length = utf8_measure_character(span.at, span.end);
        bool shown = length && !is_control(span.at, length);
        size_t size = shown ? length : most_growth;
        memcpy(out, shown ? span.at : UTF8_REPLACEMENT, size);
        out += size;
        span.at += length ? length : 1;
    }
    *out = '\0';
    return copy;
}

/* ---- V8 ---- */

static const char *remove_tier(struct span *rest)
{
    if (skip_text(rest, "~"))
        return "Interpreted";
    if (skip_text(rest, "^"))
        return "Baseline";
    const char *tier = skip_text(rest, "+") || skip_text(rest, "o+")   ? "Maglev"
                       : skip_text(rest, "*") || skip_text(rest, "o*") ? "Optimized"
                                                                       : NULL;
    if (tier)
        skip_text(rest, "'");
    return tier;
}

/* Removes ":NUMBER" from the end. Returns false without one. */
static bool remove_number(struct span *span, uint32_t *number)
{
    const char *digits = span->end;
    uint64_t value = 0, unit = 1;
    while (digits > span->at && digits[-1] >= '0' && digits[-1] <= '9' && unit <= 1000000000) {
        value += unit * (unsigned)(*--digits - '0');
        unit *= 10;
    }
    if (digits == span->end || digits == span->at || digits[-1] != ':' || value > INT32_MAX)
        return false;
    *number = (uint32_t)value;
    span->end = digits - 1;
    return true;
}

static const char *find_text(struct span span, const char *text)
{
    return memmem(span.at, (size_t)(span.end - span.at), text, strlen(text));
}

/* Finds the space between function and file. Both may contain spaces ("get size /home/my files/a.js"). So the separator
 * is the space before the likely start of a path or, without such a space, the first space. */
static const char *find_separator(struct span span)
{
    static const char *const beginnings[] = {" /", " node:", " file:", " http:", " https:", " wasm:"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        const char *found = find_text(span, beginnings[i]);
        if (found && (!first || found < first))
            first = found;
    }
    return first ? first : find_text(span, " ");
}

static bool is_javascript(struct span *rest)
{
    static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (skip_text(rest, kinds[i]))
            return rest->at < rest->end && *rest->at != ':';
    return false;
}

static int parse_javascript(struct jit_name *name, struct span rest, struct arena *arena)
{
    name->is_javascript = true;
    name->tier = remove_tier(&rest);
    const char *separator = find_separator(rest);
    struct span function = {rest.at, separator ? separator : rest.end};
    struct span file = {separator ? separator + 1 : rest.end, rest.end};
    uint32_t last, before;
    if (remove_number(&file, &last)) {
        name->line = last;
        if (remove_number(&file, &before)) {
            name->line = before;
            name->column = last;
        }
    }
    name->function = function.at < function.end ? copy_text(function, arena) : "(anonymous)";
    if (file.at < file.end && !(name->file = copy_text(file, arena)))
        return -ENOMEM;
    return name->function ? 0 : -ENOMEM;
}

/* ---- CPython ---- */

static int parse_python(struct jit_name *name, struct span rest, struct arena *arena)
{
    const char *colon = memchr(rest.at, ':', (size_t)(rest.end - rest.at));
    struct span function = {rest.at, colon ? colon : rest.end};
    name->function = copy_text(function, arena);
    if (colon && colon + 1 < rest.end && !(name->file = copy_text((struct span){colon + 1, rest.end}, arena)))
        return -ENOMEM;
    return name->function ? 0 : -ENOMEM;
}

/* ---- LuaJIT ---- */

static bool is_trace(struct span *rest)
{
    if (!skip_text(rest, "TRACE_"))
        return false;
    while (rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9')
        rest->at++;
    return skip_text(rest, "::") && rest->at < rest->end;
}

static int parse_trace(struct jit_name *name, struct span rest, struct arena *arena)
{
    struct span file = rest;
    const char *slash = memrchr(rest.at, '/', (size_t)(rest.end - rest.at));
    name->tier = "Trace";
    if (remove_number(&file, &name->line) && !(name->file = copy_text(file, arena)))
        return -ENOMEM;
    name->function = copy_text((struct span){slash && slash < file.end ? slash + 1 : rest.at, rest.end}, arena);
    return name->function ? 0 : -ENOMEM;
}

/* ---- Erlang ---- */

/* "$module:function/2", "$global::shared_code". */
static bool is_erlang(struct span *rest)
{
    if (!skip_text(rest, "$"))
        return false;
    const char *arity = rest->end;
    while (arity > rest->at && arity[-1] >= '0' && arity[-1] <= '9')
        arity--;
    bool has_arity = arity < rest->end && arity > rest->at && arity[-1] == '/';
    return find_text(*rest, "global::") == rest->at || (has_arity && find_text(*rest, ":"));
}

/* ---- .NET ---- */

static const char *remove_dotnet_tier(struct span *whole)
{
    static const char *const tiers[] = {
        "PreJIT",     "MinOptJitted",     "Optimized", "QuickJitted", "OptimizedTier1", "OptimizedTier1OSR",
        "ReadyToRun", "InstrumentedTier", "Tier0",     "Tier1"};
    for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
        size_t length = strlen(tiers[i]) + 2;
        const char *suffix = whole->end - length;
        if ((size_t)(whole->end - whole->at) > length && suffix[0] == '[' && whole->end[-1] == ']' &&
            memcmp(suffix + 1, tiers[i], length - 2) == 0) {
            whole->end = suffix;
            return tiers[i];
        }
    }
    return NULL;
}

int jit_name_parse(struct jit_name *name, const char *text, size_t length, struct arena *arena)
{
    struct span whole = {text, text + length}, rest = whole;
    *name = (struct jit_name){0};
    if (is_javascript(&rest))
        return parse_javascript(name, rest, arena);
    rest = whole;
    if (skip_text(&rest, "py::") && rest.at < rest.end && *rest.at != ':')
        return parse_python(name, rest, arena);
    rest = whole;
    if (is_trace(&rest))
        return parse_trace(name, rest, arena);
    rest = whole;
    if (is_erlang(&rest))
        whole = rest;
    name->tier = remove_dotnet_tier(&whole);
    name->function = copy_text(whole, arena);
    return name->function ? 0 : -ENOMEM;
}

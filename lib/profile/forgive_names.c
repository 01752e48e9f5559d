/*
 * Removes the parts of function names that a build adds: see forgive_func_names().
 */
#include "profile/match_funcs.h"

#include "base/text_buffer.h"

/* Returns the length without suffixes such as ".isra.0", which GCC, Clang and Rust append to names of function
 * copies. */
static size_t measure_without_suffixes(const char *name, size_t length)
{
    static const char *const suffixes[] = {".isra", ".constprop", ".part",       ".cold",
                                           ".llvm", ".lto_priv",  ".localalias", ".clone"};
    for (size_t before = 0; before != length;) {
        before = length;
        size_t end = length;
        while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
            end--;
        end = end < length && end > 0 && name[end - 1] == '.' ? end - 1 : length;
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
            size_t size = strlen(suffixes[i]);
            if (end > size && memcmp(name + end - size, suffixes[i], size) == 0)
                length = end - size;
        }
    }
    return length;
}

/* Returns whether the "<" at `at` opens arguments: not an operator or a name such as "<lambda>". */
static bool is_argument_start(const char *name, size_t at)
{
    static const char word[] = "operator";
    size_t size = sizeof(word) - 1, start = at;
    while (start > 0 && strchr("<=", name[start - 1]))
        start--;
    if (start >= size && memcmp(name + start - size, word, size) == 0)
        return false;
    return at > 0 && name[at - 1] != ':' && name[at - 1] != ' ' && name[at - 1] != '(';
}

/* Omits the text between "<" and ">" of arguments. A name with unpaired brackets stays unchanged. */
static bool append_without_arguments(struct text_buffer *out, const char *name, size_t length)
{
    size_t depth = 0, first = out->length;
    bool enough = true;
    for (size_t i = 0; enough && i < length; i++) {
        bool is_arrow = i > 0 && name[i - 1] == '-';
        if (name[i] == '>' && depth > 0 && !is_arrow)
            depth--;
        if (depth == 0)
            enough = text_append(out, name + i, 1);
        if (name[i] == '<' && (depth > 0 || is_argument_start(name, i)))
            depth++;
    }
    if (enough && depth > 0) {
        out->length = first;
        enough = text_append(out, name, length);
    }
    return enough;
}

static uint32_t simplify_name(struct profile *profile, uint32_t string, unsigned forgiven, struct text_buffer *text)
{
    const struct string_entry *entry = &profile->strings.entries.data[string];
    size_t length = forgiven & FORGIVE_SUFFIXES ? measure_without_suffixes(entry->text, entry->length) : entry->length;
    text->length = 0;
    bool enough = forgiven & FORGIVE_TEMPLATES ? append_without_arguments(text, entry->text, length)
                                               : text_append(text, entry->text, length);
    return enough ? strings_add(&profile->strings, text->data ? text->data : "", text->length) : STRING_NONE;
}

/* Returns the first func with the same name, library and file. */
static uint32_t find_same_func(struct hash *seen, const struct profile *profile, uint32_t func)
{
    const struct func_table *funcs = &profile->funcs;
    uint64_t key = hash_mix((uint64_t)funcs->name[func] << 32 | funcs->resource[func], funcs->source[func]);
    uint32_t *place = hash_at(seen, key);
    if (place && *place == HASH_MISSING)
        *place = func;
    return place ? *place : PROFILE_NONE;
}

int forgive_func_names(struct profile *profile, unsigned forgiven, struct error *err)
{
    struct hash seen = {0};
    struct text_buffer text = {0};
    size_t length = profile->funcs.length;
    uint32_t *same = malloc((length + 1) * sizeof(*same));
    bool enough = same != NULL;
    for (uint32_t func = 0; enough && func < length; func++) {
        uint32_t before = profile->funcs.name[func], name = simplify_name(profile, before, forgiven, &text);
        enough = name != STRING_NONE;
        if (!enough)
            break;
        profile->funcs.name[func] = name;
        same[func] = find_same_func(&seen, profile, func);
        enough = same[func] != PROFILE_NONE;
    }
    for (size_t frame = 0; enough && frame < profile->frames.length; frame++)
        profile->frames.func[frame] = same[profile->frames.func[frame]];
    hash_destroy(&seen);
    array_free(&text);
    free(same);
    return enough ? 0 : error_no_memory(err);
}

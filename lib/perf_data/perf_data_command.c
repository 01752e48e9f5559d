/*
 * The target begins after "--", or at the first word that is neither an option of perf record nor an option's value.
 * Optional values must be in the same word as their option.
 */
#include "perf_data/perf_data_command.h"

#include "base/array.h"
#include "base/path.h"

ARRAY_TYPE(struct words, const char *);

static const char short_with_value[] = "cCDeFGjkmoprtu", short_with_optional[] = "ISz";

static const char *const long_with_value[] = {
    "affinity",
    "branch-filter",
    "call-graph",
    "cgroup",
    "clang-opt",
    "clang-path",
    "clockid",
    "control",
    "count",
    "cpu",
    "delay",
    "event",
    "filter",
    "freq",
    "max-size",
    "mmap-flush",
    "mmap-pages",
    "num-thread-synthesize",
    "off-cpu-thresh",
    "output",
    "pfm-events",
    "pid",
    "proc-map-timeout",
    "realtime",
    "setup-filter",
    "switch-max-files",
    "switch-output-event",
    "synth",
    "tid",
    "uid",
    "user",
    "vmlinux",
};

/* Returns whether the value of the option is the next word. */
static bool has_separate_value(const char *word)
{
    if (word[1] != '-') {
        for (const char *at = word + 1; *at && !strchr(short_with_optional, *at); at++)
            if (strchr(short_with_value, *at))
                return !at[1];
        return false;
    }
    for (size_t i = 0; i < sizeof(long_with_value) / sizeof(*long_with_value); i++)
        if (!strcmp(word + 2, long_with_value[i]))
            return true;
    return false;
}

/* Returns the index of the target's first word; the number of words without a target. */
static size_t find_target(const struct words *words)
{
    size_t at = 0;
    while (at < words->length && strcmp(words->data[at], "record") != 0)
        at++;
    for (at++; at < words->length; at++) {
        const char *word = words->data[at];
        if (!strcmp(word, "--"))
            return at + 1;
        if (word[0] != '-' || !word[1])
            return at;
        at += has_separate_value(word);
    }
    return words->length;
}

/* Words that need no quotes stay unchanged. */
static bool is_plain(const char *word)
{
    return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%")];
}

static size_t quote_word(char *out, const char *word)
{
    size_t used = 0;
    bool plain = is_plain(word);
    if (!plain)
        out[used++] = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            used += (size_t)sprintf(out + used, "'\\'");
        out[used++] = *word;
    }
    if (!plain)
        out[used++] = '\'';
    return used;
}

/* Returns NULL without words, and if memory ran out. */
static char *join_words(const char *const *words, size_t count)
{
    size_t room = 1, used = 0;
    for (size_t i = 0; i < count; i++)
        room += 4 * strlen(words[i]) + 3;
    char *text = count ? malloc(room) : NULL;
    for (size_t i = 0; text && i < count; i++) {
        if (used)
            text[used++] = ' ';
        used += quote_word(text + used, words[i]);
    }
    if (text)
        text[used] = '\0';
    return text;
}

static int read_words(struct words *words, struct cursor c, struct error *err)
{
    uint32_t count = cursor_u32(&c);
    for (uint32_t i = 0; i < count && cursor_left(&c) && !c.failed; i++) {
        uint32_t size = cursor_u32(&c);
        const char *word = (const char *)cursor_bytes(&c, size);
        if (word && memchr(word, 0, size) && !array_push(words, word))
            return error_no_memory(err);
    }
    return 0;
}

int perf_data_command_read(struct perf_data_command *command, struct cursor c, struct error *err)
{
    struct words words = {0};
    perf_data_command_destroy(command);
    int code = read_words(&words, c, err);
    if (!code && words.length) {
        size_t target = find_target(&words), count = words.length;
        bool has_dashes = target > 1 && !strcmp(words.data[target - 1], "--");
        command->options = join_words(words.data, target - has_dashes);
        command->target = join_words(words.data + target, count - target);
        if (!command->options || (target < count && !command->target))
            code = error_no_memory(err);
        else if (target < count)
            snprintf(command->program, sizeof(command->program), "%s", path_get_base_name(words.data[target]));
    }
    array_free(&words);
    return code;
}

void perf_data_command_destroy(struct perf_data_command *command)
{
    free(command->options);
    free(command->target);
    *command = (struct perf_data_command){0};
}

#include "spool/info.h"

#include "base/text_buffer.h"
#include "os/file_io.h"

int info_write(struct spool_writer *spool, const char *name, const char *value, struct error *err)
{
    const struct spool_metadata metadata = {.name = name, .value = value};
    return spool_write_metadata(spool, &metadata, err);
}

int info_write_number(struct spool_writer *spool, const char *name, uint64_t value, struct error *err)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return info_write(spool, name, text, err);
}

static bool needs_quotes(const char *word)
{
    return !*word || word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")];
}

static bool append_word(struct text_buffer *text, const char *word)
{
    if (!needs_quotes(word))
        return text_append_z(text, word);
    bool ok = text_append_z(text, "'");
    for (; *word; word++)
        ok &= text_append_z(text, *word == '\'' ? "'\\''" : (const char[]){*word, '\0'});
    return ok && text_append_z(text, "'");
}

/* Joins words until the text has `most` bytes. */
static bool append_command(struct text_buffer *text, char *const *argv, size_t most)
{
    bool ok = true;
    for (char *const *word = argv; ok && *word && text->length < most; word++)
        ok = (word == argv || text_append_z(text, " ")) && append_word(text, *word);
    return ok && array_push(text, '\0');
}

int info_write_process_command(struct spool_writer *spool, uint32_t process, char *const *argv, struct error *err)
{
    struct text_buffer text = {0};
    bool ok = append_command(&text, argv, INFO_COMMAND_MAX);
    if (ok && text.length > INFO_COMMAND_MAX)
        text.data[INFO_COMMAND_MAX] = '\0';
    const struct spool_command_line line = {.process = process, .command = text.data};
    int code = ok ? spool_write_command_line(spool, &line, err) : error_no_memory(err);
    array_free(&text);
    return code;
}

int info_write_words(struct spool_writer *spool, const char *name, char *const *words, struct error *err)
{
    struct text_buffer text = {0};
    bool ok = append_command(&text, words, SIZE_MAX);
    int code = ok ? info_write(spool, name, text.data, err) : error_no_memory(err);
    array_free(&text);
    return code;
}

bool info_read_boot(char *id, size_t size)
{
    return file_read_text("/proc/sys/kernel/random/boot_id", id, size);
}

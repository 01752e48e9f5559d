#include "record/mark_writer.h"

static uint32_t add_name(struct strings *names, const char *name, size_t length, bool *is_new)
{
    size_t before = names->entries.length;
    uint32_t number = strings_add(names, name, length);
    *is_new = names->entries.length != before;
    return number;
}

int mark_writer_number_name(struct mark_writer *writer, const char *name, size_t length, uint32_t *number,
                            struct error *err)
{
    static const char others[] = "(other)", none[] = "(no name)";
    bool is_new;
    length = strnlen(name, length < MARK_WRITER_TEXT_MAX_BYTES ? length : MARK_WRITER_TEXT_MAX_BYTES);
    if (!length) {
        name = none;
        length = sizeof(none) - 1;
    }
    if (writer->names.entries.length >= MARK_WRITER_NAMES_MAX &&
        strings_find(&writer->names, name, length) == STRING_NONE) {
        name = others;
        length = sizeof(others) - 1;
    }
    *number = add_name(&writer->names, name, length, &is_new);
    if (*number == STRING_NONE)
        return error_no_memory(err);
    const struct spool_mark_name named = {.mark_name = *number, .name = strings_text(&writer->names, *number)};
    return is_new ? spool_write_mark_name(writer->spool, &named, err) : 0;
}

int mark_writer_add(struct mark_writer *writer, const struct spool_program_mark *mark, struct error *err)
{
    if (writer->count >= MARK_WRITER_MARKS_MAX) {
        writer->dropped++;
        return 0;
    }
    writer->count++;
    return spool_write_program_mark(writer->spool, mark, err);
}

void mark_writer_destroy(struct mark_writer *writer)
{
    strings_destroy(&writer->names);
}

#include "symbol/library_id.h"

static char *append_hex(char *out, unsigned char byte, const char *digits)
{
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 15];
    return out;
}

void write_breakpad_id(const unsigned char *build_id, size_t size, char out[BREAKPAD_ID_SIZE])
{
    static const unsigned char order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    unsigned char guid[16] = {0};
    if (size)
        memcpy(guid, build_id, size < sizeof(guid) ? size : sizeof(guid));
    for (size_t i = 0; i < sizeof(order); i++)
        out = append_hex(out, guid[order[i]], "0123456789ABCDEF");
    *out++ = '0';
    *out = '\0';
}

void write_code_id(const unsigned char *build_id, size_t size, char out[CODE_ID_SIZE])
{
    for (size_t i = 0; i < size && i < (CODE_ID_SIZE - 1) / 2; i++)
        out = append_hex(out, build_id[i], "0123456789abcdef");
    *out = '\0';
}

bool compute_text_id(const struct elf_file *file, unsigned char id[16])
{
    enum { FOLDED = 4096 };
    const struct elf_section *text = elf_file_find_section(file, ".text");
    unsigned char bytes[FOLDED];
    size_t size = text && text->bytes.size < FOLDED ? (size_t)text->bytes.size : FOLDED;
    if (!text || !bytes_read(&text->bytes, 0, bytes, size))
        return false;
    memset(id, 0, 16);
    for (size_t i = 0; i < size; i++)
        id[i % 16] ^= bytes[i];
    return true;
}

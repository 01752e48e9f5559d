/*
 * /proc/kallsyms has one symbol per line, "ffffffff81000000 T _text", for modules followed by "\t[name]"; a
 * distribution's kernel has 150,000 lines and more. The text is split into strings in place, because copying all names
 * would take longer, and few names are requested. Readers without CAP_SYSLOG see zeros instead of addresses.
 */
#include "base/checksum.h"
#include "os/file_io.h"
#include "base/search.h"
#include "symbol/kallsyms.h"

#include <fcntl.h>
#include <unistd.h>

/* Limit for the files of tests. No kernel has more. */
enum { TEXT_MAX = 512 << 20 };

static int read_text(const char *path, char **text)
{
    ARRAY(char) bytes = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;
    if (fd < 0)
        return -errno;
    for (;;) {
        if (!array_reserve(&bytes, (1 << 20) + 1)) {
            code = -ENOMEM;
            break;
        }
        ssize_t got = read(fd, bytes.data + bytes.length, bytes.capacity - bytes.length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            code = -errno;
        if (got <= 0 || bytes.length > TEXT_MAX)
            break;
        bytes.length += (size_t)got;
    }
    close(fd);
    if (code != 0) {
        array_free(&bytes);
        return code;
    }
    bytes.data[bytes.length] = '\0';
    *text = bytes.data;
    return 0;
}

/* 1 more than the value of each hexadecimal digit. */
static const unsigned char digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static uint64_t read_hex(char **at)
{
    const unsigned char *c = (const unsigned char *)*at;
    uint64_t value = 0;
    while (digits[*c])
        value = value << 4 | (digits[*c++] - 1u);
    *at = (char *)(uintptr_t)c;
    return value;
}

static bool is_code(char type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Splits a line into strings. Returns false if the line has an unknown format. */
static bool parse_line(struct kallsyms *kallsyms, char *line, struct kernel_symbol *symbol, char *type)
{
    char *at = line;
    symbol->address = read_hex(&at);
    if (at == line || at[0] != ' ' || at[1] == '\0' || at[2] != ' ')
        return false;
    *type = at[1];
    char *name = at + 3, *tab = strchr(name, '\t');
    symbol->name = (uint32_t)(name - kallsyms->text);
    symbol->module = KERNEL_CORE;
    if (tab && tab[1] == '[') {
        char *close = strchr(tab, ']');
        *tab = '\0';
        if (close)
            *close = '\0';
        symbol->module = (uint32_t)(tab + 2 - kallsyms->text);
    }
    return *name != '\0';
}

static int parse_symbols(struct kallsyms *kallsyms, struct error *err)
{
    bool any_address = false;
    for (char *line = kallsyms->text, *next; *line; line = next) {
        char *end = strchrnul(line, '\n'), type;
        next = *end ? end + 1 : end;
        *end = '\0';
        struct kernel_symbol symbol;
        if (!parse_line(kallsyms, line, &symbol, &type))
            continue;
        any_address |= symbol.address != 0;
        if (!kallsyms->text_start && symbol.module == KERNEL_CORE && strcmp(kallsyms->text + symbol.name, "_text") == 0)
            kallsyms->text_start = symbol.address;
        if (is_code(type) && symbol.address && !array_push(&kallsyms->symbols, symbol))
            return error_no_memory(err);
    }
    if (!any_address)
        snprintf(
            kallsyms->problem, sizeof(kallsyms->problem),
            "the kernel hides its symbols: set kernel.kptr_restrict to 0 (sysctl kernel.kptr_restrict=0), or 1 and run as root");
    return 0;
}

/* Parses the lines of /proc/modules: name, size, users, dependents, state, address. */
static bool parse_modules(struct kallsyms *kallsyms)
{
    for (char *line = kallsyms->modules_text, *next; line && *line; line = next) {
        char *end = strchrnul(line, '\n'), *rest = NULL;
        next = *end ? end + 1 : end;
        *end = '\0';
        struct kernel_module module = {.name = (uint32_t)(line - kallsyms->modules_text)};
        char *field = strtok_r(line, " ", &rest);
        for (int i = 0; field && i < 5; i++)
            field = strtok_r(NULL, " ", &rest);
        if (!field || strncmp(field, "0x", 2) != 0)
            continue;
        field += 2;
        module.base = read_hex(&field);
        if (!array_push(&kallsyms->modules, module))
            return false;
    }
    return true;
}

DEFINE_COMPARE(compare_addresses, struct kernel_symbol, ORDER_THEN(a->address, b->address, ORDER(a->name, b->name)))

static bool is_sorted(const struct kallsyms *kallsyms)
{
    for (size_t i = 1; i < kallsyms->symbols.length; i++)
        if (kallsyms->symbols.data[i].address < kallsyms->symbols.data[i - 1].address)
            return false;
    return true;
}

int kallsyms_load(struct kallsyms *kallsyms, const char *symbols_path, const char *modules_path, struct error *err)
{
    *kallsyms = (struct kallsyms){.problem = ""};
    int code = read_text(symbols_path, &kallsyms->text);
    if (code != 0 && code != -ENOMEM) {
        snprintf(kallsyms->problem, sizeof(kallsyms->problem), "cannot read %s: %s", symbols_path, strerror(-code));
        return 0;
    }
    if (code == 0)
        code = parse_symbols(kallsyms, err);
    if (code == 0) {
        int modules = read_text(modules_path, &kallsyms->modules_text);
        if (modules == -ENOMEM || (modules == 0 && !parse_modules(kallsyms)))
            code = -ENOMEM;
    }
    if (code != 0) {
        kallsyms_destroy(kallsyms);
        return error_no_memory(err);
    }
    if (!is_sorted(kallsyms))
        array_sort(&kallsyms->symbols, compare_addresses);
    return 0;
}

void kallsyms_destroy(struct kallsyms *kallsyms)
{
    free(kallsyms->text);
    free(kallsyms->modules_text);
    array_free(&kallsyms->symbols);
    array_free(&kallsyms->modules);
    *kallsyms = (struct kallsyms){.problem = ""};
}

/*
 * ---- saved form ----
 *
 * A recording has some ten addresses in the kernel, so prof reads the saved table in parts:
 *
 *     "PROFKSY2"  u64 checksum of the number of blocks and the index
 *     u64 number of blocks, u64 where the index begins
 *     blocks      for each function, in the order of addresses: u32 offset from _text, its name, NUL
 *     the index   for each block: u32 offset of its first function, u32 its bytes, u64 their checksum
 *
 * Functions at one address are in one block. Numbers have the byte order of the machine.
 */

static const char saved_magic[8] = "PROFKSY2";
static const uint64_t saved_text_start = UINT64_C(0xffffffff81000000); /* an arbitrary address */

enum { BLOCK_USUAL = 4096, BLOCK_MAX = 1 << 20, BLOCKS_MAX = 1 << 16 };

struct saved_header {
    char magic[8];
    uint64_t checksum, blocks, index_at;
};

struct saved_block {
    uint32_t first, size;
    uint64_t checksum;
};

struct saving {
    ARRAY(struct saved_block) index;
    ARRAY(unsigned char) bytes; /* of the file */
};

static bool save_symbol(struct saving *saving, uint32_t offset, uint32_t *before, const char *name)
{
    size_t length = strlen(name) + 1;
    struct saved_block *last = saving->index.length ? &saving->index.data[saving->index.length - 1] : NULL;
    if (!last || (last->size >= BLOCK_USUAL && offset != *before)) {
        if (saving->index.length == BLOCKS_MAX || !array_push(&saving->index, (struct saved_block){.first = offset}))
            return false;
        last = &saving->index.data[saving->index.length - 1];
    }
    *before = offset;
    last->size += (uint32_t)(sizeof(offset) + length);
    return last->size <= BLOCK_MAX && array_append(&saving->bytes, &offset, sizeof(offset)) &&
           array_append(&saving->bytes, name, length);
}

static bool save_symbols(struct saving *saving, const struct kallsyms *kallsyms)
{
    uint32_t before = 0;
    for (size_t i = 0; i < kallsyms->symbols.length; i++) {
        const struct kernel_symbol *symbol = &kallsyms->symbols.data[i];
        uint64_t offset = symbol->address - kallsyms->text_start;
        if (symbol->module != KERNEL_CORE || symbol->address < kallsyms->text_start || offset > UINT32_MAX)
            continue;
        if (!save_symbol(saving, (uint32_t)offset, &before, kallsyms->text + symbol->name))
            return false;
    }
    const unsigned char *block = saving->bytes.data + sizeof(struct saved_header);
    for (size_t i = 0; i < saving->index.length; block += saving->index.data[i++].size)
        saving->index.data[i].checksum = checksum_bytes(block, saving->index.data[i].size);
    return saving->index.length > 0;
}

static uint64_t checksum_index(const struct saved_header *header, const struct saved_block *index)
{
    return checksum_mix(checksum_mix(header->blocks, header->index_at),
                        checksum_bytes(index, header->blocks * sizeof(*index)));
}

unsigned char *kallsyms_encode(const struct kallsyms *kallsyms, size_t *size)
{
    struct saving saving = {0};
    struct saved_header header = {0};
    bool is_saved =
        kallsyms->text_start && array_append(&saving.bytes, &header, sizeof(header)) && save_symbols(&saving, kallsyms);
    if (is_saved) {
        header = (struct saved_header){.blocks = saving.index.length, .index_at = saving.bytes.length};
        memcpy(header.magic, saved_magic, sizeof(saved_magic));
        header.checksum = checksum_index(&header, saving.index.data);
        memcpy(saving.bytes.data, &header, sizeof(header));
        is_saved = array_append(&saving.bytes, saving.index.data, saving.index.length * sizeof(*saving.index.data));
    }
    *size = saving.bytes.length;
    array_free(&saving.index);
    if (!is_saved)
        array_free(&saving.bytes);
    return saving.bytes.data;
}

static bool read_exactly(int file, void *out, size_t size, uint64_t at)
{
    return file_read_at(file, out, size, at) == (ssize_t)size;
}

static int read_index(int file, struct saved_block **index, size_t *count)
{
    struct saved_header header;
    if (!read_exactly(file, &header, sizeof(header), 0) ||
        memcmp(header.magic, saved_magic, sizeof(saved_magic)) != 0 || !header.blocks || header.blocks > BLOCKS_MAX)
        return -EINVAL;
    *count = (size_t)header.blocks;
    *index = malloc(*count * sizeof(**index));
    if (!*index)
        return -ENOMEM;
    if (read_exactly(file, *index, *count * sizeof(**index), header.index_at) &&
        checksum_index(&header, *index) == header.checksum)
        return 0;
    free(*index);
    return -EINVAL;
}

static bool add_symbol(struct kallsyms *kallsyms, uint32_t offset, size_t name)
{
    struct kernel_symbol symbol = {.address = saved_text_start + offset, .name = (uint32_t)name, .module = KERNEL_CORE};
    return array_push(&kallsyms->symbols, symbol);
}

/* Adds the functions of a block whose bytes lie in kallsyms->text from `at` to `end`. */
static int parse_block(struct kallsyms *kallsyms, size_t at, size_t end, uint32_t least)
{
    while (at < end) {
        uint32_t offset;
        const char *name = kallsyms->text + at + sizeof(offset);
        if (end - at <= sizeof(offset))
            return -EINVAL;
        memcpy(&offset, kallsyms->text + at, sizeof(offset));
        const char *nul = memchr(name, 0, end - at - sizeof(offset));
        if (!nul || offset < least)
            return -EINVAL;
        if (!add_symbol(kallsyms, offset, (size_t)(name - kallsyms->text)))
            return -ENOMEM;
        least = offset;
        at = (size_t)(nul + 1 - kallsyms->text);
    }
    return 0;
}

ARRAY_TYPE(struct saved_text, char); /* kallsyms->text, as it grows */

static int read_block(struct kallsyms *kallsyms, struct saved_text *saved, int file, const struct saved_block *block,
                      uint64_t at)
{
    size_t start = saved->length;
    if (block->size > BLOCK_MAX)
        return -EINVAL;
    if (!array_reserve(saved, block->size))
        return -ENOMEM;
    kallsyms->text = saved->data;
    if (!read_exactly(file, kallsyms->text + start, block->size, at) ||
        checksum_bytes(kallsyms->text + start, block->size) != block->checksum)
        return -EINVAL;
    saved->length += block->size;
    return parse_block(kallsyms, start, saved->length, block->first);
}

/* Reads the blocks that contain these addresses. If the next block is not read, a symbol without a name marks its
 * start. */
static int read_blocks(struct kallsyms *kallsyms, int file, const struct saved_block *index, size_t count,
                       const uint64_t *rvas, size_t rva_count)
{
    struct saved_text saved = {0};
    uint64_t at = sizeof(struct saved_header);
    int code = array_push(&saved, '\0') ? 0 : -ENOMEM;
    bool was_read = false;
    for (size_t i = 0, next = 0; i < count && code == 0; at += index[i++].size) {
        size_t first = next;
        while (next < rva_count && (i + 1 == count || rvas[next] < index[i + 1].first))
            next++;
        bool wanted = next > first;
        if (was_read && !wanted && !add_symbol(kallsyms, index[i].first, 0))
            code = -ENOMEM;
        if (wanted)
            code = read_block(kallsyms, &saved, file, &index[i], at);
        was_read = wanted;
    }
    kallsyms->text = saved.data;
    return code == 0 && !is_sorted(kallsyms) ? -EINVAL : code;
}

int kallsyms_decode(struct kallsyms *kallsyms, int file, const uint64_t *rvas, size_t count)
{
    struct saved_block *index;
    size_t blocks;
    *kallsyms = (struct kallsyms){.problem = "", .text_start = saved_text_start};
    int code = read_index(file, &index, &blocks);
    if (code != 0)
        return code;
    code = read_blocks(kallsyms, file, index, blocks, rvas, count);
    free(index);
    if (code != 0)
        kallsyms_destroy(kallsyms);
    return code;
}

/* ---- searching ---- */

static bool is_module_name(const char *wanted, const char *name)
{
    size_t length = strlen(name);
    if (wanted[0] == '[')
        return strncmp(wanted + 1, name, length) == 0 && strcmp(wanted + 1 + length, "]") == 0;
    return strcmp(wanted, name) == 0;
}

uint64_t kallsyms_find_base(const struct kallsyms *kallsyms, const char *module)
{
    if (!module)
        return kallsyms->text_start;
    for (size_t i = 0; i < kallsyms->modules.length; i++)
        if (is_module_name(module, kallsyms->modules_text + kallsyms->modules.data[i].name))
            return kallsyms->modules.data[i].base;
    return 0;
}

static bool is_in_module(const struct kallsyms *kallsyms, const struct kernel_symbol *symbol, const char *module)
{
    if (symbol->module == KERNEL_CORE || !module)
        return (symbol->module == KERNEL_CORE) == !module;
    return is_module_name(module, kallsyms->text + symbol->module);
}

/* Returns the first symbol in the file with the address of symbol i. The kernel lists aliases in the order of its own
 * table. */
static size_t find_first_alias(const struct kallsyms *kallsyms, size_t i)
{
    while (i > 0 && kallsyms->symbols.data[i - 1].address == kallsyms->symbols.data[i].address)
        i--;
    return i;
}

static const struct kernel_symbol *find_last_at_or_before(const struct kallsyms *kallsyms, uint64_t address,
                                                          uint64_t *size)
{
    size_t count = kallsyms->symbols.length;
    size_t next = search_count(kallsyms->symbols.data, count, element->address <= address);
    if (next == 0)
        return NULL;
    const struct kernel_symbol *symbol = &kallsyms->symbols.data[find_first_alias(kallsyms, next - 1)];
    *size = next < count ? kallsyms->symbols.data[next].address - symbol->address : 0;
    return symbol;
}

const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, const char *module, uint64_t address,
                                          uint64_t *size)
{
    const struct kernel_symbol *symbol = find_last_at_or_before(kallsyms, address, size);
    return symbol && is_in_module(kallsyms, symbol, module) ? symbol : NULL;
}

const struct kernel_symbol *kallsyms_find_anywhere(const struct kallsyms *kallsyms, uint64_t address)
{
    uint64_t size;
    const struct kernel_symbol *symbol = find_last_at_or_before(kallsyms, address, &size);
    return symbol && address - symbol->address < KALLSYMS_REACH ? symbol : NULL;
}

const char *kallsyms_get_module(const struct kallsyms *kallsyms, const struct kernel_symbol *symbol)
{
    return symbol->module == KERNEL_CORE ? NULL : kallsyms->text + symbol->module;
}

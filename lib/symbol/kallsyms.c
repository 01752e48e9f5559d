/*
 * /proc/kallsyms has one symbol per line, "ffffffff81000000 T _text", for modules followed by "\t[name]"; a
 * distribution's kernel has 150,000 lines and more. The text is kept and split into strings in place, because only few
 * names are requested, and copying all would cost more. Readers without CAP_SYSLOG see zeros instead of addresses.
 */
#include "base/checksum.h"
#include "base/search.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any kernel has: a limit for files given in tests. */
enum { TEXT_MAX = 512 << 20 };

static int read_text(const char *path, char **text)
{
    ARRAY(char) bytes = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC), result = 0;
    if (fd < 0)
        return -errno;
    for (;;) {
        if (!array_reserve(&bytes, (1 << 20) + 1)) {
            result = -ENOMEM;
            break;
        }
        ssize_t got = read(fd, bytes.data + bytes.length, bytes.capacity - bytes.length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            result = -errno;
        if (got <= 0 || bytes.length > TEXT_MAX)
            break;
        bytes.length += (size_t)got;
    }
    close(fd);
    if (result != 0) {
        array_free(&bytes);
        return result;
    }
    bytes.data[bytes.length] = '\0';
    *text = bytes.data;
    return 0;
}

static uint64_t read_hex(char **at)
{
    uint64_t value = 0;
    for (;; (*at)++) {
        unsigned c = (unsigned char)**at;
        unsigned decimal = c - '0', letter = (c | 32) - 'a';
        if (decimal >= 10 && letter >= 6)
            return value;
        unsigned digit = decimal < 10 ? decimal : letter + 10;
        value = value << 4 | digit;
    }
}

static bool is_code(char type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Splits a line into strings. False if its format is unknown. */
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
        if (symbol.module == KERNEL_CORE && strcmp(kallsyms->text + symbol.name, "_text") == 0)
            kallsyms->text_start = symbol.address;
        if (is_code(type) && symbol.address && !array_push(&kallsyms->symbols, symbol))
            return error_no_memory(err);
    }
    if (!any_address)
        snprintf(
            kallsyms->problem, sizeof(kallsyms->problem),
            "the kernel hides its symbols: set kernel.kptr_restrict to 0 (sysctl kernel.kptr_restrict=0), or 1 and run "
            "as root");
    return 0;
}

/* A line of /proc/modules: name, size, users, dependents, state, address. */
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

static int by_address(const void *a, const void *b)
{
    const struct kernel_symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

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
    int result = read_text(symbols_path, &kallsyms->text);
    if (result != 0 && result != -ENOMEM) {
        snprintf(kallsyms->problem, sizeof(kallsyms->problem), "cannot read %s: %s", symbols_path, strerror(-result));
        return 0;
    }
    if (result == 0)
        result = parse_symbols(kallsyms, err);
    if (result == 0) {
        int modules = read_text(modules_path, &kallsyms->modules_text);
        if (modules == -ENOMEM || (modules == 0 && !parse_modules(kallsyms)))
            result = -ENOMEM;
    }
    if (result != 0) {
        kallsyms_destroy(kallsyms);
        return error_no_memory(err);
    }
    if (!is_sorted(kallsyms))
        qsort(kallsyms->symbols.data, kallsyms->symbols.length, sizeof(struct kernel_symbol), by_address);
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
 *     "PROFKSYM"  u64 checksum of everything below
 *     u32 count, bytes of names
 *     u32 offset[count]     from _text, ascending
 *     names                 in the same order, NUL-terminated
 *
 * Numbers have the byte order of the machine.
 */

static const char saved_magic[8] = "PROFKSYM";
static const uint64_t saved_text_start = UINT64_C(0xffffffff81000000); /* arbitrary; the address that linkers use */

struct saved_header {
    char magic[8];
    uint64_t checksum;
    uint32_t count, names_size;
};

enum { CHECKED_FROM = 16 };

unsigned char *kallsyms_encode(const struct kallsyms *kallsyms, size_t *size)
{
    ARRAY(uint32_t) offsets = {0};
    ARRAY(char) names = {0};
    unsigned char *bytes = NULL;
    bool complete = kallsyms->text_start != 0;
    for (size_t i = 0; complete && i < kallsyms->symbols.length; i++) {
        const struct kernel_symbol *symbol = &kallsyms->symbols.data[i];
        uint64_t offset = symbol->address - kallsyms->text_start;
        if (symbol->module != KERNEL_CORE || symbol->address < kallsyms->text_start || offset > UINT32_MAX)
            continue;
        const char *name = kallsyms->text + symbol->name;
        size_t length = strlen(name) + 1;
        complete = array_push(&offsets, (uint32_t)offset) && array_reserve(&names, length);
        if (complete) {
            memcpy(names.data + names.length, name, length);
            names.length += length;
        }
    }
    struct saved_header header = {.count = (uint32_t)offsets.length, .names_size = (uint32_t)names.length};
    size_t offsets_size = offsets.length * sizeof(*offsets.data);
    *size = sizeof(header) + offsets_size + names.length;
    if (complete && offsets.length)
        bytes = malloc(*size);
    if (bytes) {
        memcpy(header.magic, saved_magic, sizeof(saved_magic));
        memcpy(bytes, &header, sizeof(header));
        memcpy(bytes + sizeof(header), offsets.data, offsets_size);
        memcpy(bytes + sizeof(header) + offsets_size, names.data, names.length);
        header.checksum = checksum_bytes(bytes + CHECKED_FROM, *size - CHECKED_FROM);
        memcpy(bytes, &header, sizeof(header));
    }
    array_free(&offsets);
    array_free(&names);
    return bytes;
}

/* Sets each symbol's name from its offset; false if the bytes are damaged. */
static bool take_saved(struct kallsyms *kallsyms, const struct saved_header *header, const unsigned char *offsets)
{
    uint32_t name = 0, before = 0;
    for (uint32_t i = 0; i < header->count; i++) {
        uint32_t offset;
        memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset));
        if (offset < before || name >= header->names_size)
            return false;
        kallsyms->symbols.data[kallsyms->symbols.length++] =
            (struct kernel_symbol){.address = saved_text_start + offset, .name = name, .module = KERNEL_CORE};
        before = offset;
        name += (uint32_t)strlen(kallsyms->text + name) + 1;
    }
    return name == header->names_size;
}

int kallsyms_decode(struct kallsyms *kallsyms, const void *bytes, size_t size)
{
    struct saved_header header;
    *kallsyms = (struct kallsyms){.problem = "", .text_start = saved_text_start};
    if (size < sizeof(header))
        return -EINVAL;
    memcpy(&header, bytes, sizeof(header));
    const unsigned char *offsets = (const unsigned char *)bytes + sizeof(header);
    if (memcmp(header.magic, saved_magic, sizeof(saved_magic)) != 0 ||
        size - sizeof(header) != header.count * (uint64_t)sizeof(uint32_t) + header.names_size ||
        header.checksum != checksum_bytes((const unsigned char *)bytes + CHECKED_FROM, size - CHECKED_FROM))
        return -EINVAL;
    kallsyms->text = malloc((size_t)header.names_size + 1);
    int result = kallsyms->text && array_reserve(&kallsyms->symbols, header.count) ? 0 : -ENOMEM;
    if (result == 0) {
        memcpy(kallsyms->text, offsets + header.count * sizeof(uint32_t), header.names_size);
        kallsyms->text[header.names_size] = '\0'; /* so that the last name ends inside */
        result = take_saved(kallsyms, &header, offsets) ? 0 : -EINVAL;
    }
    if (result != 0)
        kallsyms_destroy(kallsyms);
    return result;
}

/* ---- searching ---- */

static bool is_module_name(const char *wanted, const char *name)
{
    size_t length = strlen(name);
    if (wanted[0] == '[')
        return strncmp(wanted + 1, name, length) == 0 && strcmp(wanted + 1 + length, "]") == 0;
    return strcmp(wanted, name) == 0;
}

uint64_t kallsyms_base(const struct kallsyms *kallsyms, const char *module)
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

/* The first symbol in the file at the address of symbol i: the kernel lists aliases in the order of its own table. */
static size_t first_of_address(const struct kallsyms *kallsyms, size_t i)
{
    while (i > 0 && kallsyms->symbols.data[i - 1].address == kallsyms->symbols.data[i].address)
        i--;
    return i;
}

static bool starts_up_to(const void *symbol, const void *address)
{
    return ((const struct kernel_symbol *)symbol)->address <= *(const uint64_t *)address;
}

static const struct kernel_symbol *last_at_or_before(const struct kallsyms *kallsyms, uint64_t address, uint64_t *size)
{
    size_t count = kallsyms->symbols.length;
    size_t next =
        search_count_before(kallsyms->symbols.data, count, sizeof(struct kernel_symbol), starts_up_to, &address);
    if (next == 0)
        return NULL;
    const struct kernel_symbol *symbol = &kallsyms->symbols.data[first_of_address(kallsyms, next - 1)];
    *size = next < count ? kallsyms->symbols.data[next].address - symbol->address : 0;
    return symbol;
}

const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, const char *module, uint64_t address,
                                          uint64_t *size)
{
    const struct kernel_symbol *symbol = last_at_or_before(kallsyms, address, size);
    return symbol && is_in_module(kallsyms, symbol, module) ? symbol : NULL;
}

const struct kernel_symbol *kallsyms_find_anywhere(const struct kallsyms *kallsyms, uint64_t address)
{
    uint64_t size;
    const struct kernel_symbol *symbol = last_at_or_before(kallsyms, address, &size);
    return symbol && address - symbol->address < KALLSYMS_REACH ? symbol : NULL;
}

const char *kallsyms_module(const struct kallsyms *kallsyms, const struct kernel_symbol *symbol)
{
    return symbol->module == KERNEL_CORE ? NULL : kallsyms->text + symbol->module;
}

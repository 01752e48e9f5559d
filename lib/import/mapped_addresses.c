#include "import/mapped_addresses.h"

#include "base/ascii.h"
#include "base/search.h"

enum { RANGES_MAX = 1 << 16 }; /* limit of mappings of a process; the default vm.max_map_count is 65530 */

static bool parse_hex(const char **at, const char *end, uint64_t *number)
{
    const char *start = *at;
    *number = 0;
    for (; *at < end && *at - start < 16; ++*at) {
        int digit = parse_hex_digit(**at);
        if (digit < 0)
            break;
        *number = *number << 4 | (unsigned)digit;
    }
    return *at > start;
}

static void skip_word(const char **at, const char *end)
{
    while (*at < end && **at != ' ' && **at != '\t')
        ++*at;
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
}

/* Parses "558e01c30000-558e01c31000 r-xp 00001000 00:00 10160476    /usr/bin/w". */
static bool parse_line(const char *at, const char *end, struct mapped_range *range, uint64_t *offset, bool *is_code)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (!parse_hex(&at, end, &range->start) || at == end || *at++ != '-' || !parse_hex(&at, end, &range->end))
        return false;
    skip_word(&at, end);
    *is_code = end - at > 3 && at[2] == 'x';
    skip_word(&at, end);
    if (!parse_hex(&at, end, offset))
        return false;
    for (int field = 0; field < 3; field++) /* skip the device and inode */
        skip_word(&at, end);
    range->path = (struct builder_text){at, (size_t)(end - at)};
    return range->end > range->start;
}

static bool is_same_path(struct builder_text a, struct builder_text b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

DEFINE_COMPARE(compare_ranges, struct mapped_range, ORDER(a->start, b->start))

bool mapped_addresses_read(struct mapped_addresses *mapped, const char *text, size_t size)
{
    struct mapped_range first = {.path = builder_text("")}; /* base address of the current file */
    for (size_t at = 0; at < size && mapped->ranges.length < RANGES_MAX;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - text) - at : size - at;
        struct mapped_range range = {0};
        uint64_t offset;
        bool is_code;
        if (parse_line(text + at, text + at + length, &range, &offset, &is_code) && range.path.length) {
            if (offset == 0 || !is_same_path(range.path, first.path))
                first = range;
            /* The loader maps the start of a file at rva 0. If this range is missing, the offset of another range gives
             * the base. */
            range.base =
                is_same_path(first.path, range.path) && first.start < range.start ? first.start : range.start - offset;
            if (is_code && !array_push(&mapped->ranges, range))
                return false;
        }
        at += length + 1;
    }
    array_sort(&mapped->ranges, compare_ranges);
    return true;
}

static struct mapped_range *find_range(struct mapped_addresses *mapped, uint64_t address)
{
    size_t count = search_count(mapped->ranges.data, mapped->ranges.length, element->start <= address);
    return count && address < mapped->ranges.data[count - 1].end ? &mapped->ranges.data[count - 1] : NULL;
}

uint32_t mapped_addresses_add_frame(struct mapped_addresses *mapped, struct profile_builder *builder, uint64_t address,
                                    const struct builder_frame *known)
{
    struct mapped_range *range = find_range(mapped, address);
    struct builder_frame frame = *known;
    char text[24];
    if (range && !range->lib) {
        uint32_t resource;
        range->lib = builder_add_lib(builder, range->path, builder_text(""), &resource) + 1;
        range->resource = resource + 1;
    }
    frame.address = range ? address - range->base : address;
    frame.lib = range ? range->lib : 0;
    frame.resource = range ? range->resource : 0;
    if (!frame.name.length) {
        mapped->lacks_names = true;
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)frame.address);
        frame.name = builder_text(text);
    }
    return builder_add_frame(builder, &frame);
}

void mapped_addresses_destroy(struct mapped_addresses *mapped)
{
    array_free(&mapped->ranges);
}

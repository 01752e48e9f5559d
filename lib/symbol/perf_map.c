/*
 * JIT compilers append lines while they compile, without timestamps. When a JIT replaces or moves code, it appends a
 * line for the new code. So the last line that covers an address is the best answer that such a file can give. Samples
 * from before the reuse get the name of the later code (jitdump files have timestamps to tell them apart).
 *
 * The map of a large program has millions of lines in any order, and a recording has some thousand addresses. So the
 * lines are not sorted. The file is read once, from its last line up. Each line names those addresses that it covers
 * and that have no name yet. A union-find forest ("next address without a name") skips named addresses. This takes one
 * binary search per line, however the lines overlap, and ends early when all addresses have names.
 */
#include "symbol/perf_map.h"

#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t text_max = (size_t)256 << 20;

/* A truncated line may look like a complete one. */
static void drop_cut_line(struct perf_map *map)
{
    const char *newline = memchr(map->text, '\n', map->size);
    size_t cut = newline ? (size_t)(newline - map->text) : map->size;
    memset(map->text, ' ', cut);
}

int perf_map_read(struct perf_map *map, int fd, struct error *err)
{
    struct stat info;
    *map = (struct perf_map){0};
    if (fstat(fd, &info))
        return error_set(err, errno, "cannot read a perf map: %s", strerror(errno));
    uint64_t file_size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    size_t size = file_size < text_max ? (size_t)file_size : text_max;
    map->text = malloc(size + 1);
    if (!map->text)
        return error_no_memory(err);
    while (map->size < size) {
        ssize_t got = pread(fd, map->text + map->size, size - map->size, (off_t)(file_size - size + map->size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int code = error_set(err, errno, "cannot read a perf map: %s", strerror(errno));
            perf_map_destroy(map);
            return code;
        }
        if (got == 0) /* the file was truncated */
            break;
        map->size += (size_t)got;
    }
    if (size < file_size)
        drop_cut_line(map);
    return 0;
}

void perf_map_destroy(struct perf_map *map)
{
    free(map->text);
    *map = (struct perf_map){0};
}

/* ---- lines ---- */

struct line {
    uint64_t start, last; /* last: its last byte */
    struct perf_map_name name;
};

/* The last newline before `end`; NULL if there is none. Searches in steps, because the address sanitizer checks all
 * bytes that memrchr() might read. */
static const char *newline_before(const char *text, const char *end)
{
    enum { STEP = 4096 };
    const char *found = NULL;
    while (end > text && !found) {
        size_t step = end - text < STEP ? (size_t)(end - text) : STEP;
        end -= step;
        found = memrchr(end, '\n', step);
    }
    return found;
}

/* Parses a hexadecimal number of at most 16 digits, with or without 0x, and the space behind it. */
static bool read_number(const char **at, const char *end, uint64_t *value)
{
    enum { MOST_DIGITS = 16 };
    const char *digits = *at;
    if (end - digits > 2 && digits[0] == '0' && (digits[1] | 32) == 'x')
        digits += 2;
    const char *p = digits;
    *value = 0;
    for (; p < end; p++) {
        unsigned decimal = (unsigned char)*p - '0', letter = ((unsigned char)*p | 32U) - 'a';
        if (decimal >= 10 && letter >= 6)
            break;
        *value = *value << 4 | (decimal < 10 ? decimal : letter + 10);
    }
    if (p == digits || p - digits > MOST_DIGITS || p == end || *p != ' ')
        return false;
    while (p < end && *p == ' ')
        p++;
    *at = p;
    return true;
}

static bool parse_line(const char *at, const char *end, struct line *line)
{
    uint64_t size;
    if (end > at && end[-1] == '\r')
        end--;
    if (!read_number(&at, end, &line->start) || !read_number(&at, end, &size) || !size || at == end)
        return false;
    line->last = size - 1 > UINT64_MAX - line->start ? UINT64_MAX : line->start + (size - 1);
    size_t length = (size_t)(end - at);
    line->name = (struct perf_map_name){.text = at, .length = length < PERF_MAP_NAME_MAX ? length : PERF_MAP_NAME_MAX};
    return true;
}

/* ---- addresses ---- */

struct wanted {
    const uint64_t *addresses;
    struct perf_map_name *names;
    size_t *next; /* per address without a name: itself; otherwise an address closer to the next one without; `count` at
                     the end */
    size_t count, unnamed;
};

static size_t next_unnamed(struct wanted *wanted, size_t i)
{
    while (wanted->next[i] != i) {
        wanted->next[i] = wanted->next[wanted->next[i]];
        i = wanted->next[i];
    }
    return i;
}

static void set_name(struct wanted *wanted, size_t i, const struct perf_map_name *name)
{
    wanted->names[i] = *name;
    wanted->next[i] = i + 1;
    wanted->unnamed--;
}

static void apply_line(struct wanted *wanted, const struct line *line)
{
    size_t i = next_unnamed(wanted, first_at_or_after(wanted->addresses, wanted->count, line->start));
    for (; i < wanted->count && wanted->addresses[i] <= line->last; i = next_unnamed(wanted, i))
        set_name(wanted, i, &line->name);
}

int perf_map_lookup(const struct perf_map *map, const uint64_t *addresses, size_t count, struct perf_map_name *names,
                    struct error *err)
{
    struct wanted wanted = {.addresses = addresses, .names = names, .count = count};
    wanted.next = malloc((count + 1) * sizeof(*wanted.next));
    if (!wanted.next)
        return error_no_memory(err);
    for (size_t i = 0; i <= count; i++) {
        wanted.next[i] = i < count && names[i].text ? i + 1 : i;
        wanted.unnamed += i < count && wanted.next[i] == i;
    }
    const char *end = newline_before(map->text, map->text + map->size);
    while (end && wanted.unnamed) {
        const char *newline = newline_before(map->text, end);
        struct line line;
        if (parse_line(newline ? newline + 1 : map->text, end, &line))
            apply_line(&wanted, &line);
        end = newline;
    }
    free(wanted.next);
    return 0;
}

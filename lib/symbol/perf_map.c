/*
 * JIT compilers append lines while they compile, without timestamps. When a JIT replaces or moves code, it appends a
 * line for the new code. So the last line that covers an address is the best answer from such a file. Samples from
 * before the reuse get the name of the later code (jitdump files have timestamps to distinguish them).
 *
 * The map of a large program has millions of lines in any order, and a recording has some thousand addresses. So the
 * lines are not sorted. The file is read once, from its last line up. Each line names those addresses that it covers
 * and that have no name yet. A union-find forest ("next address without a name") skips named addresses. The method
 * takes one binary search per line, even if lines overlap, and ends early when all addresses have names. Most compilers
 * put code next to earlier code, so the search for a line starts near the last line.
 *
 * prof reads the file in chunks, because a program may write any amount to it, and prof's memory must not depend on the
 * size.
 */
#include "symbol/perf_map.h"

#include "base/search.h"

#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

/* ---- lines ---- */

struct line {
    uint64_t start, last; /* last: its last byte */
    struct perf_map_name name;
};

/* Returns the last newline before `end`, or NULL if none. Searches in steps, because the address sanitizer checks
 * all bytes that memrchr() might read. */
static const char *find_newline_before(const char *text, const char *end)
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

/* Parses a hexadecimal number of at most 16 digits, with or without 0x, and the space after it. */
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
    struct arena *texts;
    struct perf_map_counts *counts;
    size_t *next; /* per address without a name, the address itself, otherwise an address closer to the next address
                   * without a name (`count` at the end) */
    size_t count, unnamed;
    size_t near; /* the first address at or after the start of the last line */
};

static size_t find_next_unnamed(struct wanted *wanted, size_t i)
{
    while (wanted->next[i] != i) {
        wanted->next[i] = wanted->next[wanted->next[i]];
        i = wanted->next[i];
    }
    return i;
}

/* Returns the first address at or after the start of a line. */
static size_t find_first_address(struct wanted *wanted, uint64_t start)
{
    enum { REACH = 4 };
    size_t first = wanted->near > REACH ? wanted->near - REACH : 0;
    size_t end = wanted->count - wanted->near > REACH ? wanted->near + REACH : wanted->count;
    const uint64_t *addresses = wanted->addresses;
    if ((first == 0 || addresses[first - 1] < start) && (end == wanted->count || addresses[end] >= start))
        while (first < end && addresses[first] < start)
            first++;
    else
        first = search_first_at_or_after(addresses, wanted->count, start);
    wanted->near = first;
    return first;
}

/* Gives the name of a line to the addresses in the line. Copies the name for the first address. Returns false if memory
 * ran out. */
static bool apply_line(struct wanted *wanted, const struct line *line)
{
    struct perf_map_name name = {.length = line->name.length};
    size_t i = find_next_unnamed(wanted, find_first_address(wanted, line->start));
    for (; i < wanted->count && wanted->addresses[i] <= line->last; i = find_next_unnamed(wanted, i)) {
        if (!name.text && !(name.text = arena_copy(wanted->texts, line->name.text, name.length)))
            return false;
        wanted->names[i] = name;
        wanted->next[i] = i + 1;
        wanted->unnamed--;
    }
    return true;
}

static bool parse_and_apply_line(struct wanted *wanted, const char *start, const char *end)
{
    struct line line;
    if (start == end)
        return true;
    wanted->counts->lines++;
    if (parse_line(start, end, &line))
        return apply_line(wanted, &line);
    wanted->counts->malformed++;
    return true;
}

/* ---- the file ---- */

/* Reads the file from its end to its beginning. `text` has room for a chunk, followed by the end of a line whose
 * beginning is in the previous chunk: text[CHUNK .. CHUNK + tail). */
struct backward_reader {
    int fd;
    uint64_t at, first; /* offsets: bytes before `at` are not read yet, bytes before `first` never */
    char *text;
    size_t tail;
    bool skips; /* the line has no end, because it is truncated or too long */
};

/* Applies the lines of a text that ends at a newline. Returns the start of the first line, whose beginning may be
 * missing, or NULL if memory ran out. */
static const char *apply_lines(struct wanted *wanted, const char *text, const char *end)
{
    const char *newline;
    while (wanted->unnamed && (newline = find_newline_before(text, end))) {
        if (!parse_and_apply_line(wanted, newline + 1, end))
            return NULL;
        end = newline;
    }
    return end;
}

static int read_chunk(struct backward_reader *reader, struct wanted *wanted, struct error *err)
{
    size_t size = reader->at - reader->first < CHUNK ? (size_t)(reader->at - reader->first) : CHUNK;
    char *text = reader->text + CHUNK - size;
    const char *end = reader->text + CHUNK + reader->tail;
    reader->at -= size;
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(reader->fd, text + done, size - done, (off_t)(reader->at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, errno, "cannot read a perf map: %s", strerror(errno));
        if (got == 0) /* the file was truncated during the read */
            memset(text + done, '\n', size - done);
        done += got ? (size_t)got : size - done;
    }
    if (reader->skips) {
        end = find_newline_before(text, text + size);
        reader->skips = end == NULL;
    }
    if (!end)
        return 0;
    end = apply_lines(wanted, text, end);
    if (!end)
        return error_no_memory(err);
    if (!wanted->unnamed)
        return 0;
    if (reader->at == 0)
        return parse_and_apply_line(wanted, text, end) ? 0 : error_no_memory(err);
    reader->tail = (size_t)(end - text);
    reader->skips = reader->tail > PERF_MAP_LINE_MAX;
    if (reader->skips) {
        wanted->counts->lines++;
        wanted->counts->malformed++;
        reader->tail = 0;
    }
    memmove(reader->text + CHUNK, text, reader->tail);
    return 0;
}

static int read_backward(int fd, struct wanted *wanted, struct error *err)
{
    struct stat info;
    if (fstat(fd, &info))
        return error_set(err, errno, "cannot read a perf map: %s", strerror(errno));
    uint64_t size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    struct backward_reader reader = {.fd = fd, .at = size, .skips = true};
    reader.first = size > PERF_MAP_READ_MAX ? size - PERF_MAP_READ_MAX : 0;
    reader.text = malloc(CHUNK + PERF_MAP_LINE_MAX);
    wanted->counts->is_cut = reader.first != 0;
    int code = reader.text ? 0 : error_no_memory(err);
    while (!code && wanted->unnamed && reader.at > reader.first)
        code = read_chunk(&reader, wanted, err);
    free(reader.text);
    return code;
}

int perf_map_find(int fd, const uint64_t *addresses, size_t count, struct perf_map_name *names, struct arena *texts,
                  struct perf_map_counts *counts, struct error *err)
{
    struct wanted wanted = {.addresses = addresses, .names = names, .count = count, .texts = texts, .counts = counts};
    *counts = (struct perf_map_counts){0};
    wanted.next = malloc((count + 1) * sizeof(*wanted.next));
    if (!wanted.next)
        return error_no_memory(err);
    for (size_t i = 0; i <= count; i++) {
        wanted.next[i] = i < count && names[i].text ? i + 1 : i;
        wanted.unnamed += i < count && wanted.next[i] == i;
    }
    int code = read_backward(fd, &wanted, err);
    free(wanted.next);
    return code;
}

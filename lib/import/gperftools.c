/*
 * The output of gperftools' CPU profiler (CPUPROFILE=file, libprofiler; https://gperftools.github.io/gperftools/
 * cpuprofile-fileformat.html): words of the size of a pointer in the byte order of the machine. A header (0, the number
 * of words that follow, version 0, the sampling period in us, 0), then records (a count of samples, a number of
 * addresses, the addresses from the innermost to the outermost), then the trailer (0, 1, 0), and the text of
 * /proc/self/maps.
 *
 * All addresses after the first are return addresses, so the call is at the byte before.
 */
#include "import/importers.h"
#include "import/mapped_addresses.h"

#include "base/cursor.h"

enum { HEADER_WORDS = 5, STACK_MAX = 1 << 16 };

struct words {
    struct cursor c;
    bool are_32; /* words of 32 bits */
};

static uint64_t read_word(struct words *words)
{
    return words->are_32 ? cursor_u32(&words->c) : cursor_u64(&words->c);
}

/* Reads the header, and moves `words` past the header. */
static bool read_header(const char *text, size_t size, struct words *words, uint64_t *period)
{
    for (int are_32 = 0; are_32 <= 1; are_32++) {
        uint64_t header[HEADER_WORDS];
        *words = (struct words){.c = cursor_of(text, size), .are_32 = are_32};
        for (size_t i = 0; i < HEADER_WORDS; i++)
            header[i] = read_word(words);
        *period = header[3];
        if (!words->c.failed && header[0] == 0 && header[1] == 3 && header[2] == 0 && header[3] > 0 &&
            header[3] <= UINT32_MAX && header[4] == 0)
            return true;
    }
    return false;
}

bool gperftools_begins(const char *text, size_t size, bool is_whole)
{
    struct words words;
    uint64_t period;
    (void)is_whole;
    return read_header(text, size, &words, &period);
}

struct reading {
    struct profile_builder *builder;
    struct mapped_addresses mapped;
    ARRAY(uint64_t) addresses; /* of the current stack */
    uint32_t thread;
};

static void add_stack(struct reading *reading, uint64_t samples)
{
    uint32_t stack = PROFILE_NONE;
    for (size_t i = reading->addresses.length; i-- > 0;) {
        uint64_t address = reading->addresses.data[i] - (i > 0);
        uint32_t frame =
            mapped_addresses_add_frame(&reading->mapped, reading->builder, address, &(struct builder_frame){0});
        stack = builder_add_stack(reading->builder, stack, frame);
    }
    builder_add_sample(reading->builder, reading->thread, 0, stack, 0, (double)samples);
}

/* Checks all records, and adds their stacks if `reading` is not NULL. */
static int read_records(struct words words, struct reading *reading, struct cursor *rest, struct error *err)
{
    for (size_t number = 1;; number++) {
        uint64_t samples = read_word(&words), depth = read_word(&words);
        if (words.c.failed || depth > STACK_MAX)
            return error_set(err, EINVAL, "record %zu is damaged, or the file is truncated", number);
        if (reading)
            reading->addresses.length = 0;
        uint64_t last = 0;
        for (uint64_t i = 0; i < depth; i++) {
            last = read_word(&words);
            if (reading && !array_push(&reading->addresses, last))
                return error_no_memory(err);
        }
        if (words.c.failed)
            return error_set(err, EINVAL, "record %zu is truncated", number);
        if (samples == 0 && depth == 1 && last == 0) {
            *rest = words.c;
            return 0;
        }
        if (reading && samples)
            add_stack(reading, samples);
    }
}

int gperftools_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct words words;
    struct cursor maps;
    uint64_t period;
    if (!read_header(text, size, &words, &period))
        return error_set(err, EINVAL, "the header is damaged");
    int code = read_records(words, NULL, &maps, err);
    if (code)
        return code;
    builder->has_no_times = true;
    builder->profile->meta.interval = (double)period / 1e3;
    struct reading reading = {.builder = builder, .thread = builder_add_thread(builder, 0, 0, PROFILE_NONE)};
    if (!mapped_addresses_read(&reading.mapped, (const char *)maps.at, cursor_left(&maps)))
        code = error_no_memory(err);
    if (!code)
        code = read_records(words, &reading, &maps, err);
    if (!code && reading.mapped.lacks_names)
        builder_request_names(builder);
    mapped_addresses_destroy(&reading.mapped);
    array_free(&reading.addresses);
    return code;
}

/* Any bytes as the perf map of a JIT compiler: parses all lines, and every name that it finds. */
#include "support/memory_file.h"
#include "symbol/jit_name.h"
#include "symbol/perf_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { COUNT = 64 };
    uint64_t addresses[COUNT];
    struct perf_map_name names[COUNT] = {0};
    for (uint64_t i = 0; i < COUNT; i++) /* close together below, then over all of memory */
        addresses[i] = i < 32 ? i * 8 : UINT64_C(1) << (i - 24 < 64 ? i - 24 : 63);
    addresses[COUNT - 1] = UINT64_MAX;
    struct arena arena = {0};
    struct perf_map_counts counts;
    int fd = memory_file(data, size);
    if (perf_map_find(fd, addresses, COUNT, names, &arena, &counts, NULL) || counts.malformed > counts.lines)
        abort();
    close(fd);
    for (size_t i = 0; i < COUNT; i++) {
        struct jit_name name;
        if (!names[i].text)
            continue;
        if (names[i].length > PERF_MAP_NAME_MAX)
            abort();
        if (jit_name_parse(&name, names[i].text, names[i].length, &arena) || !name.function)
            abort();
    }
    arena_destroy(&arena);
    return 0;
}

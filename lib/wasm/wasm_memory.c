/*
 * The memory of the WebAssembly build grows in large steps. malloc() requests only the bytes that it lacks, and each
 * growth runs the browser's garbage collector for 2 to 30 ms: half of the load time of a profile with 5 million stacks.
 * Unused memory of a step takes only address space.
 *
 * Pointers have 32 bits, so memory ends one page below 4 GiB (WASM_MEMORY in the Makefile); a profile of 10 million
 * samples and 2 million stacks takes 0.6 GiB. If a browser refuses to grow the memory, the page reports the failure.
 */
#ifdef __wasm__
#include "base/standard.h"

#include <unistd.h>

enum { PAGE = 64 * 1024, LEAST_STEP = 32 * 1024 * 1024 };

static bool grow_memory(uintptr_t bytes)
{
    return __builtin_wasm_memory_grow(0, (bytes + PAGE - 1) / PAGE) != SIZE_MAX;
}

/* Replaces sbrk() of the C library; malloc() reports that memory ran out. */
void *sbrk(intptr_t increment)
{
    static uintptr_t end; /* end of the heap: the module has one heap */
    uintptr_t size = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
    if (end == 0)
        end = size;
    uintptr_t step = size / 4 > LEAST_STEP ? size / 4 : LEAST_STEP;
    bool fits = increment >= 0 && (uintptr_t)increment <= size - end;
    if (increment < 0 || (!fits && !grow_memory((uintptr_t)increment + step) && !grow_memory((uintptr_t)increment)))
        return (void *)-1;
    void *start = (void *)end;
    end += (uintptr_t)increment;
    return start;
}
#endif

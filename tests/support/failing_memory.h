/*
 * Memory that runs out on purpose. The program is linked with -Wl,--wrap for each function below, so that calls from
 * the library come here. An operation is run again and again, with its first, second, third ... allocation failing,
 * until it needs fewer allocations than that.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_long allocations_left = -1; /* until one fails; negative: none fails */

static bool memory_fails(void)
{
    return atomic_load(&allocations_left) >= 0 && atomic_fetch_sub(&allocations_left, 1) == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return memory_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return memory_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return memory_fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return memory_fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return memory_fails() ? NULL : __real_strdup(text);
}

/* Runs operation(context) with allocation number `n` (from 0) failing. False if it needed no more than n. */
static inline bool run_with_failure(long n, void (*operation)(void *context), void *context)
{
    atomic_store(&allocations_left, n);
    operation(context);
    return atomic_exchange(&allocations_left, -1) < 0;
}

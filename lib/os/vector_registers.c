#include "os/vector_registers.h"

#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx"))) static void release(void)
{
    _mm256_zeroupper();
}

void vector_registers_release(void)
{
    if (__builtin_cpu_supports("avx"))
        release();
}
#else
void vector_registers_release(void)
{
}
#endif

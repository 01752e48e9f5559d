/* A program that needs no library, so that any compiler can make it for any machine. It is looked up, not run. */
volatile unsigned sink;

unsigned outer(unsigned x);

static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
    return x * 3 + sink;
}

__attribute__((noinline)) unsigned outer(unsigned x)
{
    return inner(x ^ 5) + 1;
}

void _start(void)
{
    for (;;)
        sink = outer(sink);
}

void __start(void)
{
    _start();
}

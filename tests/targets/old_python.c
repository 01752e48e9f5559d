/*
 * A program that has the symbols of CPython before 3.11, which do not say its version. build: -rdynamic
 *
 * usage: old_python SECONDS (of CPU time)
 */
#include <stdlib.h>
#include <time.h>

long _PyRuntime[64], PyCode_Type[64];

int main(int argc, char **argv)
{
    clock_t end = (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);
    while (clock() < end)
        _PyRuntime[0]++;
    return 0;
}

/* Burns CPU time, sleeps, burns and sleeps again: burn 200 ms, sleep 500 ms, burn 300 ms, sleep 700 ms. */
#include <time.h>

static volatile unsigned long sink;

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(double seconds)
{
    for (double end = cpu_time() + seconds; cpu_time() < end;)
        for (unsigned long i = 0; i < 100000; i++)
            sink += i;
}

__attribute__((noinline)) static void rest(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(void)
{
    burn(0.2);
    rest(500);
    burn(0.3);
    rest(700);
    return 0;
}

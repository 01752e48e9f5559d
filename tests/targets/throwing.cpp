// Throws so many exceptions, one after the other, from fail() below attempt(). build: -O1 -fno-inline
//
//     throwing N
#include <cstdlib>
#include <stdexcept>

static volatile int caught;

static void fail(int number)
{
    if (number >= 0)
        throw std::runtime_error("it failed");
}

static void attempt(int number)
{
    try {
        fail(number);
    } catch (const std::runtime_error &) {
        caught = caught + 1;
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < count; i++)
        attempt(i);
    return caught == count ? 0 : 1;
}

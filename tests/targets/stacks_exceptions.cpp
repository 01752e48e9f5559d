// C++ exceptions between two breakpoint instructions, for tests/unit/test_unwind_truth.c, which steps through them.
#include <cstdio>
#include <stdexcept>
#include <string>

#define NOINLINE __attribute__((noinline))

static volatile int zero;

struct Guard {
    int &count;
    explicit Guard(int &counter) : count(counter)
    {
    }
    NOINLINE ~Guard()
    {
        count++;
    }
};

NOINLINE static void thrower(int depth, int &count)
{
    Guard guard(count);
    if (depth == zero)
        throw std::runtime_error("deep");
    thrower(depth - 1, count);
    count += zero;
}

NOINLINE static int catcher(int depth)
{
    int count = 0;
    try {
        thrower(depth, count);
    } catch (const std::exception &error) {
        count += error.what()[0];
    }
    return count;
}

NOINLINE static int rethrower()
{
    try {
        try {
            throw 5;
        } catch (int value) {
            std::string text(static_cast<size_t>(value) * 10, 'x');
            throw text;
        }
    } catch (const std::string &text) {
        return static_cast<int>(text.size());
    }
}

int main()
{
    __asm__ volatile("int3");
    int result = catcher(3) + rethrower();
    __asm__ volatile("int3");
    std::printf("%d\n", result);
    return 0;
}

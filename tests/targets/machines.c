/* Inlined and recursive functions that need no header and no library, so that they can be built for any machine. Runs
 * for no time; tests look at its symbols. */
static inline int add(int a, int b)
{
    return a + b;
}

static inline int twice(int a)
{
    return add(a, a) * 2;
}

__attribute__((noinline)) static int fold(const char *text, int seed)
{
    int sum = seed;
    for (; *text; text++) {
        sum = add(sum, twice(*text));
        if (sum < 0)
            sum = -sum;
    }
    return sum;
}

__attribute__((noinline)) int recursive(int depth, const char *text)
{
    if (depth == 0)
        return fold(text, 1);
    return recursive(depth - 1, text) + twice(depth);
}

__attribute__((noinline)) int largest(const int *values, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        if (twice(values[i]) > found)
            found = twice(values[i]);
    return found;
}

int main(int argc, char **argv)
{
    int values[] = {1, argc, 3};
    (void)argv;
    return recursive(argc, "text") + largest(values, 3) > 1000000;
}

// A deep C++ stack: 45 distinct functions, each calling the next through a virtual call, with the work at the bottom.
// usage: deep SECONDS | deep -w UNITS (a fixed amount of work)
// Prints a checksum, and the wall and CPU time of the work in seconds.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <ctime>

namespace deep
{
struct Layer {
    virtual ~Layer() = default;
    virtual uint64_t descend(uint64_t seed) = 0;
};

template <int Depth> struct Level final : Layer {
    std::unique_ptr<Layer> below;
    explicit Level(std::unique_ptr<Layer> next) : below(std::move(next))
    {
    }
    __attribute__((noinline)) uint64_t descend(uint64_t seed) override
    {
        char local[64 + Depth * 8];
        memset(local, static_cast<int>(seed), sizeof(local));
        return below->descend(seed + Depth) + static_cast<uint64_t>(local[Depth]);
    }
};

struct Bottom final : Layer {
    __attribute__((noinline)) uint64_t mix(uint64_t x)
    {
        for (int i = 0; i < 2000; i++)
            x = (x ^ (x >> 31)) * UINT64_C(0x9e3779b97f4a7c15) + static_cast<uint64_t>(i);
        return x;
    }
    __attribute__((noinline)) uint64_t fill(uint64_t x)
    {
        std::vector<std::string> words;
        for (int i = 0; i < 8; i++)
            words.push_back(std::to_string(x + static_cast<uint64_t>(i)));
        return words.back().size();
    }
    __attribute__((noinline)) uint64_t descend(uint64_t seed) override
    {
        return mix(seed) + fill(seed);
    }
};

template <int Depth> std::unique_ptr<Layer> build(std::unique_ptr<Layer> below)
{
    if constexpr (Depth == 0)
        return below;
    else
        return build<Depth - 1>(std::make_unique<Level<Depth>>(std::move(below)));
}
} // namespace deep

static double seconds(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

int main(int argc, char **argv)
{
    auto top = deep::build<42>(std::make_unique<deep::Bottom>());
    uint64_t sum = 0;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (argc > 2 && !strcmp(argv[1], "-w")) {
        for (long units = atol(argv[2]) * 1000; units > 0; units--)
            sum += top->descend(sum);
    } else {
        using clock = std::chrono::steady_clock;
        auto end = clock::now() + std::chrono::duration<double>(argc > 1 ? atof(argv[1]) : 1);
        while (clock::now() < end)
            for (int i = 0; i < 50; i++)
                sum += top->descend(sum);
    }
    printf("%llu %.6f %.6f\n", static_cast<unsigned long long>(sum), seconds(CLOCK_MONOTONIC) - wall,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

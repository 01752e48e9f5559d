/* Functions of every kind that C++ names in its own way: templates, lambdas, anonymous namespaces, local classes, virtual
 * functions and thunks, operators, constructors, extern "C". Runs for no time; tests look at its symbols. */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {
__attribute__((noinline)) int hidden(int x) { return x * 3 + 1; }
inline int hidden_inline(int x) { return hidden(x) ^ x; }
struct hidden_class {
    int value;
    explicit hidden_class(int v) : value(v) { value = hidden_inline(value); }
    __attribute__((noinline)) int method(int x) const { return value + hidden_inline(x); }
};
} // namespace

namespace outer {
inline namespace v1 {
namespace inner {
template <typename T, int N> struct box {
    T items[N];
    __attribute__((noinline)) T sum() const
    {
        T total{};
        for (const T &item : items)
            total += item;
        return total;
    }
    T operator()(T x) const { return sum() + x; }
};
template <typename F> __attribute__((noinline)) auto apply(F f, int x) -> decltype(f(x)) { return f(x) + f(x + 1); }
} // namespace inner
} // namespace v1
} // namespace outer

struct base_a {
    virtual ~base_a() = default;
    virtual int run(int x) { return x + 1; }
};
struct base_b {
    int pad = 0;
    virtual ~base_b() = default;
    virtual int walk(int x) { return x + 2; }
};
struct derived : base_a, base_b {
    int run(int x) override { return x * 2; }
    int walk(int x) override { return x * 3 + pad; }
};

extern "C" __attribute__((noinline)) int plain_c(int x) { return hidden_inline(x) + 5; }

static inline int level3(int x)
{
    return plain_c(x) + hidden(x);
}
static inline int level2(int x)
{
    int y = level3(x);
    return y * level3(y);
}
__attribute__((noinline)) int level1(int x)
{
    return level2(x) - level2(x + 1);
}

__attribute__((noinline)) int throws(int x)
{
    if (x > 1000000)
        throw std::string("too large");
    return x;
}

int main(int argc, char **)
{
    struct local {
        int value;
        int twice() const { return level1(value) * 2; }
    };
    outer::inner::box<int, 4> ints{{argc, 2, 3, 4}};
    outer::inner::box<double, 3> doubles{{1.5, argc * 1.0, 2.5}};
    int total = ints(argc) + static_cast<int>(doubles(0.5)) + local{argc}.twice() + throws(argc);
    total += outer::inner::apply([argc](int x) { return x + argc; }, 7);
    total += outer::inner::apply([](auto x) { return hidden_class(x).method(x); }, 9);
    std::function<int(int)> held = [total](int x) { return [x, total]() { return hidden(x + total); }(); };
    std::vector<std::unique_ptr<base_a>> things;
    for (int i = 0; i < 5; i++)
        things.push_back(std::make_unique<derived>());
    std::map<std::string, std::vector<int>> index;
    for (int i = 0; i < 50; i++)
        index[std::to_string(i * total)].push_back(held(i));
    for (auto &thing : things) {
        total += thing->run(total);
        total += dynamic_cast<base_b &>(*thing).walk(total);
    }
    std::vector<std::pair<std::string, int>> sorted;
    for (auto &entry : index)
        sorted.emplace_back(entry.first, entry.second[0]);
    std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
    try {
        total += throws(total);
    } catch (const std::string &text) {
        total += static_cast<int>(text.size());
    }
    std::printf("%d %s\n", total, sorted[0].first.c_str());
}

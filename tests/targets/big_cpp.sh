#!/bin/sh
# Builds a C++ program with a lot of debug info: UNITS translation units that instantiate std templates with types of
# their own, so that nothing folds together. 36 units with 14 types each give a program of about 360 MB (133 MB of
# .debug_info) with g++ -g -O2; 36 with 2 types about 95 MB (46 MB).
#
# usage: big_cpp.sh OUTPUT [UNITS [TYPES_PER_UNIT [COMPILER FLAGS...]]]
set -eu
output=$1
units=${2:-36}
types=${3:-12}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- g++ -g -O2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unit=0
while [ $unit -lt "$units" ]; do
    {
        cat <<HEADER
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit_$unit {
template <int N> struct key {
    int value;
    bool operator<(const key &other) const { return value < other.value; }
    bool operator==(const key &other) const { return value == other.value; }
};
template <int N> struct key_hash {
    size_t operator()(const key<N> &k) const { return std::hash<int>()(k.value * 31 + N); }
};
template <int N> __attribute__((noinline)) unsigned work(unsigned seed)
{
    std::map<key<N>, std::vector<std::string>> by_key;
    std::unordered_map<key<N>, std::list<key<N>>, key_hash<N>> index;
    std::deque<std::shared_ptr<key<N>>> queue;
    std::set<std::pair<key<N>, std::string>> seen;
    std::vector<std::function<unsigned(unsigned)>> steps;
    for (unsigned i = 0; i < 40; i++) {
        key<N> k{static_cast<int>((seed = seed * 1103515245u + 12345u) >> 20)};
        by_key[k].push_back(std::to_string(k.value));
        index[k].push_front(k);
        queue.push_back(std::make_shared<key<N>>(k));
        seen.emplace(k, std::to_string(seed));
        steps.push_back([k, i](unsigned x) { return x ^ (static_cast<unsigned>(k.value) + i); });
    }
    std::sort(queue.begin(), queue.end(), [](const auto &a, const auto &b) { return *a < *b; });
    std::stable_sort(steps.begin(), steps.end(), [](const auto &a, const auto &b) { return a(1) < b(1); });
    unsigned sum = std::accumulate(queue.begin(), queue.end(), 0u, [](unsigned s, const auto &k) { return s + k->value; });
    for (auto &entry : by_key) sum += entry.second.size();
    for (auto &entry : index) sum += entry.second.size();
    for (auto &step : steps) sum = step(sum);
    std::ostringstream text;
    for (auto &entry : seen) text << entry.second << ' ';
    return sum + text.str().size();
}
HEADER
        echo "std::regex pattern_$unit(\"[a-z]+$unit\");"
        echo "unsigned run(unsigned seed) {"
        type=0
        while [ $type -lt "$types" ]; do
            echo "    seed += work<$type>(seed);"
            type=$((type + 1))
        done
        echo "    return seed + std::regex_search(std::to_string(seed), pattern_$unit);"
        echo "}"
        echo "}"
    } >"$work/unit_$unit.cpp"
    unit=$((unit + 1))
done

{
    unit=0
    while [ $unit -lt "$units" ]; do
        echo "namespace unit_$unit { unsigned run(unsigned); }"
        unit=$((unit + 1))
    done
    echo "#include <cstdio>"
    echo "#include <cstdlib>"
    echo "#include <ctime>"
    echo "int main(int argc, char **argv) {"
    echo "    unsigned seed = 1;"
    echo "    for (int round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--) {"
    unit=0
    while [ $unit -lt "$units" ]; do
        echo "        seed += unit_$unit::run(seed);"
        unit=$((unit + 1))
    done
    echo "    }"
    printf '%s\n' '    printf("%u\n", seed);'
    # When it ended, for measurements of what comes after: seconds since the epoch, in the file that STAMP names.
    printf '%s\n' '    const char *path = getenv("STAMP");' '    FILE *stamp = path ? fopen(path, "w") : nullptr;' \
        '    timespec now;' '    if (stamp && clock_gettime(CLOCK_REALTIME, &now) == 0)' \
        '        fprintf(stamp, "%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec), fclose(stamp);'
    echo "}"
} >"$work/main.cpp"

printf '%s\n' "$work"/*.cpp | xargs -P "$(nproc)" -I{} sh -c 'source=$1; shift; "$@" -c -o "${source%.cpp}.o" "$source"' _ {} "$@"
"$@" -o "$output" "$work"/*.o

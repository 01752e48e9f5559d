/*
 * One thread for each kind of lock of C++, which waits for it for about MS (default 400) in a function of that name.
 * build: -O1 -g -std=c++20 -pthread -fno-omit-frame-pointer
 *
 *     lock_kinds_cpp [MS]
 */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <sys/prctl.h>
#include <thread>
#include <vector>

struct pool {
    char name[64] = "workers";
    std::mutex mutex;
    std::condition_variable ready;
    static pool &instance();
};

static std::mutex cache_mutex;
static std::shared_mutex table_mutex;
static std::atomic<int> state{0};
static std::latch started{2};
static std::barrier<> phase{2};
static std::promise<int> answer;
static int ms = 400;
static bool is_ready = false;

pool &pool::instance()
{
    static struct pool pool;
    return pool;
}

static void pause_for(int length)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(length));
}

struct slow {
    slow() { pause_for(ms); }
};

static slow &slow_static()
{
    static slow value;
    return value;
}

static void mutex() { std::lock_guard<std::mutex> guard(cache_mutex); }

static void condition()
{
    auto &pool = pool::instance();
    std::unique_lock<std::mutex> guard(pool.mutex);
    pool.ready.wait(guard, [] { return is_ready; });
}

static void rwlock() { std::shared_lock<std::shared_mutex> guard(table_mutex); }
static void atomic() { state.wait(0); }
static void latch() { started.wait(); }
static void barrier() { phase.arrive_and_wait(); }
static void future() { answer.get_future().wait(); }
static void join() { std::thread([] { pause_for(ms); }).join(); }

static void once()
{
    pause_for(ms / 20); /* main() constructs it by then */
    slow_static();
}

template <void (*function)()> static std::thread start(const char *name)
{
    return std::thread([name] {
        prctl(PR_SET_NAME, name);
        function();
    });
}

int main(int argc, char **argv)
{
    if (argc > 1)
        ms = atoi(argv[1]);
    cache_mutex.lock();
    table_mutex.lock();
    std::vector<std::thread> threads;
    threads.push_back(start<mutex>("mutex"));
    threads.push_back(start<condition>("condition"));
    threads.push_back(start<rwlock>("rwlock"));
    threads.push_back(start<atomic>("atomic"));
    threads.push_back(start<latch>("latch"));
    threads.push_back(start<barrier>("barrier"));
    threads.push_back(start<future>("future"));
    threads.push_back(start<join>("join"));
    threads.push_back(start<once>("once"));
    slow_static();
    cache_mutex.unlock();
    table_mutex.unlock();
    {
        auto &pool = pool::instance();
        std::lock_guard<std::mutex> guard(pool.mutex);
        is_ready = true;
        pool.ready.notify_all();
    }
    state = 1;
    state.notify_all();
    started.count_down(2);
    phase.arrive_and_wait();
    answer.set_value(1);
    for (auto &thread : threads)
        thread.join();
}

// What C++20 waits with: atomic waits, semaphores, latches, barriers, condition variables with stop tokens, timed locks, futures.
#include "check.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

static void atomics()
{
    std::atomic<int> plain{0};
    std::atomic<long> wide{0};
    std::jthread other([&] {
        std::this_thread::sleep_for(20ms);
        plain = 1;
        plain.notify_one();
        wide.wait(0);
        plain = 2;
        plain.notify_all();
    });

    plain.wait(0);
    CHECK(plain == 1);
    wide = 1;
    wide.notify_all();
    plain.wait(1);
    CHECK(plain == 2);
}

static void counters()
{
    std::counting_semaphore<4> tokens{0};
    std::latch started{2};
    std::barrier meeting{2};
    std::jthread other([&] {
        started.arrive_and_wait();
        std::this_thread::sleep_for(20ms);
        tokens.release(2);
        meeting.arrive_and_wait();
    });
    int64_t start_ns = now_ns();

    started.arrive_and_wait();
    CHECK(!tokens.try_acquire_for(10ms));
    tokens.acquire();
    tokens.acquire();
    CHECK_ELAPSED(start_ns, 20);
    meeting.arrive_and_wait();
}

static void locks()
{
    std::timed_mutex lock;
    std::shared_timed_mutex shared;
    std::mutex plain;
    std::condition_variable_any changed;
    std::unique_lock held{lock};
    std::shared_lock reader{shared};
    int64_t start_ns = now_ns();
    std::jthread other([&](std::stop_token stop) {
        std::unique_lock own{plain};

        CHECK(!lock.try_lock_for(20ms));
        CHECK(!shared.try_lock_until(std::chrono::system_clock::now() + 20ms));
        CHECK(!changed.wait(own, stop, [] { return false; }));
    });

    std::this_thread::sleep_for(60ms);
    other.request_stop();
    other.join();
    CHECK_ELAPSED(start_ns, 60);
}

static void futures()
{
    std::promise<int> promise;
    std::future<int> later = promise.get_future();
    auto answer = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(30ms);
        promise.set_value(7);
        return 8;
    });

    CHECK(later.wait_for(10ms) == std::future_status::timeout);
    CHECK(later.get() == 7 && answer.get() == 8);
}

int main()
{
    atomics();
    counters();
    locks();
    futures();
    return succeed();
}

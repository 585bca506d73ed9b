// A timed lock gives up at its deadline, on either clock, while another thread holds the mutex.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *holder(void *unused)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    sleep_ms(90);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    struct timespec deadline;
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, holder, NULL) == 0);
    sleep_ms(10);
    deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 20 * MS);
    CHECK(pthread_mutex_timedlock(&lock, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 30);
    deadline = timespec_from(now_ns() + 20 * MS);
    CHECK(pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 50);
    deadline = timespec_from(now_ns() + 5000 * MS);
    CHECK(pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &deadline) == 0);
    CHECK_ELAPSED(start_ns, 90);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

// Timed waits on a condition end at their deadline on the wall clock and on the monotonic one, or when signalled.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wall = PTHREAD_COND_INITIALIZER;
static pthread_cond_t steady;

static void *signaller(void *unused)
{
    sleep_ms(60);
    CHECK(pthread_mutex_lock(&lock) == 0);
    CHECK(pthread_cond_signal(&wall) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_condattr_t attributes;
    struct timespec deadline;
    pthread_t thread;

    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&steady, &attributes) == 0);
    CHECK(pthread_create(&thread, NULL, signaller, NULL) == 0);
    CHECK(pthread_mutex_lock(&lock) == 0);
    deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 20 * MS);
    CHECK(pthread_cond_timedwait(&wall, &lock, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(clock_ns(CLOCK_REALTIME) >= deadline.tv_sec * INT64_C(1000000000) + deadline.tv_nsec);
    deadline = timespec_from(now_ns() + 20 * MS);
    CHECK(pthread_cond_timedwait(&steady, &lock, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 40);
    deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 9000 * MS);
    CHECK(pthread_cond_timedwait(&wall, &lock, &deadline) == 0);
    CHECK_ELAPSED(start_ns, 60);
    CHECK(pthread_mutex_unlock(&lock) == 0 && pthread_join(thread, NULL) == 0);
    return succeed();
}

// A priority-inheriting mutex (FUTEX_LOCK_PI) under contention.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock;

static void *worker(void *unused)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    sleep_ms(10);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_mutexattr_t attributes;
    pthread_t threads[3];

    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&lock, &attributes) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

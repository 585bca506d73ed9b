// A robust mutex whose owning thread ends goes to a waiter in the same process, with EOWNERDEAD; so does one that nobody waited for.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t waited_for, left;

static void *owner(void *unused)
{
    CHECK(pthread_mutex_lock(&left) == 0 && pthread_mutex_lock(&waited_for) == 0);
    sleep_ms(40);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_mutexattr_t attributes;
    pthread_t thread;

    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&waited_for, &attributes) == 0 && pthread_mutex_init(&left, &attributes) == 0);
    CHECK(pthread_create(&thread, NULL, owner, NULL) == 0);
    sleep_ms(20);
    CHECK(pthread_mutex_lock(&waited_for) == EOWNERDEAD);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(pthread_mutex_lock(&left) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&left) == 0 && pthread_mutex_lock(&left) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_consistent(&waited_for) == 0 && pthread_mutex_unlock(&waited_for) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

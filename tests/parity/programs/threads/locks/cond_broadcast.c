// A broadcast wakes all waiters.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static int go, ready;

static void *runner(void *unused)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    ready++;
    while (!go)
        CHECK(pthread_cond_wait(&started, &lock) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, runner, NULL) == 0);
    sleep_ms(30);
    CHECK(pthread_mutex_lock(&lock) == 0);
    CHECK(ready == 8);
    go = 1;
    CHECK(pthread_cond_broadcast(&started) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

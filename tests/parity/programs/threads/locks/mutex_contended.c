// A mutex held through a sleep keeps the others out; they get it one after the other.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void *worker(void *unused)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    CHECK(inside++ == 0);
    sleep_ms(10);
    CHECK(--inside == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t threads[5];

    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(pthread_mutex_trylock(&lock) == 0);
    CHECK(pthread_mutex_trylock(&lock) == EBUSY);
    return succeed();
}

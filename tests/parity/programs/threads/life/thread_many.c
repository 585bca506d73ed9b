// Fifty threads, one after the other and all at once, created and joined.
#include "check.h"

#include <pthread.h>

enum { THREADS = 50 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *worker(void *unused)
{
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_mutex_lock(&lock) == 0);
        count++;
        CHECK(pthread_mutex_unlock(&lock) == 0);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[0], NULL, worker, NULL) == 0);
        CHECK(pthread_join(threads[0], NULL) == 0);
    }
    CHECK(count == THREADS * 20);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(count == 2 * THREADS * 20);
    return succeed();
}

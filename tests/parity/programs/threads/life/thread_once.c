// pthread_once runs its function once, and the others wait until it has finished.
#include "check.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int finished;

static void initialise(void)
{
    sleep_ms(30);
    finished++;
}

static void *worker(void *unused)
{
    CHECK(pthread_once(&once, initialise) == 0);
    CHECK(finished == 1);
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
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

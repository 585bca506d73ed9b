// Joining a thread waits for its end and gives its value; a second join, or one of oneself, is an error.
// musl: no (musl waits for ever where a thread joins itself)
#include "check.h"

#include <pthread.h>

static void *worker(void *argument)
{
    sleep_ms(30);
    return (char *)argument + 1;
}

int main(void)
{
    int64_t start_ns = now_ns();
    char base[2];
    void *result;
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, worker, base) == 0);
    CHECK(pthread_tryjoin_np(thread, &result) == EBUSY);
    CHECK(pthread_join(thread, &result) == 0 && result == base + 1);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
    return succeed();
}

// A timed join gives up at its deadline, and succeeds later.
#include "check.h"

#include <pthread.h>

static void *worker(void *unused)
{
    sleep_ms(60);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    struct timespec deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 30 * MS);
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(pthread_timedjoin_np(thread, NULL, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 60);
    return succeed();
}

// Threads that end one after the other leave alone those that wait in reads, locks and sleeps.
#include "check.h"

#include <pthread.h>

static int ends[2];

static void *short_lived(void *argument)
{
    sleep_ms(*(int *)argument);
    pthread_exit(NULL);
}

static void *reader(void *unused)
{
    char byte;

    CHECK(read(ends[0], &byte, 1) == 1);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    int lengths[3] = {5, 10, 15};
    pthread_t threads[3], waiting;

    CHECK(pipe(ends) == 0);
    CHECK(pthread_create(&waiting, NULL, reader, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, short_lived, &lengths[i]) == 0);
    for (int i = 2; i >= 0; i--)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 15);
    CHECK(pthread_tryjoin_np(waiting, NULL) == EBUSY);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_join(waiting, NULL) == 0);
    return succeed();
}

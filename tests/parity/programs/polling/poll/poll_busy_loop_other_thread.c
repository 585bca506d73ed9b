// A program that polls without waiting lets a sleeping thread of its own come to its turn.
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

static int ends[2];

static void *writer(void *unused)
{
    sleep_ms(2);
    CHECK(write(ends[1], "x", 1) == 1);
    return unused;
}

int main(void)
{
    struct pollfd reader;
    pthread_t thread;
    int64_t start_ns = now_ns();

    CHECK(pipe(ends) == 0);
    reader = (struct pollfd){.fd = ends[0], .events = POLLIN};
    CHECK(pthread_create(&thread, NULL, writer, NULL) == 0);
    while (poll(&reader, 1, 0) == 0)
        CHECK(sched_yield() == 0);
    CHECK_ELAPSED(start_ns, 2);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

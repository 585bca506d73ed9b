// poll with a longer timeout returns when another thread writes, not before and not at the timeout.
#include "check.h"

#include <poll.h>
#include <pthread.h>

static int ends[2];

static void *writer(void *unused)
{
    sleep_ms(50);
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
    CHECK(poll(&reader, 1, 20000) == 1 && reader.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

// A thread that polls a descriptor which is ready, in a loop, lets the other thread come that is to empty it.
// native: slow
#include "check.h"

#include <poll.h>
#include <pthread.h>

static int ends[2];

static void *reader(void *unused)
{
    char data[2];

    CHECK(read(ends[0], data, 1) == 1);
    sleep_ms(1);
    CHECK(read(ends[0], data + 1, 1) == 1);
    return unused;
}

int main(void)
{
    struct pollfd polled;
    pthread_t thread;

    CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, reader, NULL) == 0);
    sleep_ms(5);
    CHECK(write(ends[1], "xy", 2) == 2);
    polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    while (poll(&polled, 1, 1000) == 1 && pthread_tryjoin_np(thread, NULL) == EBUSY)
        continue;
    polled.events = 0;
    CHECK(poll(&polled, 1, 0) == 0);
    return succeed();
}

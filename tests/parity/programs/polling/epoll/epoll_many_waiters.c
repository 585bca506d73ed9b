// Several threads wait on one epoll for one-shot events; each event goes to one of them.
#include "check.h"

#include <pthread.h>
#include <sys/epoll.h>

static int epoll;

static void *waiter(void *unused)
{
    struct epoll_event event;
    char byte;

    CHECK(epoll_wait(epoll, &event, 1, 5000) == 1);
    CHECK(read(event.data.fd, &byte, 1) == 1);
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    int writers[4];

    epoll = epoll_create1(0);
    for (int i = 0; i < 4; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT};
        int ends[2];

        CHECK(pipe(ends) == 0);
        event.data.fd = ends[0];
        writers[i] = ends[1];
        CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
        CHECK(pthread_create(&threads[i], NULL, waiter, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        sleep_ms(5);
        CHECK(write(writers[i], "x", 1) == 1);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return succeed();
}

/* The loop of a rank or a storage: descriptors in an epoll, and the functions to call when one of them is ready. */
#include "job.h"

#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_MAX 64

static int epoll = -1;

/* Call epoll_ctl(2): wait for a source from now on, for other events, or not any more. */
void exchange_control(struct source *source, uint32_t events, int operation)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    if (epoll < 0 && (epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
        fail("epoll_create1: %m");
    if (epoll_ctl(epoll, operation, source->fd, &event) != 0)
        fail("epoll_ctl: %m");
}

void exchange_watch(struct source *source)
{
    exchange_control(source, EPOLLIN, EPOLL_CTL_ADD);
}

/* Remove a source from the epoll. Closing the descriptor alone would leave it there while a child has a copy. */
void exchange_forget(struct source *source)
{
    epoll_ctl(epoll, EPOLL_CTL_DEL, source->fd, NULL);
    close(source->fd);
}

void exchange_turn(void)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(epoll, events, EVENTS_MAX, -1);

    for (int i = 0; i < count; i++) {
        struct source *source = events[i].data.ptr;

        source->ready(source);
    }
}

// shutdown of a listening socket wakes a thread that waits in accept, with EINVAL.
#include "inet.h"

#include <pthread.h>

static int listener;

static void *accepter(void *unused)
{
    CHECK_ERRNO(accept(listener, NULL, NULL), EINVAL);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;

    listener = listening_socket(5);
    CHECK(pthread_create(&thread, NULL, accepter, NULL) == 0);
    sleep_ms(30);
    CHECK(shutdown(listener, SHUT_RDWR) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

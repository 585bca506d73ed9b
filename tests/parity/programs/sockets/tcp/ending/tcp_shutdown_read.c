// shutdown for reading wakes a thread that waits in read, with an end of file.
#include "inet.h"

#include <pthread.h>

static int ends[2];

static void *reader(void *unused)
{
    char byte;

    CHECK(read(ends[0], &byte, 1) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;

    tcp_pair(ends);
    CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
    sleep_ms(30);
    CHECK(shutdown(ends[0], SHUT_RD) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

// One thread sends and then asks again and again without waiting; the other only gets to answer if the asking lets it.
#include "inet.h"

#include <pthread.h>

static void *answer(void *end)
{
    int fd = *(int *)end;
    char byte;

    for (int round = 0; round < 3; round++) {
        CHECK(read(fd, &byte, 1) == 1);
        CHECK(write(fd, "a", 1) == 1);
    }
    return NULL;
}

/* The other thread waits in its read before the first byte is sent. */
static void converse(int ends[2])
{
    pthread_t thread;
    char byte;

    CHECK(pthread_create(&thread, NULL, answer, &ends[1]) == 0);
    sleep_ms(1);
    for (int round = 0; round < 3; round++) {
        CHECK(write(ends[0], "q", 1) == 1);
        while (recv(ends[0], &byte, 1, MSG_DONTWAIT) != 1)
            CHECK(errno == EAGAIN);
    }
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    converse(ends);
    tcp_pair(ends);
    converse(ends);
    return succeed();
}

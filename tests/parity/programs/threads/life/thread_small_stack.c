// Threads on the smallest stack that is allowed sleep, poll, select and talk UDP.
#include "inet.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>

static void *worker(void *unused)
{
    struct timeval limit = {.tv_usec = 5000};
    int fd = bound_socket(SOCK_DGRAM);
    struct sockaddr_in self = loopback(port_of(fd));
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    fd_set set;
    char byte;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    sleep_ms(5);
    CHECK(select(fd + 1, &set, NULL, NULL, &limit) == 0);
    CHECK(poll(&polled, 1, 5) == 0);
    CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&self, sizeof self) == 1);
    CHECK(poll(&polled, 1, 1000) == 1 && recv(fd, &byte, 1, 0) == 1);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_attr_t attributes;
    pthread_t threads[3];

    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], &attributes, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 15);
    return succeed();
}

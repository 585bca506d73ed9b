// With a limit of 20 descriptors a program still makes threads, children, timers, sockets and pipes.
#include "inet.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

static void *sleeper(void *unused)
{
    sleep_ms(10);
    return unused;
}

int main(void)
{
    struct rlimit low = {20, 20};
    struct itimerspec once = {.it_value = {.tv_nsec = 10 * MS}};
    int64_t start_ns;
    pthread_t threads[12];
    int ends[2];
    uint64_t count;
    int fd;

    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0 && sysconf(_SC_OPEN_MAX) == 20);
    start_ns = now_ns();
    for (int i = 0; i < 12; i++)
        CHECK(pthread_create(&threads[i], NULL, sleeper, NULL) == 0);
    for (int i = 0; i < 12; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 10);
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count);
    CHECK_ELAPSED(start_ns, 20);
    tcp_pair(ends);
    write_all(ends[0], "x", 1);
    CHECK(system("sleep 0.01") == 0);
    CHECK_ELAPSED(start_ns, 30);
    while ((fd = dup(0)) >= 0)
        CHECK(fd < 20);
    CHECK(errno == EMFILE);
    return succeed();
}

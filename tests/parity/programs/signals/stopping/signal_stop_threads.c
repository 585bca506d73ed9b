// SIGSTOP stops every thread of a process, SIGCONT lets all go on.
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

static int ends[2];

static void *ticker(void *unused)
{
    for (;;) {
        sleep_ms(5);
        CHECK(write(ends[1], "x", 1) == 1);
    }
    return unused;
}

// Waits until every thread has written twice on average: a loaded computer may take longer than the sleeps of the threads.
static void wait_for_ticks(void)
{
    char data[8];

    for (size_t got = 0; got < sizeof data;) {
        ssize_t n = read(ends[0], data, sizeof data - got);

        CHECK(n > 0);
        got += n;
    }
}

// What was written before the stop may still be in the pipe.
static void drain(void)
{
    char data[1000];

    CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    while (read(ends[0], data, sizeof data) > 0)
        ;
    CHECK(errno == EAGAIN);
    CHECK(fcntl(ends[0], F_SETFL, 0) == 0);
}

int main(void)
{
    struct pollfd polled;
    int status;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pthread_t thread;

        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&thread, NULL, ticker, NULL) == 0);
        ticker(NULL);
    }
    polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    wait_for_ticks();
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    drain();
    CHECK(poll(&polled, 1, 50) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(poll(&polled, 1, 1000) == 1);
    wait_for_ticks();
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    return succeed();
}

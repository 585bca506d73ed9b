// SIGSTOP stops every thread of a process, SIGCONT lets all go on.
#include "check.h"

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

int main(void)
{
    struct pollfd polled;
    char data[1000];
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
    sleep_ms(20);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    CHECK(read(ends[0], data, sizeof data) >= 8);
    CHECK(poll(&polled, 1, 50) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(poll(&polled, 1, 1000) == 1);
    sleep_ms(20);
    CHECK(read(ends[0], data, sizeof data) >= 8);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    return succeed();
}

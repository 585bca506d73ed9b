// With O_ASYNC the kernel sends SIGIO when data arrives on a connection.
#include "inet.h"

static volatile sig_atomic_t count;

static void handler(int number)
{
    CHECK(number == SIGIO);
    count++;
}

int main(void)
{
    int64_t start_ns;
    int ends[2];
    pid_t child;

    CHECK(signal(SIGIO, handler) != SIG_ERR);
    tcp_pair(ends);
    start_ns = now_ns();
    CHECK(fcntl(ends[0], F_SETOWN, getpid()) == 0 && fcntl(ends[0], F_SETFL, O_ASYNC) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(write(ends[1], "x", 1) == 1);
        sleep_ms(1000);
        _exit(0);
    }
    CHECK_ERRNO(pause(), EINTR);
    CHECK(count == 1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    return succeed();
}

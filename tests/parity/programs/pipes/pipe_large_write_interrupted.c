// A large write to a pipe is cut short by a signal; the reader gets every byte, and the last one wakes it, too.
#include "check.h"

#include <sys/time.h>

#define SIZE (4 * 1024 * 1024 + 1)

static char data[SIZE];

static void handler(int number)
{
    (void)number;
}

static void receive(int fd)
{
    static char got[2 * SIZE];
    size_t total = 0;

    sleep_ms(120);
    while (total < SIZE) {
        ssize_t size = read(fd, got, sizeof got);

        CHECK(size > 0);
        total += (size_t)size;
    }
    CHECK(total == SIZE);
    _exit(0);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerval once = {{0, 0}, {0, 100000}};
    size_t written = 0;
    int interruptions = 0;
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        receive(ends[0]);
    CHECK(close(ends[0]) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &once, NULL) == 0);
    while (written < SIZE) {
        ssize_t size = write(ends[1], data + written, SIZE - written);

        interruptions += size != (ssize_t)(SIZE - written);
        written += size > 0 ? (size_t)size : 0;
    }
    CHECK(interruptions > 0);
    CHECK_CHILD(child);
    return succeed();
}

// With SA_RESTART a read goes on after the handler; without, it fails with EINTR.
#include "check.h"

static volatile sig_atomic_t count;

static void handler(int number)
{
    CHECK(number == SIGUSR1);
    count++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    int64_t start_ns = now_ns();
    int ends[2];
    char byte;
    pid_t child;

    CHECK(pipe(ends) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(20);
        CHECK(write(ends[1], "x", 1) == 1);
        sleep_ms(20);
        _exit(kill(getppid(), SIGUSR1));
    }
    CHECK(read(ends[0], &byte, 1) == 1 && count == 1);
    CHECK_ELAPSED(start_ns, 40);
    action.sa_flags = 0;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK_ERRNO(read(ends[0], &byte, 1), EINTR);
    CHECK(count == 2);
    CHECK_ELAPSED(start_ns, 60);
    CHECK_CHILD(child);
    return succeed();
}

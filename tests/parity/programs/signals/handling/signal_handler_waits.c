// A handler may sleep, read and fork; what it interrupted goes on afterwards.
#include "check.h"

static int ends[2];
static volatile sig_atomic_t done;

static void handler(int number)
{
    int64_t start_ns = now_ns();
    char byte;
    pid_t child = fork();

    CHECK(number == SIGUSR1 && child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(write(ends[1], "x", 1) == 1);
        _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    sleep_ms(10);
    done = 1;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    int64_t start_ns = now_ns();
    pid_t child;

    CHECK(pipe(ends) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(10);
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(60);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(done == 1);
    CHECK_ELAPSED(start_ns, 70);
    return succeed();
}

// With SA_RESTART waitpid and a lock go on after the handler; poll never does.
#include "check.h"

#include <poll.h>

static volatile sig_atomic_t count;

static void handler(int number)
{
    CHECK(number == SIGUSR1);
    count++;
}

static pid_t signal_after(int ms, int then_ms)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(ms);
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(then_ms);
        _exit(0);
    }
    return child;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    int64_t start_ns = now_ns();
    pid_t child;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    child = signal_after(20, 20);
    CHECK_CHILD(child);
    CHECK(count == 1);
    CHECK_ELAPSED(start_ns, 40);
    child = signal_after(20, 0);
    CHECK_ERRNO(poll(NULL, 0, 5000), EINTR);
    CHECK(count == 2);
    CHECK_ELAPSED(start_ns, 60);
    CHECK_CHILD(child);
    return succeed();
}

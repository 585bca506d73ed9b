// A signal ends nanosleep with EINTR and what is left; clock_nanosleep likewise, but not for an absolute deadline.
#include "check.h"

static void handler(int number)
{
    CHECK(number == SIGUSR1);
}

static pid_t signal_after_ms(int ms)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(ms);
        _exit(kill(getppid(), SIGUSR1));
    }
    return child;
}

int main(void)
{
    struct timespec wanted = {.tv_sec = 10};
    struct timespec left = {0};
    struct timespec deadline = timespec_from(now_ns() + 9000 * MS);
    int64_t start_ns = now_ns();
    pid_t child = signal_after_ms(30);

    CHECK(signal(SIGUSR1, handler) != SIG_ERR);
    CHECK_ERRNO(nanosleep(&wanted, &left), EINTR);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(left.tv_sec == 9 && left.tv_nsec <= 970 * MS && left.tv_nsec >= 970 * MS - tolerance_ns());
    CHECK_CHILD(child);
    child = signal_after_ms(20);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, &left) == EINTR && left.tv_sec == 9);
    CHECK_CHILD(child);
    child = signal_after_ms(20);
    left.tv_sec = 1234;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, &left) == EINTR && left.tv_sec == 1234);
    CHECK_ELAPSED(start_ns, 70);
    CHECK_CHILD(child);
    return succeed();
}

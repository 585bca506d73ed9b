// sigwait and sigwaitinfo take a blocked signal that a child sends later.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    siginfo_t info;
    sigset_t set;
    int number;
    pid_t child;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(kill(getppid(), SIGUSR2) == 0);
        sleep_ms(20);
        CHECK(sigqueue(getppid(), SIGUSR1, (union sigval){.sival_int = 5}) == 0);
        _exit(0);
    }
    CHECK(sigwait(&set, &number) == 0 && number == SIGUSR2);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(sigwaitinfo(&set, &info) == SIGUSR1);
    CHECK(info.si_pid == child && info.si_value.sival_int == 5 && info.si_code == SI_QUEUE);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}

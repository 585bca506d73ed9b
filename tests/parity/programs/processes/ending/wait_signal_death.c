// Deaths by signal, sent by others or caused by the program itself, are told with the signal's number.
#include "check.h"

#include <sys/resource.h>

static int status_of(void (*die)(void))
{
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        die();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    return WTERMSIG(status);
}

static void by_kill(void) { kill(getpid(), SIGKILL); }
static void by_term(void) { raise(SIGTERM); }
static void by_segv(void) { *(volatile int *)8 = 1; }
static void by_alarm(void)
{
    struct timespec soon = {.tv_nsec = 10 * MS};
    timer_t timer;

    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    CHECK(timer_settime(timer, 0, &(struct itimerspec){.it_value = soon}, NULL) == 0);
    pause();
}

int main(void)
{
    struct rlimit none = {0, 0};

    CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
    CHECK(status_of(by_kill) == SIGKILL);
    CHECK(status_of(by_term) == SIGTERM);
    CHECK(status_of(abort) == SIGABRT);
    CHECK(status_of(by_segv) == SIGSEGV);
    CHECK(status_of(by_alarm) == SIGALRM);
    return succeed();
}

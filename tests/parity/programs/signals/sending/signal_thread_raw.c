// tkill and rt_tgsigqueueinfo end the wait of the one thread that they name, and the latter's value arrives.
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>

static volatile int value = -1;
static pid_t sleeper_id;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK(number == SIGUSR1 && gettid() == sleeper_id);
    value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
}

static void *sleeper(void *unused)
{
    struct timespec day = {.tv_sec = 86400};

    sleeper_id = gettid();
    CHECK_ERRNO(nanosleep(&day, NULL), EINTR);
    CHECK(value == 0);
    CHECK_ERRNO(nanosleep(&day, NULL), EINTR);
    CHECK(value == 42);
    return unused;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    siginfo_t info = {.si_code = SI_QUEUE};
    pthread_t thread;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0);
    sleep_ms(20);
    CHECK(syscall(SYS_tkill, sleeper_id, SIGUSR1) == 0);
    sleep_ms(20);
    info.si_value.sival_int = 42;
    CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), sleeper_id, SIGUSR1, &info) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ERRNO(syscall(SYS_tkill, -1, SIGUSR1), EINVAL);
    return succeed();
}

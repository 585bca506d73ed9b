// SIGEV_THREAD_ID sends a timer's signal to that one thread, whichever creates the timer; a thread that does not exist is EINVAL.
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>

static volatile int hearer;
static pid_t main_tid;

static void hear(int signal, siginfo_t *info, void *context)
{
    (void)context;
    CHECK(signal == SIGRTMIN && info->si_code == SI_TIMER && info->si_value.sival_int == 42);
    hearer = (int)syscall(SYS_gettid);
}

static timer_t timer_to(pid_t tid)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN, .sigev_value = {.sival_int = 42}};
    struct itimerspec once = {.it_value = timespec_from(20 * MS)};
    timer_t timer;

    event._sigev_un._tid = tid;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
    return timer;
}

static void *sets_for_main(void *unused)
{
    timer_to(main_tid);
    sleep_ms(50);
    return unused;
}

static void *hears(void *tid)
{
    *(pid_t *)tid = (pid_t)syscall(SYS_gettid);
    sleep_ms(50);
    CHECK(hearer == *(pid_t *)tid);
    return tid;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
    pid_t tid = 0;
    pthread_t thread;
    timer_t timer;

    main_tid = (pid_t)syscall(SYS_gettid);
    CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, hears, &tid) == 0);
    sleep_ms(5);
    timer_to(tid);
    CHECK(pthread_join(thread, NULL) == 0);
    hearer = 0;
    CHECK(pthread_create(&thread, NULL, sets_for_main, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(hearer == main_tid);
    event._sigev_un._tid = 999999;
    CHECK_ERRNO(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
    event._sigev_un._tid = main_tid;
    event.sigev_signo = 99;
    CHECK_ERRNO(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
    return succeed();
}

// POSIX timers in detail: threads to notify, bad values, overruns, times that are left, timers whose signal kills, a timer that a
// new setting or deletion meets with its signal pending, moments that are past.
// native: slow
// warns: a timer of CPU time is set
// musl: no (musl does not tell that a timer is gone)
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile sig_atomic_t taken, value, code, by_thread, overrun;

static void handler(int number, siginfo_t *info, void *unused)
{
    (void)number;
    (void)unused;
    taken++;
    value = info->si_value.sival_int;
    code = info->si_code;
    overrun = info->si_overrun;
    by_thread = (int)syscall(SYS_gettid);
}

static timer_t create(int notify, int number, int thread)
{
    struct sigevent event = {.sigev_notify = notify, .sigev_signo = number, .sigev_value.sival_int = 77};
    timer_t timer;

    event.sigev_notify_thread_id = thread;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    return timer;
}

static void set_ms(timer_t timer, int first, int interval)
{
    struct itimerspec times = {.it_value = timespec_from(first * MS), .it_interval = timespec_from(interval * MS)};

    CHECK(timer_settime(timer, 0, &times, NULL) == 0);
}

static volatile sig_atomic_t thread_id;

static void *run(void *unused)
{
    thread_id = (int)syscall(SYS_gettid);
    sleep_ms(300);
    return unused;
}

static void check_bad_values(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec times = {{0, 0}, {0, 1000000000}};
    timer_t timer;
    int id;

    CHECK_ERRNO(syscall(SYS_timer_create, 99, NULL, &id), EINVAL);
    event.sigev_signo = 65;
    CHECK_ERRNO(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &id), EINVAL);
    event.sigev_signo = 0;
    CHECK_ERRNO(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &id), EINVAL);
    event = (struct sigevent){.sigev_notify = 77, .sigev_signo = SIGUSR1};
    CHECK_ERRNO(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &id), EINVAL);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event.sigev_notify_thread_id = 1; /* not one of ours */
    CHECK_ERRNO(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &id), EINVAL);
    event.sigev_notify_thread_id = 0;
    CHECK_ERRNO(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &id), EINVAL);
    event.sigev_notify = SIGEV_THREAD_ID | SIGEV_NONE;
    event.sigev_notify_thread_id = getpid();
    CHECK_ERRNO(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &id), EINVAL);

    timer = create(SIGEV_SIGNAL, SIGUSR1, 0);
    CHECK_ERRNO(timer_settime(timer, 0, &times, NULL), EINVAL);
    times.it_value.tv_nsec = -1;
    CHECK_ERRNO(timer_settime(timer, 0, &times, NULL), EINVAL);
    times = (struct itimerspec){{0, 2000000000}, {1, 0}};
    CHECK_ERRNO(timer_settime(timer, 0, &times, NULL), EINVAL);
    CHECK_ERRNO(syscall(SYS_timer_settime, (int)(intptr_t)timer, 0, NULL, NULL), EINVAL);
    CHECK(timer_delete(timer) == 0);
    CHECK_ERRNO(timer_delete(timer), EINVAL);
    CHECK_ERRNO(timer_getoverrun(timer), EINVAL);
    CHECK_ERRNO(timer_gettime(timer, &times), EINVAL);
}

static void check_threads(void)
{
    pthread_t thread;
    timer_t timer;

    CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
    sleep_ms(20);
    timer = create(SIGEV_THREAD_ID, SIGRTMIN, thread_id);
    set_ms(timer, 20, 0);
    sleep_ms(50);
    CHECK(taken == 1 && by_thread == thread_id && value == 77 && code == SI_TIMER);
    set_ms(timer, 400, 0);
    CHECK(pthread_join(thread, NULL) == 0);
    sleep_ms(300);
    CHECK(taken == 1); /* its thread is gone */
    CHECK(timer_delete(timer) == 0);
}

static void check_overruns(void)
{
    timer_t timer = create(SIGEV_SIGNAL, SIGRTMIN, 0);
    struct itimerspec left, times;
    sigset_t set;
    siginfo_t info;

    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGRTMIN) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    set_ms(timer, 100, 100);
    sleep_ms(450);
    CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_code == SI_TIMER);
    CHECK(info.si_overrun == 3 && timer_getoverrun(timer) == 3);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_interval.tv_nsec == 100 * MS);
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 60 * MS);
    sleep_ms(100);
    set_ms(timer, 0, 0); /* takes the pending signal's overruns back, and the timer is off */
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    sigtimedwait(&set, &info, &(struct timespec){0, 0});
    CHECK(clock_gettime(CLOCK_MONOTONIC, &times.it_value) == 0);
    times.it_value.tv_sec -= 1; /* ten periods ago */
    times.it_interval = timespec_from(100 * MS);
    CHECK(timer_settime(timer, TIMER_ABSTIME, &times, NULL) == 0);
    sleep_ms(50);
    CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_overrun >= 9 && info.si_overrun <= 11);
    CHECK(timer_delete(timer) == 0);
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void check_killing(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        set_ms(create(SIGEV_SIGNAL, SIGTERM, 0), 50, 0);
        pause();
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    child = fork();
    if (child == 0) {
        struct itimerval times = {{0, 0}, {0, 50000}};

        CHECK(signal(SIGALRM, SIG_DFL) != SIG_ERR && setitimer(ITIMER_REAL, &times, NULL) == 0);
        sleep_ms(500);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

static void check_none(void)
{
    timer_t timer = create(SIGEV_NONE, 0, 0);
    struct itimerspec left;

    set_ms(timer, 100, 0);
    sleep_ms(20);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 80 * MS);
    sleep_ms(100);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec == 0 && left.it_value.tv_sec == 0);
    set_ms(timer, 30, 100);
    sleep_ms(100);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 30 * MS);
    CHECK(timer_delete(timer) == 0);
}

static void check_interval_timers(void)
{
    struct itimerval times = {{0, 300000}, {2, 500000}};
    struct itimerval left;

    CHECK(setitimer(ITIMER_REAL, &times, NULL) == 0);
    CHECK(getitimer(ITIMER_REAL, &left) == 0);
    CHECK(left.it_interval.tv_sec == 0 && left.it_interval.tv_usec == 300000 && left.it_value.tv_sec == 2);
    CHECK(left.it_value.tv_usec <= 500000 && left.it_value.tv_usec > 400000);
    times = (struct itimerval){{0, 0}, {0, 1000000}};
    CHECK_ERRNO(setitimer(ITIMER_REAL, &times, NULL), EINVAL);
    times.it_value.tv_usec = -1;
    CHECK_ERRNO(setitimer(ITIMER_REAL, &times, NULL), EINVAL);
    CHECK_ERRNO(setitimer(3, &left, NULL), EINVAL);
    CHECK_ERRNO(getitimer(3, &left), EINVAL);
    times = (struct itimerval){{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &times, &left) == 0 && left.it_value.tv_sec == 2);
    for (int which = ITIMER_VIRTUAL; which <= ITIMER_PROF; which++) {
        times = (struct itimerval){{1, 1}, {100, 0}};
        CHECK(setitimer(which, &times, NULL) == 0 && getitimer(which, &left) == 0);
        CHECK(left.it_interval.tv_sec == 1 && left.it_value.tv_sec >= 99 && left.it_value.tv_sec <= 100);
        times = (struct itimerval){{0, 0}, {0, 0}};
        CHECK(setitimer(which, &times, NULL) == 0);
    }
}

static void check_many(void)
{
    timer_t timers[200];

    for (int i = 0; i < 200; i++) {
        timers[i] = create(SIGEV_SIGNAL, SIGUSR1, 0);
        set_ms(timers[i], 10000, 0);
    }
    for (int i = 0; i < 200; i++)
        CHECK(timer_delete(timers[i]) == 0);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    CHECK(sigaction(SIGRTMIN, &action, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    check_bad_values();
    check_threads();
    check_overruns();
    check_killing();
    check_none();
    check_interval_timers();
    check_many();
    return succeed();
}

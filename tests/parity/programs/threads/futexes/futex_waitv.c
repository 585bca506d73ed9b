// futex_waitv waits at several words: which one was woken, a changed word, timeouts on both clocks, a signal, wrong arguments.
// native: slow
#include "check.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

static uint32_t words[3];
static struct futex_waitv waiters[3];

static long waitv(unsigned count, const struct timespec *deadline, clockid_t clock)
{
    return syscall(SYS_futex_waitv, waiters, count, 0, deadline, clock);
}

static void *wake_second(void *unused)
{
    sleep_ms(20);
    CHECK(syscall(SYS_futex, &words[1], FUTEX_WAKE_PRIVATE, 1) == 1);
    sleep_ms(20);
    CHECK(syscall(SYS_futex, &words[0], FUTEX_WAKE_PRIVATE, 1) == 0);
    return unused;
}

static void *requeue_third(void *unused)
{
    sleep_ms(20);
    CHECK(syscall(SYS_futex, &words[2], FUTEX_REQUEUE_PRIVATE, 0, 1, &words[1], 0) == 1);
    CHECK(syscall(SYS_futex, &words[2], FUTEX_WAKE_PRIVATE, 1) == 0);
    sleep_ms(20);
    CHECK(syscall(SYS_futex, &words[0], FUTEX_WAKE_PRIVATE, 1) == 1);
    return unused;
}

static void no_action(int number)
{
    (void)number;
}

static void check_arguments(void)
{
    CHECK_ERRNO(waitv(0, NULL, CLOCK_MONOTONIC), EINVAL);
    CHECK_ERRNO(waitv(129, NULL, CLOCK_MONOTONIC), EINVAL);
    CHECK_ERRNO(waitv(3, &(struct timespec){0}, CLOCK_BOOTTIME), EINVAL);
    waiters[2].__reserved = 1;
    CHECK_ERRNO(waitv(3, NULL, CLOCK_MONOTONIC), EINVAL);
    waiters[2].__reserved = 0;
    waiters[1].val = 1;
    CHECK_ERRNO(waitv(3, NULL, CLOCK_MONOTONIC), EAGAIN);
    waiters[1].val = 0;
}

int main(void)
{
    struct sigaction action = {.sa_handler = no_action};
    struct timespec deadline;
    int64_t start_ns;
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        waiters[i] = (struct futex_waitv){.uaddr = (uintptr_t)&words[i], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG};
    check_arguments();
    start_ns = now_ns();
    deadline = timespec_from(start_ns + 30 * MS);
    CHECK_ERRNO(waitv(3, &deadline, CLOCK_MONOTONIC), ETIMEDOUT);
    deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 30 * MS);
    CHECK_ERRNO(waitv(3, &deadline, CLOCK_REALTIME), ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 60);
    CHECK(pthread_create(&thread, NULL, wake_second, NULL) == 0);
    CHECK(waitv(3, NULL, CLOCK_MONOTONIC) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, requeue_third, NULL) == 0);
    CHECK(waitv(3, NULL, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    alarm(1);
    CHECK_ERRNO(waitv(3, NULL, CLOCK_MONOTONIC), EINTR);
    return succeed();
}

// FUTEX_WAIT_REQUEUE_PI and FUTEX_CMP_REQUEUE_PI: waiters at a condition move to a lock and wake as its owner, one after the other.
#include "check.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

static uint32_t condition, lock;
static int owners;

static long futex(uint32_t *at, int operation, uint32_t value, void *timeout, uint32_t *second, uint32_t third)
{
    return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, timeout, second, third);
}

static void *waiter(void *unused)
{
    CHECK(futex(&condition, FUTEX_WAIT_REQUEUE_PI, 0, NULL, &lock, 0) == 0);
    CHECK((lock & FUTEX_TID_MASK) == (uint32_t)syscall(SYS_gettid));
    owners++;
    sleep_ms(10);
    CHECK(futex(&lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    struct timespec deadline = timespec_from(start_ns + 20 * MS);
    pthread_t threads[3];

    CHECK_ERRNO(futex(&condition, FUTEX_WAIT_REQUEUE_PI, 0, &deadline, &lock, 0), ETIMEDOUT);
    CHECK_ERRNO(futex(&condition, FUTEX_WAIT_REQUEUE_PI, 1, NULL, &lock, 0), EAGAIN);
    CHECK_ERRNO(futex(&condition, FUTEX_CMP_REQUEUE_PI, 2, (void *)9, &lock, 0), EINVAL);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, waiter, NULL) == 0);
    sleep_ms(20);
    CHECK(futex(&lock, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == 0);
    CHECK_ERRNO(futex(&lock, FUTEX_LOCK_PI, 0, NULL, NULL, 0), EDEADLK);
    condition = 1;
    CHECK_ERRNO(futex(&condition, FUTEX_CMP_REQUEUE_PI, 1, (void *)9, &lock, 0), EAGAIN);
    CHECK(futex(&condition, FUTEX_CMP_REQUEUE_PI, 1, (void *)9, &lock, 1) == 3);
    sleep_ms(20);
    CHECK(owners == 0);
    CHECK(futex(&lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(owners == 3 && lock == 0);
    CHECK_ERRNO(futex(&lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0), EPERM);
    return succeed();
}

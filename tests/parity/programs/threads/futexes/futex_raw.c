// The futex call itself: value changed, timeouts relative and absolute, bitsets, nobody to wake, requeue.
#include "check.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

static uint32_t word, other_word;

static long futex(uint32_t *at, int operation, uint32_t value, void *timeout, uint32_t *second, uint32_t third)
{
    return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, timeout, second, third);
}

static void *waiter(void *unused)
{
    CHECK(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0);
    return unused;
}

int main(void)
{
    struct timespec relative = {.tv_nsec = 20 * MS};
    struct timespec absolute;
    int64_t start_ns = now_ns();
    pthread_t threads[3];

    CHECK_ERRNO(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0), EAGAIN);
    CHECK(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);
    CHECK_ERRNO(futex(&word, FUTEX_WAIT, 0, &relative, NULL, 0), ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 20);
    absolute = timespec_from(now_ns() + 20 * MS);
    CHECK_ERRNO(futex(&word, FUTEX_WAIT_BITSET, 0, &absolute, NULL, 4), ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 40);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, waiter, NULL) == 0);
    sleep_ms(10);
    CHECK(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other_word, 0) == 2);
    CHECK(futex(&word, FUTEX_WAKE, 5, NULL, NULL, 0) == 1);
    CHECK(futex(&other_word, FUTEX_WAKE, 5, NULL, NULL, 0) == 1);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return succeed();
}

// futex_wait, futex_wake and futex_requeue, the calls of their own that Linux 6.7 has.
#include "check.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#define FUTEX_WAKE_CALL 454
#define FUTEX_WAIT_CALL 455
#define FUTEX_REQUEUE_CALL 456
#define FLAGS (2 | FUTEX_PRIVATE_FLAG) /* FUTEX2_SIZE_U32 */

static uint32_t words[2];

static void *waiter(void *mask)
{
    CHECK(syscall(FUTEX_WAIT_CALL, &words[0], 0UL, (unsigned long)mask, FLAGS, NULL, CLOCK_MONOTONIC) == 0);
    return NULL;
}

int main(void)
{
    struct futex_waitv pair[2] = {{.uaddr = (uintptr_t)&words[0], .flags = FLAGS}, {.uaddr = (uintptr_t)&words[1], .flags = FLAGS}};
    int64_t start_ns = now_ns();
    struct timespec deadline = timespec_from(start_ns + 20 * MS);
    pthread_t threads[3];

    if (syscall(FUTEX_WAKE_CALL, &words[0], ~0U, 1, FLAGS) == -1 && errno == ENOSYS && !is_emulated())
        return succeed(); /* an older kernel */
    CHECK_ERRNO(syscall(FUTEX_WAIT_CALL, &words[0], 1, ~0U, FLAGS, NULL, CLOCK_MONOTONIC), EAGAIN);
    CHECK_ERRNO(syscall(FUTEX_WAIT_CALL, &words[0], 0, ~0U, 1, NULL, CLOCK_MONOTONIC), EINVAL);
    CHECK_ERRNO(syscall(FUTEX_WAIT_CALL, &words[0], 0, 0, FLAGS, NULL, CLOCK_MONOTONIC), EINVAL);
    CHECK_ERRNO(syscall(FUTEX_WAIT_CALL, &words[0], 0, ~0U, FLAGS, &deadline, CLOCK_MONOTONIC), ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 20);
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, waiter, (void *)(1L << i)) == 0);
    sleep_ms(10);
    CHECK(syscall(FUTEX_WAKE_CALL, &words[0], ~0U, 0, FLAGS) == 0);
    CHECK(syscall(FUTEX_WAKE_CALL, &words[0], 2, 9, FLAGS) == 1);
    CHECK(pthread_join(threads[1], NULL) == 0);
    CHECK(syscall(FUTEX_REQUEUE_CALL, pair, 0, 1, 9) == 2);
    pair[0].val = 1;
    CHECK_ERRNO(syscall(FUTEX_REQUEUE_CALL, pair, 0, 1, 9), EAGAIN);
    CHECK(syscall(FUTEX_WAKE_CALL, &words[0], ~0U, 9, FLAGS) == 0);
    CHECK(syscall(FUTEX_WAKE_CALL, &words[1], ~0U, 9, FLAGS) == 1);
    CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[2], NULL) == 0);
    return succeed();
}

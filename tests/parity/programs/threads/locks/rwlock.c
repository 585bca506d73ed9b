// Readers share a lock, a writer has it alone, and timed attempts give up.
#include "check.h"

#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *writer(void *unused)
{
    CHECK(pthread_rwlock_tryrdlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    sleep_ms(40);
    value = 1;
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    struct timespec deadline;
    pthread_t thread;

    CHECK(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_rdlock(&lock) == 0);
    CHECK(pthread_create(&thread, NULL, writer, NULL) == 0);
    sleep_ms(20);
    CHECK(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
    sleep_ms(10);
    deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 10 * MS);
    CHECK(pthread_rwlock_timedrdlock(&lock, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(pthread_rwlock_rdlock(&lock) == 0 && value == 1);
    CHECK_ELAPSED(start_ns, 60);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

// A signal handled by a thread that waits for a mutex does not make it lose or skip the mutex.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t count;
static int64_t start_ns;

static void handler(int number)
{
    CHECK(number == SIGUSR1);
    count++;
}

static void *locker(void *unused)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    CHECK(count == 3);
    CHECK_ELAPSED(start_ns, 40);
    return unused;
}

int main(void)
{
    pthread_t thread;

    start_ns = now_ns();
    CHECK(signal(SIGUSR1, handler) != SIG_ERR && pthread_mutex_lock(&lock) == 0);
    CHECK(pthread_create(&thread, NULL, locker, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        sleep_ms(10);
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
    }
    sleep_ms(10);
    CHECK(pthread_mutex_unlock(&lock) == 0 && pthread_join(thread, NULL) == 0);
    return succeed();
}

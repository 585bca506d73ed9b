// A cancellation waits until it is allowed, then comes at the next cancellation point; an asynchronous one anywhere.
#include "check.h"

#include <pthread.h>

static volatile int slept, beyond;

static void *deferred(void *unused)
{
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    sleep_ms(30);
    slept = 1;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
    pthread_testcancel();
    beyond = 1;
    return unused;
}

static void *asynchronous(void *unused)
{
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
    sleep_ms(100000);
    return unused;
}

int main(void)
{
    void *(*const kinds[])(void *) = {deferred, asynchronous};
    int64_t start_ns = now_ns();
    pthread_t thread;
    void *result;

    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&thread, NULL, kinds[i], NULL) == 0);
        sleep_ms(10);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
        CHECK(slept == 1 && beyond == 0);
    }
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}

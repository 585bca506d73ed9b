// A thread that spins, without any call, until another has slept for a second sees it wake after that second, and again.
// native: slow
// warns: computes without a call
#include "check.h"

#include <pthread.h>

static volatile int flag;

static void *sleeper(void *unused)
{
    for (int i = 0; i < 4; i++) {
        sleep(1);
        flag++;
    }
    return unused;
}

int main(void)
{
    int64_t start = now_ns();
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0);
    for (int i = 1; i <= 4; i++) {
        while (flag < i)
            ;
        CHECK_ELAPSED(start, i * 1000);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

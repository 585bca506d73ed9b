// A thread that yields until another has set a variable, after a sleep, gets there.
#include "check.h"

#include <pthread.h>
#include <sched.h>

static volatile int flag;

static void *setter(void *unused)
{
    sleep_ms(2);
    flag = 1;
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, setter, NULL) == 0);
    while (!flag)
        CHECK(sched_yield() == 0);
    CHECK_ELAPSED(start_ns, 2);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

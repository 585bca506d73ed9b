// A thread may wait for a child that another thread forked, while that one does something else.
#include "check.h"

#include <pthread.h>

static pid_t child;

static void *waiter(void *unused)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;

    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(40);
        _exit(5);
    }
    CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
    sleep_ms(20);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}

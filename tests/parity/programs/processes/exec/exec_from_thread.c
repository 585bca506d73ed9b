// exec from a thread other than main ends all others; the new image has the process's pid.
#include "check.h"

#include <pthread.h>

static char self[20];

static void *executor(void *unused)
{
    sleep_ms(10);
    execl("/proc/self/exe", "exec_from_thread", self, NULL);
    CHECK(!"exec returned");
    return unused;
}

static void *idler(void *unused)
{
    for (;;)
        pause();
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t threads[2];

    if (count == 2) {
        CHECK(atoi(arguments[1]) == getpid() && getpid() == gettid());
        sleep_ms(10);
        return succeed();
    }
    snprintf(self, sizeof self, "%d", getpid());
    CHECK(pthread_create(&threads[0], NULL, idler, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, executor, NULL) == 0);
    sleep_ms(20000);
    CHECK(!"main lived on");
}

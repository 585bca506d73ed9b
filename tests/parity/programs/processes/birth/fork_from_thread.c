// A fork from a thread other than main gives a child with that thread alone, which can sleep and make threads itself.
#include "check.h"

#include <pthread.h>

static void *empty(void *unused)
{
    sleep_ms(5);
    return unused;
}

static void *forker(void *unused)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        pthread_t thread;

        sleep_ms(10);
        CHECK(pthread_create(&thread, NULL, empty, NULL) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(getpid() == gettid());
        _exit(0);
    }
    CHECK_CHILD(child);
    return unused;
}

int main(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, forker, NULL) == 0 && pthread_join(thread, NULL) == 0);
    return succeed();
}

// A signal to the process goes to the thread that does not block it, here one that waits in sigwait.
#include "check.h"

#include <pthread.h>

static volatile int taken;

static void *signal_thread(void *argument)
{
    int number;

    for (int i = 0; i < 3; i++) {
        CHECK(sigwait(argument, &number) == 0 && number == SIGHUP);
        taken++;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, signal_thread, &set) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(kill(getpid(), SIGHUP) == 0);
        sleep_ms(10);
        CHECK(taken == i + 1);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}

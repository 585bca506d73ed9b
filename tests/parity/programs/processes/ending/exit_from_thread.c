// exit() called by a thread other than main ends the process with that status, while main waits.
#include "check.h"

#include <pthread.h>

static void *ender(void *unused)
{
    sleep_ms(10);
    exit(9);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(pthread_create(&thread, NULL, ender, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);
    CHECK_ELAPSED(start_ns, 10);
    return succeed();
}

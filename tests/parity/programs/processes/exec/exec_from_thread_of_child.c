// A shell that is exec'd by a thread keeps the pid for which the parent waits.
#include "check.h"

#include <pthread.h>

static void *executor(void *unused)
{
    execl("/bin/sh", "sh", "-c", "sleep 0.02; exit 21", NULL);
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
        CHECK(pthread_create(&thread, NULL, executor, NULL) == 0);
        for (;;)
            pause();
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 21);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}

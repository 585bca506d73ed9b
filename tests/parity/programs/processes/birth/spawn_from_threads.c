// Four threads spawn and await children at the same time.
#include "check.h"

#include <pthread.h>
#include <spawn.h>

extern char **environ;

static void *spawner(void *unused)
{
    char *arguments[] = {"sleep", "0.03", NULL};
    pid_t child;

    CHECK(posix_spawn(&child, "/bin/sleep", NULL, NULL, arguments, environ) == 0);
    CHECK_CHILD(child);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, spawner, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

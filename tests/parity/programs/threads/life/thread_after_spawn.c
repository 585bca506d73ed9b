// Threads, children in their creator's memory, and forked children come and go in turn; each thread waits for a descriptor.
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <spawn.h>

static int ends[2];

static void *wait_for_nothing(void *milliseconds)
{
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};

    CHECK(poll(&entry, 1, (int)(intptr_t)milliseconds) == 0);
    return milliseconds;
}

static void run_threads(int count)
{
    pthread_t threads[4];
    void *result;

    for (intptr_t i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_nothing, (void *)(10 * (i + 1))) == 0);
    for (intptr_t i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)(10 * (i + 1)));
}

static void run_child(void)
{
    char *const argv[] = {"true", NULL};
    char *const environment[] = {NULL};
    int status;
    pid_t pid;

    CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environment) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(posix_spawn(&pid, "/nonexistent/true", NULL, NULL, argv, environment) == ENOENT);
}

static void fork_threads(int count)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        run_threads(count);
        run_child();
        run_threads(count);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
    CHECK(pipe(ends) == 0);
    for (int round = 0; round < 4; round++) {
        run_threads(round);
        run_child();
        run_threads(4 - round);
        fork_threads(2);
        run_child();
    }
    run_threads(4);
    return succeed();
}

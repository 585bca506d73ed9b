/* Calls in a loop, by name, so many times: what one costs is the caller's to time from outside. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rounds;

static void *sleeper(void *unused)
{
    struct timespec pause = {0, 1000};

    for (int i = 0; i < rounds; i++)
        nanosleep(&pause, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    struct timespec now;
    pthread_t other;

    if (argc < 3)
        return 2;
    rounds = atoi(argv[2]);
    if (strcmp(argv[1], "two-processes") == 0) { /* every sleep passes the server: somebody else is always due first */
        pid_t child = fork();

        sleeper(NULL);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    } else if (strcmp(argv[1], "two-threads") == 0) { /* the same, but the process sees to it by itself */
        pthread_create(&other, NULL, sleeper, NULL);
        sleeper(NULL);
        pthread_join(other, NULL);
    } else if (strcmp(argv[1], "lone-sleeper") == 0) {
        sleeper(NULL);
    } else if (strcmp(argv[1], "trap") == 0) {
        for (int i = 0; i < rounds; i++)
            syscall(SYS_getppid);
    } else if (strcmp(argv[1], "preload") == 0) {
        for (int i = 0; i < rounds; i++)
            getppid();
    } else if (strcmp(argv[1], "preload-handler") == 0) { /* a call that the shim itself answers, signals blocked meanwhile */
        for (int i = 0; i < rounds; i++)
            dup2(0, 0);
    } else if (strcmp(argv[1], "clock") == 0) {
        for (int i = 0; i < rounds; i++)
            clock_gettime(CLOCK_MONOTONIC, &now);
    } else if (strcmp(argv[1], "nothing") != 0) {
        return 2;
    }
    return 0;
}

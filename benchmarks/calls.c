/* Calls in a loop, by name, so many times: what one costs is the caller's to time from outside. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
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
    if (strcmp(argv[1], "two-sleepers") == 0) { /* every sleep passes the server: somebody else is always due first */
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

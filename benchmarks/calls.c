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

/* A byte there and back. The server wakes the process that waits: only the server can ask the kernel what is ready. */
static int ping_pong(void)
{
    int there[2], back[2];
    char byte = 0;

    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    if (fork() == 0) {
        for (int i = 0; i < rounds && read(there[0], &byte, 1) == 1; i++)
            if (write(back[1], &byte, 1) != 1)
                break;
        _exit(0);
    }
    for (int i = 0; i < rounds; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct timespec now;
    pthread_t other;

    if (argc < 3)
        return 2;
    rounds = atoi(argv[2]);
    if (strcmp(argv[1], "ping-pong") == 0) {
        return ping_pong();
    } else if (strcmp(argv[1], "two-processes") == 0) { /* the other process is always due first, and gets the turn */
        pid_t child = fork();

        sleeper(NULL);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    } else if (strcmp(argv[1], "two-threads") == 0) { /* another thread is always due first: the process itself passes the turn */
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

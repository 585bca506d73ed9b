/* Births, so many, one after the other: spawn KIND COUNT PROGRAM [ARGUMENT]... What one costs is the caller's to measure. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pid_t born(const char *kind, char **arguments)
{
    pid_t child = -1;

    if (strcmp(kind, "posix_spawn") == 0)
        return posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) == 0 ? child : -1;
    child = strcmp(kind, "vfork") == 0 ? vfork() : fork();
    if (child == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    return child;
}

int main(int count, char **words)
{
    int nothing = open("/dev/null", O_WRONLY);

    if (count < 4)
        return 2;
    dup2(nothing, STDOUT_FILENO);
    for (int left = atoi(words[2]); left > 0; left--) {
        int status;
        pid_t child = born(words[1], words + 3);

        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "spawn: %s of %s failed\n", words[1], words[3]);
            return 1;
        }
    }
    return 0;
}

// How many of 200 process groups still have members when their leader has been waited for, and its child is dead that nobody
// waits for but init.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Leads a group, and leaves in it a dead child (that init is to reap) or one that outlives it for a while. */
static void lead(int round)
{
    setpgid(0, 0);
    if (fork() == 0) {
        if (round % 2)
            usleep(500);
        _exit(0);
    }
    usleep(100);
    _exit(0);
}

int main(void)
{
    int left = 0;

    for (int round = 0; round < 200; round++) {
        pid_t leader = fork();
        if (leader == 0)
            lead(round);
        waitpid(leader, NULL, 0);
        if (round % 2)
            usleep(1000);
        left += kill(-leader, 0) == 0 || errno != ESRCH;
    }
    printf("%d left\n", left);
}

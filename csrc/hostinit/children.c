/* Ends processes even if a user (SIGSTOP) or a debugger has stopped one of them. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Have the kernel continue this process when its parent ends, however it ends. A stopped process would not notice that
 * the other end of its socket is closed. The process would stay, and so would all processes that wait for it. prctl(2):
 * exec keeps this setting, fork does not. */
void children_outlive_none(void)
{
    prctl(PR_SET_PDEATHSIG, SIGCONT);
}

/* Send a signal to all children. Returns false if there are none. */
bool children_signal(int number)
{
    char path[64];
    char text[4096];
    bool found = false;
    FILE *list;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    list = fopen(path, "re");
    if (list == NULL)
        return false;
    while (fscanf(list, "%4095s", text) == 1) {
        kill((pid_t)strtol(text, NULL, 10), number);
        found = true;
    }
    fclose(list);
    return found;
}

/* Wait for a child that must end now, and continue it whenever it is stopped. */
void children_await(pid_t child)
{
    int status;

    for (;;) {
        pid_t seen = waitpid(child, &status, WUNTRACED);

        if (seen == child && WIFSTOPPED(status))
            kill(child, SIGCONT);
        else if (seen >= 0 || errno != EINTR)
            return;
    }
}

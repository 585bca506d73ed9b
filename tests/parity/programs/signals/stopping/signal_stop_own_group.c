// A process that stops its whole group, itself with it, goes on where it was once its parent continues the group.
#include "check.h"

/* A leader and a member of a new group; the leader stops all, then both end when they have been continued. */
static pid_t group_that_stops(int target, int signal)
{
    pid_t leader = fork();

    CHECK(leader >= 0);
    if (leader == 0) {
        pid_t member;

        CHECK(setpgid(0, 0) == 0);
        member = fork();
        CHECK(member >= 0);
        if (member == 0) {
            usleep(20000);
            _exit(0);
        }
        usleep(1000);
        CHECK(kill(target == 0 ? 0 : -getpgrp(), signal) == 0);
        CHECK_CHILD(member);
        _exit(0);
    }
    return leader;
}

static void stops_and_goes_on(int target, int signal)
{
    pid_t leader = group_that_stops(target, signal);
    int64_t start_ns = now_ns();
    int status;

    CHECK(waitpid(leader, &status, WUNTRACED) == leader && WIFSTOPPED(status) && WSTOPSIG(status) == signal);
    sleep_ms(30);
    CHECK(waitpid(leader, &status, WNOHANG | WUNTRACED) == 0);
    CHECK(kill(-leader, SIGCONT) == 0);
    CHECK_CHILD(leader);
    CHECK(now_ns() - start_ns >= 30 * MS);
}

int main(void)
{
    stops_and_goes_on(0, SIGSTOP);
    stops_and_goes_on(-1, SIGSTOP);
    stops_and_goes_on(0, SIGTSTP);
    stops_and_goes_on(-1, SIGTTOU);
    return succeed();
}

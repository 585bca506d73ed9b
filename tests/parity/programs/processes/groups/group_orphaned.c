// When the last process that ties a group to its session ends, the group's stopped members get SIGHUP and SIGCONT, in this order
// of effects; a group that is orphaned already does not stop by its terminal's signals.
#include "check.h"

#include <sys/prctl.h>

static volatile sig_atomic_t hung_up, went_on;

static void on_hangup(int signal)
{
    (void)signal;
    hung_up = 1;
}

static void on_continue(int signal)
{
    (void)signal;
    went_on = 1;
}

/* In a group of its own: stops, and tells what it got when it goes on. */
static void member(int report)
{
    char text[2];

    CHECK(setpgid(0, 0) == 0);
    signal(SIGHUP, on_hangup);
    signal(SIGCONT, on_continue);
    CHECK(write(report, "s", 1) == 1);
    CHECK(raise(SIGSTOP) == 0);
    text[0] = hung_up ? 'h' : '-';
    text[1] = went_on ? 'c' : '-';
    CHECK(write(report, text, 2) == 2);
    CHECK(raise(SIGTSTP) == 0); /* orphaned: nothing happens */
    CHECK(write(report, "e", 1) == 1);
    _exit(0);
}

int main(void)
{
    char text[4] = "";
    int report[2];
    int status;
    pid_t session, stopped = 0;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && pipe(report) == 0);
    session = fork();
    CHECK(session >= 0);
    if (session == 0) {
        CHECK(setsid() == getpid());
        stopped = fork();
        CHECK(stopped >= 0);
        if (stopped == 0)
            member(report[1]);
        CHECK(waitpid(stopped, &status, WUNTRACED) == stopped && WIFSTOPPED(status));
        _exit(0);
    }
    CHECK(close(report[1]) == 0);
    CHECK(read(report[0], text, 1) == 1 && text[0] == 's');
    CHECK_CHILD(session);
    CHECK(read(report[0], text, 2) == 2 && text[0] == 'h' && text[1] == 'c');
    CHECK(read(report[0], text, 1) == 1 && text[0] == 'e');
    CHECK(waitpid(-1, &status, 0) > 0 && status == 0);
    CHECK_ERRNO(waitpid(-1, &status, 0), ECHILD);
    return succeed();
}

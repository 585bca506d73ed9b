// A child takes any signal that is sent to it as soon as fork has returned: it stops, goes on, dies, or has its handler run.
#include "check.h"

static volatile sig_atomic_t heard;

static void hear(int signal)
{
    heard = signal;
}

/* What the child does: long enough that it is there still, unless the signal ends it. */
static pid_t born(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        usleep(1000);
        _exit(heard);
    }
    return child;
}

static void stopped_and_continued(void)
{
    pid_t child = born();
    int status;

    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status));
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void stopped_for_a_while(void)
{
    int64_t start_ns = now_ns();
    pid_t child = born();

    CHECK(kill(child, SIGSTOP) == 0);
    sleep_ms(5);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK_CHILD(child);
    CHECK(now_ns() - start_ns >= 5 * MS);
}

static void killed(int signal)
{
    pid_t child = born();
    int status;

    CHECK(kill(child, signal) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

static void stopped_then_killed(void)
{
    pid_t child = born();
    int status;

    CHECK(kill(child, SIGSTOP) == 0 && kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void handled(void)
{
    pid_t child = born();
    int status;

    CHECK(kill(child, SIGUSR1) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == SIGUSR1);
}

static void continued(void)
{
    pid_t child = born();

    CHECK(kill(child, SIGCONT) == 0);
    CHECK_CHILD(child);
}

int main(void)
{
    CHECK(signal(SIGUSR1, hear) != SIG_ERR);
    for (int round = 0; round < 10; round++) {
        stopped_and_continued();
        stopped_for_a_while();
        killed(SIGTERM);
        killed(SIGKILL);
        stopped_then_killed();
        handled();
        continued();
    }
    return succeed();
}

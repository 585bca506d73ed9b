// A stop signal that waits in the mask stops the process as soon as it may: unblocked, or with the default action back.
#include "check.h"

#include <pthread.h>

static void mask(int how, int signal)
{
    sigset_t set;

    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, signal) == 0 && sigprocmask(how, &set, NULL) == 0);
}

static void unblocked_by_itself(void)
{
    mask(SIG_BLOCK, SIGTSTP);
    CHECK(raise(SIGTSTP) == 0);
    mask(SIG_UNBLOCK, SIGTSTP);
    _exit(0);
}

/* Both signals come while it computes on its way from a wait: it stops before it says more. */
static void stopped_when_awake(void)
{
    pid_t parent = getppid();

    usleep(1000);
    CHECK(kill(getpid(), SIGTSTP) == 0);
    CHECK(getppid() == parent);
    _exit(0);
}

static void *stop_all(void *thread)
{
    CHECK(pthread_kill(*(pthread_t *)thread, SIGSTOP) == 0);
    return thread;
}

static void stopped_through_another_thread(void)
{
    pthread_t self = pthread_self(), other;

    CHECK(pthread_create(&other, NULL, stop_all, &self) == 0 && pthread_join(other, NULL) == 0);
    _exit(0);
}

static void stops(void (*run)(void), int signal)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setpgid(0, 0) == 0); /* a group that nobody outside has a child in is orphaned, and does not stop */
        run();
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal);
    CHECK(waitpid(child, &status, WUNTRACED | WNOHANG) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK_CHILD(child);
}

int main(void)
{
    stops(unblocked_by_itself, SIGTSTP);
    stops(stopped_when_awake, SIGTSTP);
    stops(stopped_through_another_thread, SIGSTOP);
    return succeed();
}

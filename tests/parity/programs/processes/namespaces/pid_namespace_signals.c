// Signals in a PID namespace: process 1 gets those of its own namespace only if it has a handler, and SIGKILL from outside alone;
// kill(-1, …) reaches the namespace but not process 1; who sent a signal from outside is process 0.
#include "namespaces.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

static int up[2], down[2];
static volatile sig_atomic_t taken, sender;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    taken = number;
    sender = info->si_pid;
}

static void *wait_for_news(void *unused)
{
    (void)unused;
    sleep_ms(200);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    return NULL;
}

static pid_t sleeping_child(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0)
        for (;;)
            pause();
    return child;
}

static void child_kills_in_vain(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(kill(1, SIGTERM) == 0 && kill(1, SIGKILL) == 0 && kill(1, SIGSTOP) == 0);
        _exit(0);
    }
    sleep_ms(100); /* SIGTERM is nothing to wake for */
    CHECK_CHILD(child);
}

static void inside(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigset_t set;
    siginfo_t info;
    pthread_t other;
    pid_t one, two;
    int status;

    child_kills_in_vain();
    CHECK(kill(1, SIGTERM) == 0 && raise(SIGTERM) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&other, NULL, wait_for_news, NULL) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(taken == SIGUSR1 && sender == 1);

    one = sleeping_child();
    two = sleeping_child();
    CHECK(setpgid(two, two) == 0);
    CHECK(syscall(SYS_tgkill, one, one, SIGKILL) == 0 && waitpid(one, &status, 0) == one && WTERMSIG(status) == SIGKILL);
    CHECK(kill(-two, SIGTERM) == 0 && waitpid(two, &status, 0) == two && WTERMSIG(status) == SIGTERM);
    one = sleeping_child();
    two = sleeping_child();
    CHECK(kill(-1, SIGTERM) == 0); /* neither process 1 nor anybody outside */
    CHECK(waitpid(one, &status, 0) == one && WTERMSIG(status) == SIGTERM);
    CHECK(waitpid(two, &status, 0) == two && WTERMSIG(status) == SIGTERM);

    one = sleeping_child();
    CHECK(kill(one, SIGSTOP) == 0 && waitpid(one, &status, WUNTRACED) == one && WIFSTOPPED(status));
    CHECK(kill(one, SIGCONT) == 0 && waitpid(one, &status, WCONTINUED) == one && WIFCONTINUED(status));
    CHECK(kill(one, SIGKILL) == 0 && waitid(P_PID, (id_t)one, &info, WEXITED) == 0 && info.si_pid == one);

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    tell(up[1]);
    CHECK(sigwaitinfo(&set, &info) == SIGUSR2 && info.si_pid == 0); /* the sender has no number here */
    CHECK(kill(1, SIGUSR2) == 0 && sigwaitinfo(&set, &info) == SIGUSR2 && info.si_pid == 1);
    tell(up[1]);
    hear(down[0]);
    _exit(1);
}

int main(void)
{
    struct timespec soon = {.tv_nsec = 10 * MS};
    int status;
    pid_t child;

    CHECK(pipe(up) == 0 && pipe(down) == 0);
    child = birth(needed_flags() | CLONE_NEWPID);
    CHECK(child >= 0);
    if (child == 0)
        inside();
    hear(up[0]);
    CHECK(kill(child, SIGUSR2) == 0);
    hear(up[0]);
    CHECK(kill(child, SIGTERM) == 0); /* no handler: nothing */
    CHECK(nanosleep(&soon, NULL) == 0 && waitpid(child, &status, WNOHANG) == 0);
    CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    return succeed();
}

// Queued signals are taken lowest number first, real-time ones of one number in the order of sending, each with its own value;
// a plain signal that is pending already is not queued again.
#include "check.h"

#include <sys/signalfd.h>

static int order[16];
static int taken;

static void note(int signal, siginfo_t *info, void *context)
{
    (void)context;
    CHECK(info->si_code == SI_QUEUE && info->si_pid == getppid());
    order[taken++] = signal * 100 + info->si_value.sival_int;
}

static void send(pid_t to, int signal, int value)
{
    CHECK(sigqueue(to, signal, (union sigval){.sival_int = value}) == 0);
}

static const int expected[] = {SIGUSR1 * 100 + 1};

/* All are blocked; the parent sends; then they are taken by sigtimedwait, a signalfd, or handlers. */
static void taken_by_waiting(const sigset_t *all)
{
    struct timespec soon = {1, 0};
    siginfo_t info;

    for (int value = 1; value <= 3; value++) {
        CHECK(sigtimedwait(all, &info, &soon) == (value == 1 ? SIGUSR1 : SIGRTMIN));
        CHECK(info.si_value.sival_int == (value == 1 ? 1 : value) && info.si_code == SI_QUEUE);
    }
    CHECK(sigwaitinfo(all, &info) == SIGRTMIN + 1 && info.si_value.sival_int == 4);
    soon.tv_sec = 0;
    CHECK_ERRNO(sigtimedwait(all, &info, &soon), EAGAIN);
}

static void taken_by_signalfd(const sigset_t *all)
{
    struct signalfd_siginfo infos[8];
    int fd = signalfd(-1, all, SFD_NONBLOCK);

    CHECK(fd >= 0 && read(fd, infos, sizeof infos) == 4 * sizeof *infos);
    CHECK(infos[0].ssi_signo == SIGUSR1 && infos[0].ssi_int == 1);
    CHECK(infos[1].ssi_signo == (unsigned)SIGRTMIN && infos[1].ssi_int == 2);
    CHECK(infos[2].ssi_signo == (unsigned)SIGRTMIN && infos[2].ssi_int == 3);
    CHECK(infos[3].ssi_signo == (unsigned)SIGRTMIN + 1 && infos[3].ssi_int == 4);
    CHECK_ERRNO(read(fd, infos, sizeof infos), EAGAIN);
}

/* Every handler blocks all: they run one after the other, each frame below the next. */
static void taken_by_handlers(const sigset_t *all)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO, .sa_mask = *all};

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGRTMIN, &action, NULL) == 0);
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0 && sigprocmask(SIG_UNBLOCK, all, NULL) == 0);
    CHECK(taken == 4 && order[0] == expected[0]);
    CHECK(order[1] == SIGRTMIN * 100 + 2 && order[2] == SIGRTMIN * 100 + 3 && order[3] == (SIGRTMIN + 1) * 100 + 4);
}

int main(void)
{
    void (*const ways[])(const sigset_t *) = {taken_by_waiting, taken_by_signalfd, taken_by_handlers};
    sigset_t all;

    CHECK(sigfillset(&all) == 0 && sigdelset(&all, SIGCHLD) == 0 && sigprocmask(SIG_BLOCK, &all, NULL) == 0);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        int go[2];
        char byte;
        pid_t child;

        CHECK(pipe(go) == 0);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(read(go[0], &byte, 1) == 1);
            ways[way](&all);
            _exit(0);
        }
        send(child, SIGRTMIN + 1, 4);
        send(child, SIGRTMIN, 2);
        send(child, SIGUSR1, 1);
        send(child, SIGRTMIN, 3);
        send(child, SIGUSR1, 9);
        CHECK(write(go[1], "x", 1) == 1);
        CHECK_CHILD(child);
    }
    return succeed();
}

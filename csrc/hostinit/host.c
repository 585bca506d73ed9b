/* The life of a host's first process: it sets the host up, then carries out commands and waits for orphans until the
 * server is gone. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static struct message message;

/* Kill all descendants until none is left. Without a PID namespace, the end of this process would end no other process. */
static void kill_descendants(void)
{
    while (children_signal(SIGKILL)) /* orphans become children of this process, which is their subreaper */
        waitpid(-1, NULL, 0);
}

static void reap(int signals)
{
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    if (read(signals, &info, sizeof info) != sizeof info)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
        if (!injection_took(pid, status) && spawn_was_asked_for(pid))
            control_answer("ended %d %d", (int)pid, status);
}

static void serve(void)
{
    sigset_t children;
    struct pollfd entries[2] = {{.fd = CONTROL, .events = POLLIN}, {.events = POLLIN}};

    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    entries[1].fd = signalfd(-1, &children, SFD_CLOEXEC);
    for (;;) {
        if (poll(entries, 2, -1) < 0 && errno != EINTR)
            return;
        if (entries[1].revents & POLLIN)
            reap(entries[1].fd);
        if (entries[0].revents & POLLIN) {
            if (!control_receive(&message))
                return;
            if (!injection_answer(&message))
                spawn_answer(&message);
        } else if (entries[0].revents & (POLLHUP | POLLERR)) {
            return;
        }
    }
}

/* Wait for the first message, which describes the host: names, mounts. Returns false if the server has given the host up. */
bool host_await(void)
{
    return control_receive(&message);
}

bool host_set_up(void)
{
    if (!setup_run(&message))
        return false;
    lowers_forget();
    outside_forget();
    control_answer("ok %d", (int)getpid());
    return true;
}

/* Serve the host's requests until the server is gone. When PID 1 of a namespace ends, the kernel kills all processes in it. */
void host_serve(bool isolated)
{
    injection_start();
    serve();
    if (!isolated)
        kill_descendants();
}

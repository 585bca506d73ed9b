/* The life of a host: namespaces, set-up, then commands and orphans until the server is gone. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct message message;

/* What a terminal or a service manager sends to the whole group is for the server to act on. */
static const int left_to_server[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done || setup_failed("cannot write", path);
}

/* A user namespace in which the caller is root; the kernel wants further groups given up for that. */
static bool become_root(void)
{
    char map[64];
    unsigned user = geteuid();
    unsigned group = getegid();

    if (unshare(CLONE_NEWUSER) != 0)
        return setup_failed("cannot make", "a user namespace");
    snprintf(map, sizeof map, "0 %u 1", user);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof map, "0 %u 1", group);
    return write_file("/proc/self/gid_map", map);
}

static bool enter_namespaces(const char *which)
{
    if (strcmp(which, "user") == 0) {
        if (!become_root())
            return false;
        overlay_in_user_namespace();
    }
    if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID) != 0)
        return setup_failed("cannot make", "namespaces");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return setup_failed("cannot make mounts private below", "/");
    return network_up();
}

/* Without a PID namespace nothing dies with us: stop and kill what descends from us until nobody is left. */
static bool signal_children(int number)
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

static void kill_descendants(void)
{
    while (signal_children(SIGKILL)) /* the children of the dead become ours: we are their subreaper */
        waitpid(-1, NULL, 0);
}

static void reap(int signals)
{
    struct signalfd_siginfo info;
    char text[64];
    pid_t pid;
    int status;

    if (read(signals, &info, sizeof info) != sizeof info)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (spawn_was_asked_for(pid)) {
            snprintf(text, sizeof text, "%d %d", (int)pid, status);
            send(REPORT, text, strlen(text), MSG_NOSIGNAL);
        }
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
            spawn_answer(&message);
        } else if (entries[0].revents & (POLLHUP | POLLERR)) {
            return;
        }
    }
}

static int run_host(bool isolated)
{
    if (isolated)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!setup_run(&message))
        return 1;
    control_answer("ok %d", (int)getpid());
    serve();
    if (!isolated)
        kill_descendants();
    return 0; /* as PID 1 of a namespace: the kernel kills all that is in it */
}

int main(void)
{
    const char *which;
    pid_t init;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof left_to_server / sizeof left_to_server[0]; i++)
        signal(left_to_server[i], SIG_IGN);
    if (!control_receive(&message) || (which = word_value(message.text, "namespaces")) == NULL) {
        fprintf(stderr, "simunix-hostinit is started by simunix\n");
        return 2;
    }
    if (strcmp(which, "none") == 0) {
        prctl(PR_SET_PDEATHSIG, 0); /* we must live on to end the others; the control socket tells us */
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return run_host(false);
    }
    if (!enter_namespaces(which))
        return 1;
    init = fork();
    if (init == 0)
        return run_host(true);
    close(CONTROL);
    close(REPORT);
    while (waitpid(init, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

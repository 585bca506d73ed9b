/* The birth of a host: its first process, in namespaces of its own, is cloned from the fork server. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OWN (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID)

static const struct {
    const char *word;
    uint64_t namespaces;
} kinds[] = {{"all", OWN}, {"user", OWN | CLONE_NEWUSER}, {"none", 0}};

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done || setup_failed("cannot write", path);
}

/* Map root of the new user namespace to the user that made it. The kernel asks for setgroups(2) to be given up first. */
static bool become_root(unsigned user, unsigned group)
{
    char map[64];

    snprintf(map, sizeof map, "0 %u 1", user);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof map, "0 %u 1", group);
    return write_file("/proc/self/gid_map", map);
}

static bool arrange_namespaces(uint64_t namespaces, unsigned user, unsigned group)
{
    if (namespaces & CLONE_NEWUSER) {
        if (!become_root(user, group))
            return false;
        overlay_in_user_namespace();
    }
    unshare(CLONE_NEWCGROUP); /* not every kernel has it, and the shim tells of cgroups anyway */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return setup_failed("cannot make mounts private below", "/");
    return network_up();
}

/* The life of the new process. An error is answered on the host's own socket, once the host's first message has come. */
static _Noreturn void live(int control, uint64_t namespaces, unsigned user, unsigned group)
{
    ksm_leave();
    dup2(control, CONTROL);
    close(control);
    if (namespaces == 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 1); /* and no deadly signal: this process must live on to end the others */
        children_outlive_none();
    } else {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!host_await() || !arrange_namespaces(namespaces, user, group) || !host_set_up())
            _exit(1);
    }
    host_serve(namespaces != 0);
    _exit(0);
}

void birth_answer(const struct message *message, const char *which)
{
    unsigned user = geteuid();
    unsigned group = getegid();
    uint64_t namespaces = 0;
    long pid;

    if (message->fd_count != 1) {
        control_answer("error malformed request for a host");
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(which, kinds[i].word) == 0)
            namespaces = kinds[i].namespaces;
    pid = syscall(SYS_clone, namespaces | SIGCHLD, NULL, NULL, NULL, 0);
    if (pid == 0)
        live(message->fds[0], namespaces, user, group);
    if (pid < 0)
        setup_failed("cannot make", namespaces & CLONE_NEWUSER ? "a user namespace" : "namespaces");
    else
        control_answer("ok %ld", pid);
    close(message->fds[0]);
}

/* Wait for a host's first process, which ends last of all processes in its namespaces. */
void death_answer(const struct message *message, const char *pid)
{
    (void)message;
    children_await((pid_t)strtol(pid, NULL, 10));
    control_answer("ok 0");
}

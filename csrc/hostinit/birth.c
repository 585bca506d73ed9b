/* The beginning of a host: its first process is cloned from the fork server, in namespaces of its own. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID)

struct kind {
    const char *word;
    uint64_t namespaces;
    bool is_contained; /* no other process has the ids of the host's user namespace */
};
static const struct kind kinds[] = {
    {"all", OWN, false},
    {"contained", OWN | CLONE_NEWUSER, true},
    {"user", OWN | CLONE_NEWUSER, false},
    {"none", 0, false},
};

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done || control_failed("cannot write", path);
}

/* Map root of the new user namespace to the user that has made the namespace. The kernel demands that setgroups(2) is
 * disabled first. */
static bool become_root(unsigned user, unsigned group)
{
    char map[64];

    snprintf(map, sizeof map, "0 %u 1", user);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof map, "0 %u 1", group);
    return write_file("/proc/self/gid_map", map);
}

/* Become root of a contained host. The fork server has mapped the ids, but this process still has those of the fork
 * server, which are unknown here. A change of ids makes the process one whose memory other processes may not read
 * (prctl(2), PR_SET_DUMPABLE), and removes the signal for the end of its parent. */
static bool become_contained_root(void)
{
    if (setgroups(0, NULL) != 0 || setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0)
        return control_failed("cannot become root in", "a user namespace");
    ceilings_without_priority();
    prctl(PR_SET_DUMPABLE, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return true;
}

static bool arrange_namespaces(const struct kind *kind, unsigned user, unsigned group)
{
    if (kind->namespaces & CLONE_NEWUSER) {
        if (!(kind->is_contained ? become_contained_root() : become_root(user, group)))
            return false;
        overlay_in_user_namespace();
    }
    unshare(CLONE_NEWCGROUP); /* not every kernel has this kind of namespace, and the shim shows the host's cgroups anyway */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return control_failed("cannot make mounts private below", "/");
    return network_up();
}

/* Run the new process. After an error, wait for the host's first message, and report the error on the host's own socket. */
static _Noreturn void live(int control, const struct kind *kind, unsigned user, unsigned group)
{
    ksm_leave();
    contained_forget();
    if (kind->is_contained)
        lowers_take();
    dup2(control, CONTROL);
    close(control);
    if (kind->namespaces == 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 1); /* and gets no deadly signal: this process must live on to end the host's
                                           * other processes */
        children_outlive_none();
    } else {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!host_await() || !arrange_namespaces(kind, user, group) || !host_set_up())
            _exit(1);
    }
    host_serve(kind->namespaces != 0);
    _exit(0);
}

/* Clone the first process of a host. Returns -1 after having answered with an error. */
static long bear(const struct message *message, const struct kind *kind)
{
    unsigned user = geteuid();
    unsigned group = getegid();
    long pid;

    if (kind->is_contained && !contained_enter(message))
        return -1;
    if (kind->is_contained)
        ceilings_raise();
    pid = syscall(SYS_clone, kind->namespaces | SIGCHLD, NULL, NULL, NULL, 0);
    if (pid == 0)
        live(message->fds[0], kind, user, group);
    if (pid < 0)
        control_failed("cannot make", kind->namespaces & CLONE_NEWUSER ? "a user namespace" : "namespaces");
    if (kind->is_contained) {
        ceilings_restore();
        contained_leave();
    }
    if (pid > 0 && kind->is_contained && !contained_map((pid_t)pid)) {
        control_failed("cannot map ids of", "a user namespace");
        kill((pid_t)pid, SIGKILL);
        waitpid((pid_t)pid, NULL, 0);
        return -1;
    }
    return pid;
}

void birth_answer(const struct message *message, const char *which)
{
    const struct kind *kind = NULL;
    long pid;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(which, kinds[i].word) == 0)
            kind = &kinds[i];
    if (message->fd_count != 1 || kind == NULL) {
        control_answer("error malformed request for a host");
        return;
    }
    pid = bear(message, kind);
    if (pid >= 0)
        control_answer("ok %ld", pid);
    close(message->fds[0]);
}

/* Wait for the end of a host's first process; all other processes in its namespaces end before. */
void death_answer(const struct message *message, const char *pid)
{
    (void)message;
    children_await((pid_t)strtol(pid, NULL, 10));
    control_answer("ok 0");
}

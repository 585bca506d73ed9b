// In a PID namespace processes and threads are numbered anew; outside they have numbers of that namespace. All that takes or tells a
// number means the caller's. See pid_namespaces(7).
#include "namespaces.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>

static int reports[2];

struct report {
    int pid, parent, child, thread, found;
};

static void *thread(void *number)
{
    cpu_set_t set;

    *(int *)number = gettid();
    CHECK(sched_getaffinity(gettid(), sizeof set, &set) == 0);
    return NULL;
}

/* A number in a message is the receiver's. */
static int sender_seen_at(int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr header;
    } control;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

    CHECK(recvmsg(fd, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != NULL);
    return ((struct ucred *)CMSG_DATA(CMSG_FIRSTHDR(&message)))->pid;
}

static void inside(int sender)
{
    struct report report = {.pid = getpid(), .parent = getppid()};
    struct rlimit limit;
    cpu_set_t set;
    pthread_t other;
    int status;

    CHECK(gettid() == 1 && getpgid(0) == 0 && getsid(0) == 0); /* those of outside are not seen */
    CHECK(setsid() == 1 && getpgid(0) == 1 && getsid(1) == 1);
    CHECK(sched_getaffinity(1, sizeof set, &set) == 0);
    CHECK(prlimit(1, RLIMIT_CORE, NULL, &limit) == 0);
    CHECK(pthread_create(&other, NULL, thread, &report.thread) == 0 && pthread_join(other, NULL) == 0);
    report.child = fork();
    CHECK(report.child >= 0);
    if (report.child == 0) {
        CHECK(getppid() == 1 && getpid() != 1);
        CHECK(setpgid(0, 0) == 0 && getpgrp() == getpid());
        _exit(7);
    }
    report.found = waitpid(report.child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_ERRNO(kill(report.child, 0), ESRCH);
    CHECK(write(sender, "x", 1) == 1);
    CHECK(write(reports[1], &report, sizeof report) == sizeof report);
    _exit(0);
}

int main(void)
{
    struct report report;
    int pair[2];
    int one = 1;
    pid_t child;

    CHECK(pipe(reports) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof one) == 0);
    child = birth(needed_flags() | CLONE_NEWPID);
    CHECK(child >= 0);
    if (child == 0)
        inside(pair[1]);
    CHECK(read(reports[0], &report, sizeof report) == sizeof report);
    CHECK(report.pid == 1 && report.parent == 0 && report.thread == 2 && report.child == 3 && report.found == 3);
    CHECK(child > 1);
    CHECK(sender_seen_at(pair[0]) == child);
    CHECK_CHILD(child);
    return succeed();
}

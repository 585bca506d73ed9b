// SO_PASSCRED on AF_UNIX sockets of each type, of a pair or bound: each message tells who sent it, a child by its own pid.
#include "unix.h"

#include <sys/wait.h>

/* The sender of what comes next; 0: the message tells none. */
static pid_t sender(int fd)
{
    char byte, control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *first;
    struct ucred credentials;

    CHECK(recvmsg(fd, &message, 0) == 1);
    first = CMSG_FIRSTHDR(&message);
    if (first == NULL)
        return 0;
    CHECK(first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_CREDENTIALS);
    memcpy(&credentials, CMSG_DATA(first), sizeof credentials);
    CHECK(credentials.uid == getuid() && credentials.gid == getgid());
    return credentials.pid;
}

static void check(int from, int to)
{
    int on = 1;
    pid_t child;

    CHECK(send(from, "x", 1, 0) == 1 && sender(to) == 0);
    CHECK(setsockopt(to, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0);
    CHECK(send(from, "x", 1, 0) == 1 && sender(to) == getpid());
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(send(from, "x", 1, 0) == 1 ? 0 : 1);
    CHECK(sender(to) == child);
    CHECK_CHILD(child);
}

int main(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    int ends[2], listener;

    for (int i = 0; i < 3; i++) {
        CHECK(socketpair(AF_UNIX, types[i], 0, ends) == 0);
        check(ends[0], ends[1]);
    }
    ends[1] = unix_bound(SOCK_DGRAM, "datagrams");
    ends[0] = unix_connected(SOCK_DGRAM, "datagrams");
    check(ends[0], ends[1]);
    listener = unix_bound(SOCK_STREAM, "stream");
    CHECK(listen(listener, 1) == 0);
    ends[0] = unix_connected(SOCK_STREAM, "stream");
    ends[1] = accept(listener, NULL, NULL);
    check(ends[0], ends[1]);
    return succeed();
}

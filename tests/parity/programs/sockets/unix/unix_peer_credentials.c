// SO_PEERCRED tells the pid and user of the connecting process, SCM_CREDENTIALS those of the sender.
#include "unix.h"

int main(void)
{
    char control[CMSG_SPACE(sizeof(struct ucred))], byte;
    struct iovec in = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &in, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct ucred peer;
    socklen_t size = sizeof peer;
    int listener = unix_bound(SOCK_STREAM, "socket");
    int on = 1;
    pid_t child;
    int fd;

    CHECK(listen(listener, 1) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        fd = unix_connected(SOCK_STREAM, "socket");
        CHECK(read(fd, &byte, 1) == 1);
        _exit(write(fd, "x", 1) != 1);
    }
    fd = accept(listener, NULL, NULL);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0);
    CHECK(peer.pid == child && peer.uid == geteuid() && peer.gid == getegid());
    CHECK(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 && write(fd, "x", 1) == 1);
    CHECK(recvmsg(fd, &message, 0) == 1 && CMSG_FIRSTHDR(&message)->cmsg_type == SCM_CREDENTIALS);
    memcpy(&peer, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof peer);
    CHECK(peer.pid == child && peer.uid == geteuid());
    CHECK_CHILD(child);
    return succeed();
}

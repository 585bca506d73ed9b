// An accepted socket passed to another process by SCM_RIGHTS is served there.
#include "inet.h"

static void send_descriptor(int channel, int fd)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec byte = {"x", 1};
    struct msghdr message = {
        .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    CHECK(sendmsg(channel, &message, 0) == 1);
}

static int receive_descriptor(int channel)
{
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec in = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &in, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;

    CHECK(recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != NULL);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    return fd;
}

int main(void)
{
    int listener = listening_socket(1);
    in_port_t port = port_of(listener);
    int channel[2];
    char data[5];
    int fd;
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(listener) == 0);
        fd = receive_descriptor(channel[1]);
        CHECK(port_of(fd) == port);
        read_all(fd, data, 5);
        write_all(fd, data, 5);
        _exit(0);
    }
    fd = connected_to(port);
    send_descriptor(channel[0], accept(listener, NULL, NULL));
    write_all(fd, "hello", 5);
    read_all(fd, data, 5);
    CHECK(memcmp(data, "hello", 5) == 0);
    CHECK_CHILD(child);
    return succeed();
}

// A pipe passed by SCM_RIGHTS over a local socket is waited for in the process that got it.
#include "unix.h"

int main(void)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    char data[10] = "x";
    struct iovec vector = {data, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int64_t start_ns = now_ns();
    int channel[2], ends[2];
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(recvmsg(channel[1], &message, 0) == 1 && message.msg_controllen == sizeof control);
        memcpy(ends, CMSG_DATA(&control.header), sizeof ends);
        CHECK(close(ends[1]) == 0);
        CHECK(read(ends[0], data, sizeof data) == 5);
        CHECK_ELAPSED(start_ns, 20);
        _exit(0);
    }
    CHECK(pipe(ends) == 0);
    memcpy(CMSG_DATA(&control.header), ends, sizeof ends);
    CHECK(sendmsg(channel[0], &message, 0) == 1);
    sleep_ms(20);
    CHECK(write(ends[1], "hello", 5) == 5);
    CHECK_CHILD(child);
    return succeed();
}

// sendmmsg and recvmmsg move several datagrams with one call, waiting for all, for one, or for none.
#include "inet.h"

enum { COUNT = 4 };

int main(void)
{
    int one = bound_socket(SOCK_DGRAM);
    int two = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(two));
    struct sockaddr_in from[COUNT];
    struct mmsghdr sent[COUNT] = {0}, got[COUNT] = {0};
    struct iovec out[COUNT], in[COUNT];
    char data[COUNT][10];

    for (int i = 0; i < COUNT; i++) {
        out[i] = (struct iovec){"abcd", i + 1};
        in[i] = (struct iovec){data[i], sizeof *data};
        sent[i].msg_hdr =
            (struct msghdr){.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &out[i], .msg_iovlen = 1};
        got[i].msg_hdr =
            (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof *from, .msg_iov = &in[i], .msg_iovlen = 1};
    }
    CHECK(sendmmsg(one, sent, COUNT, 0) == COUNT && sent[2].msg_len == 3);
    CHECK(recvmmsg(two, got, COUNT, 0, NULL) == COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i].msg_len == (unsigned)i + 1 && from[i].sin_port == port_of(one));
    CHECK(sendmmsg(one, sent, 2, 0) == 2);
    CHECK(recvmmsg(two, got, COUNT, MSG_WAITFORONE, NULL) == 2);
    CHECK_ERRNO(recvmmsg(two, got, COUNT, MSG_DONTWAIT, NULL), EAGAIN);
    return succeed();
}

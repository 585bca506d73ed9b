// sendmsg, recvmsg, writev and readv gather and scatter over a connection.
#include "inet.h"

#include <sys/uio.h>

int main(void)
{
    char left[4], right[20];
    struct iovec out[2] = {{"abcd", 4}, {"efghij", 6}};
    struct iovec in[2] = {{left, 4}, {right, 20}};
    struct msghdr sent = {.msg_iov = out, .msg_iovlen = 2};
    struct msghdr got = {.msg_iov = in, .msg_iovlen = 2};
    struct sockaddr_in name;
    int ends[2];

    tcp_pair(ends);
    CHECK(sendmsg(ends[0], &sent, 0) == 10);
    got.msg_name = &name;
    got.msg_namelen = sizeof name;
    CHECK(recvmsg(ends[1], &got, 0) == 10 && got.msg_flags == 0 && got.msg_namelen == 0);
    CHECK(memcmp(left, "abcd", 4) == 0 && memcmp(right, "efghij", 6) == 0);
    CHECK(writev(ends[1], out, 2) == 10);
    memset(right, 0, sizeof right);
    CHECK(readv(ends[0], in, 2) == 10 && memcmp(right, "efghij", 6) == 0);
    CHECK(writev(ends[1], out, 0) == 0);
    return succeed();
}

// Datagrams keep their boundaries: short reads cut them, empty ones arrive, MSG_TRUNC tells the true size.
#include "inet.h"

int main(void)
{
    int one = bound_socket(SOCK_DGRAM);
    int two = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(two));
    char data[20];
    struct iovec in = {data, 4};
    struct msghdr message = {.msg_iov = &in, .msg_iovlen = 1};

    CHECK(connect(one, (struct sockaddr *)&to, sizeof to) == 0);
    CHECK(send(one, "0123456789", 10, 0) == 10 && send(one, NULL, 0, 0) == 0);
    CHECK(send(one, "abcdef", 6, 0) == 6 && send(one, "ABCDEF", 6, 0) == 6 && send(one, "last", 4, 0) == 4);
    CHECK(recv(two, data, 4, 0) == 4 && memcmp(data, "0123", 4) == 0);
    CHECK(recv(two, data, sizeof data, 0) == 0);
    CHECK(recv(two, data, 4, MSG_TRUNC) == 6);
    CHECK(recvmsg(two, &message, 0) == 4 && (message.msg_flags & MSG_TRUNC));
    CHECK(recv(two, data, sizeof data, MSG_PEEK) == 4 && recv(two, data, sizeof data, 0) == 4);
    CHECK_ERRNO(recv(two, data, sizeof data, MSG_DONTWAIT), EAGAIN);
    return succeed();
}

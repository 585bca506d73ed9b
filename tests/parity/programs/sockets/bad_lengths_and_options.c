// Lengths, options, families, flags and states that are wrong: each has its error, in the kernel's order of looking.
// musl: no (musl retries accept4 without flags that it does not know)
#include "expect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(void)
{
    int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0);
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_storage other;
    socklen_t length;
    char bytes[64];
    int value = 1;
    bind(listener, (void *)&address, sizeof address);
    listen(listener, 5);
    length = sizeof address;
    getsockname(listener, (void *)&address, &length);
    length = -1;
    EXPECT(getsockname(listener, (void *)&other, &length), -EINVAL);
    length = 0;
    EXPECT(getsockname(listener, (void *)&other, &length), 0);
    length = 3;
    EXPECT(getsockname(listener, (void *)&other, &length), 0);
    length = sizeof other;
    EXPECT(getpeername(tcp, (void *)&other, &length), -ENOTCONN);
    length = -1;
    EXPECT(getpeername(listener, (void *)&other, &length), -ENOTCONN);
    length = -1;
    EXPECT(getsockopt(tcp, SOL_SOCKET, SO_TYPE, &value, &length), -EINVAL);
    length = 0;
    EXPECT(getsockopt(tcp, SOL_SOCKET, SO_TYPE, &value, &length), 0);
    length = 4;
    EXPECT(getsockopt(tcp, SOL_SOCKET, 999, &value, &length), -ENOPROTOOPT);
    length = 4;
    EXPECT(getsockopt(tcp, 500, SO_TYPE, &value, &length), -ENOTSUP);
    length = 4;
    EXPECT(getsockopt(tcp, IPPROTO_UDP, SO_TYPE, &value, &length), -ENOTSUP);
    length = 4;
    EXPECT(getsockopt(tcp, IPPROTO_IP, -1, &value, &length), -ENOPROTOOPT);
    length = 4;
    EXPECT(getsockopt(tcp, IPPROTO_TCP, -1, &value, &length), -ENOPROTOOPT);
    length = 4;
    EXPECT(getsockopt(udp, IPPROTO_TCP, TCP_NODELAY, &value, &length), -ENOTSUP);
    length = 4;
    EXPECT(getsockopt(pair[0], IPPROTO_TCP, TCP_NODELAY, &value, &length), -ENOTSUP);
    EXPECT(setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &value, 0), -EINVAL);
    EXPECT(setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &value, -1), -EINVAL);
    EXPECT(setsockopt(tcp, SOL_SOCKET, 999, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, 500, 1, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, IPPROTO_IP, -1, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, IPPROTO_TCP, -1, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, IPPROTO_UDP, 1, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(udp, IPPROTO_TCP, TCP_NODELAY, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, IPPROTO_IP, 12345, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, IPPROTO_TCP, 12345, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, IPPROTO_IPV6, IPV6_V6ONLY, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, SOL_SOCKET, SO_ERROR, &value, 4), -ENOPROTOOPT);
    EXPECT(setsockopt(tcp, SOL_SOCKET, SO_TYPE, &value, 4), -ENOPROTOOPT);
    EXPECT(sendto(udp, "x", 1, 0, (void *)&address, 1), -EINVAL);
    EXPECT(sendto(udp, "x", 1, 0, (void *)&address, -1), -EINVAL);
    EXPECT(sendto(udp, "x", 1, 0, (void *)&address, 200), -EINVAL);
    EXPECT(sendto(udp, "x", 1, MSG_OOB, (void *)&address, sizeof address), -ENOTSUP);
    EXPECT(sendto(tcp, "x", 1, MSG_NOSIGNAL, 0, 0), -EPIPE);
    EXPECT(send(udp, "x", 1, 0), -EDESTADDRREQ);
    struct sockaddr_in wrong = address;
    wrong.sin_family = 99;
    EXPECT(sendto(udp, "x", 1, 0, (void *)&wrong, sizeof wrong), -EAFNOSUPPORT);
    EXPECT(connect(tcp, (void *)&wrong, sizeof wrong), -EAFNOSUPPORT);
    EXPECT(bind(tcp, (void *)&wrong, sizeof wrong), -EAFNOSUPPORT);
    EXPECT(connect(tcp, (void *)&address, 1), -EINVAL);
    EXPECT(bind(tcp, (void *)&address, 1), -EINVAL);
    EXPECT(bind(tcp, (void *)&address, -1), -EINVAL);
    EXPECT(connect(tcp, (void *)&address, -1), -EINVAL);
    EXPECT(bind(listener, (void *)&address, sizeof address), -EINVAL);
    EXPECT(bind(tcp, (void *)&address, sizeof address), -EADDRINUSE);
    wrong = address;
    wrong.sin_addr.s_addr = htonl(0x08080808);
    EXPECT(bind(udp, (void *)&wrong, sizeof wrong), -EADDRNOTAVAIL);
    wrong.sin_addr.s_addr = address.sin_addr.s_addr;
    EXPECT(connect(tcp, (void *)&address, sizeof address), 0);
    EXPECT(connect(tcp, (void *)&address, sizeof address), -EISCONN);
    EXPECT(recv(tcp, bytes, 4, MSG_ERRQUEUE), -EAGAIN);
    EXPECT(recv(udp, bytes, 4, MSG_ERRQUEUE), -EAGAIN);
    EXPECT(recv(tcp, bytes, 4, MSG_OOB), -EINVAL);
    EXPECT(recv(tcp, bytes, 4, MSG_DONTWAIT), -EAGAIN);
    EXPECT(recv(listener, bytes, 4, 0), -ENOTCONN);
    EXPECT(accept(tcp, 0, 0), -EINVAL);
    EXPECT(accept(udp, 0, 0), -ENOTSUP);
    EXPECT(accept(pair[0], 0, 0), -EINVAL);
    EXPECT(listen(udp, 5), -ENOTSUP);
    EXPECT(listen(tcp, 5), -EINVAL);
    length = -1;
    EXPECT(accept(listener, (void *)&other, &length), -EINVAL);
    length = 1;
    EXPECT(accept4(listener, (void *)&other, &length, 99), -EINVAL);
    EXPECT(shutdown(listener, 9), -EINVAL);
    EXPECT(shutdown(udp, 2), -ENOTCONN);
    EXPECT(shutdown(tcp, -1), -EINVAL);
    EXPECT(recvfrom(udp, bytes, 4, MSG_DONTWAIT, (void *)&other, 0), -EAGAIN);
    length = -1;
    EXPECT(recvfrom(pair[1], bytes, 4, MSG_DONTWAIT, (void *)&other, &length), -EAGAIN);
    write(pair[0], "abcd", 4);
    length = -1;
    EXPECT(recvfrom(pair[1], bytes, 4, MSG_DONTWAIT, (void *)&other, &length), -EINVAL);
    struct msghdr message = {0};
    message.msg_iovlen = 5000;
    EXPECT(sendmsg(tcp, &message, 0), -EMSGSIZE);
    message.msg_iovlen = -1;
    EXPECT(recvmsg(tcp, &message, 0), -EMSGSIZE);
    struct iovec part = {bytes, -1};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    EXPECT(sendmsg(tcp, &message, MSG_NOSIGNAL), -EINVAL);
    message.msg_iovlen = 0;
    message.msg_namelen = -1;
    message.msg_name = &other;
    EXPECT(sendmsg(udp, &message, 0), -EINVAL);
    EXPECT(recvmsg(udp, &message, MSG_DONTWAIT), -EINVAL);
    EXPECT(socket(AF_INET, 99, 0), -EINVAL);
    EXPECT(socket(99, SOCK_STREAM, 0), -EAFNOSUPPORT);
    EXPECT(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP), -EPROTONOSUPPORT);
    EXPECT(socket(AF_INET, SOCK_STREAM | 0x100, 0), -EINVAL);
    EXPECT(socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP), -EPROTONOSUPPORT);
    EXPECT(socketpair(AF_INET, SOCK_STREAM, 0, pair), -ENOTSUP);
    EXPECT(socketpair(AF_UNIX, 77, 0, pair), -EINVAL);
    CHECK(problems == 0);
    return succeed();
}

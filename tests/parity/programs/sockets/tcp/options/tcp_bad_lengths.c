// Lengths that nothing can have are EINVAL, options that no protocol has ENOPROTOOPT, and an empty queue of errors EAGAIN.
#include "inet.h"

static void check_names(int connected, int listener)
{
    struct sockaddr_storage name;
    socklen_t negative = (socklen_t)-1;

    CHECK_ERRNO(getsockname(connected, (struct sockaddr *)&name, &negative), EINVAL);
    CHECK_ERRNO(getpeername(connected, (struct sockaddr *)&name, &negative), EINVAL);
    CHECK_ERRNO(accept(listener, (struct sockaddr *)&name, &negative), EINVAL);
}

static void check_addresses(int datagrams)
{
    struct sockaddr_storage name = {0};
    struct sockaddr_in target = loopback(htons(9));

    memcpy(&name, &target, sizeof target);
    CHECK_ERRNO(sendto(datagrams, "x", 1, 0, (struct sockaddr *)&name, (socklen_t)-1), EINVAL);
    CHECK_ERRNO(sendto(datagrams, "x", 1, 0, (struct sockaddr *)&name, sizeof name + 1), EINVAL);
    CHECK_ERRNO(connect(datagrams, (struct sockaddr *)&name, (socklen_t)-1), EINVAL);
    CHECK_ERRNO(bind(datagrams, (struct sockaddr *)&name, sizeof name + 1), EINVAL);
}

static void check_option(int fd, int level, int option)
{
    int value = 1;
    socklen_t size = sizeof value;

    CHECK_ERRNO(getsockopt(fd, level, option, &value, &size), ENOPROTOOPT);
    CHECK_ERRNO(setsockopt(fd, level, option, &value, sizeof value), ENOPROTOOPT);
}

int main(void)
{
    int listener = listening_socket(2);
    int connected = connected_to(port_of(listener));
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t negative = (socklen_t)-1;
    int value;
    char byte;

    check_names(connected, listener);
    check_addresses(datagrams);
    CHECK_ERRNO(getsockopt(datagrams, SOL_SOCKET, SO_TYPE, &value, &negative), EINVAL);
    CHECK_ERRNO(getsockopt(datagrams, SOL_SOCKET, SO_ERROR, &value, &negative), EINVAL);
    check_option(datagrams, IPPROTO_IP, -1);
    check_option(datagrams, IPPROTO_IP, 999);
    check_option(datagrams, IPPROTO_UDP, 999);
    CHECK_ERRNO(recv(datagrams, &byte, 1, MSG_ERRQUEUE), EAGAIN);
    CHECK_ERRNO(recv(listener, &byte, 1, MSG_ERRQUEUE), EAGAIN);
    return succeed();
}

// Options that do not exist are refused with ENOPROTOOPT, and too short ones with EINVAL.
#include "inet.h"

int main(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int value = 1;
    socklen_t size = sizeof value;

    CHECK_ERRNO(setsockopt(fd, IPPROTO_TCP, 999, &value, sizeof value), ENOPROTOOPT);
    CHECK_ERRNO(getsockopt(fd, IPPROTO_TCP, 999, &value, &size), ENOPROTOOPT);
    CHECK_ERRNO(setsockopt(fd, SOL_SOCKET, 999, &value, sizeof value), ENOPROTOOPT);
    CHECK_ERRNO(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, 1), EINVAL);
    return succeed();
}

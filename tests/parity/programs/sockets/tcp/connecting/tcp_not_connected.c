// Calls that need a connection or a listening socket are refused at once on a fresh one.
#include "inet.h"

int main(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char data[10];

    CHECK_ERRNO(accept(fd, NULL, NULL), EINVAL);
    CHECK_ERRNO(recv(fd, data, sizeof data, 0), ENOTCONN);
    CHECK_ERRNO(read(fd, data, sizeof data), ENOTCONN);
    CHECK_ERRNO(send(fd, data, sizeof data, MSG_NOSIGNAL), EPIPE);
    CHECK_ERRNO(shutdown(fd, SHUT_WR), ENOTCONN);
    CHECK_ERRNO(socket(AF_INET, 99, 0), EINVAL);
    return succeed();
}

// A refused datagram is told by SO_ERROR, once.
#include "inet.h"

int main(void)
{
    int gone = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(gone));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    int error = -1;
    socklen_t size = sizeof error;

    CHECK(close(gone) == 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && send(fd, "x", 1, 0) == 1);
    sleep_ms(5);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNREFUSED);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
    CHECK_ERRNO(recv(fd, &error, 1, MSG_DONTWAIT), EAGAIN);
    return succeed();
}

// A send with MSG_FASTOPEN connects first; where nobody listens it is refused.
#include "inet.h"

int main(void)
{
    int listener = listening_socket(1);
    int closed = bound_socket(SOCK_STREAM);
    struct sockaddr_in to = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char data[10];
    int served;

    CHECK(sendto(fd, "early", 5, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof to) == 5);
    served = accept(listener, NULL, NULL);
    read_all(served, data, 5);
    CHECK(memcmp(data, "early", 5) == 0 && send(fd, "late", 4, 0) == 4);
    read_all(served, data, 4);
    to = loopback(port_of(closed));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_ERRNO(sendto(fd, "early", 5, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof to), ECONNREFUSED);
    return succeed();
}

// A datagram socket that has sent without being bound keeps the port, but no address: it hears what is sent to any.
#include "inet.h"

int main(void)
{
    int first = socket(AF_INET, SOCK_DGRAM, 0);
    int second = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(second));
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    char byte;

    CHECK(sendto(first, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1 && recv(second, &byte, 1, 0) == 1);
    CHECK(getsockname(first, (struct sockaddr *)&name, &size) == 0 && name.sin_addr.s_addr == INADDR_ANY);
    CHECK(name.sin_port != 0);
    name.sin_addr.s_addr = inet_addr("127.0.0.9");
    CHECK(sendto(second, "y", 1, 0, (struct sockaddr *)&name, sizeof name) == 1 && recv(first, &byte, 1, 0) == 1);
    return succeed();
}

// An unbound socket gets a port with its first send; the receiver can answer to it.
#include "inet.h"

int main(void)
{
    int server = bound_socket(SOCK_DGRAM);
    int client = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = loopback(port_of(server));
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    char data[20];

    CHECK_ERRNO(send(client, "x", 1, 0), EDESTADDRREQ);
    CHECK(sendto(client, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1);
    CHECK(recvfrom(server, data, sizeof data, 0, (struct sockaddr *)&from, &size) == 1);
    CHECK(from.sin_port == port_of(client));
    CHECK(sendto(server, "yy", 2, 0, (struct sockaddr *)&from, size) == 2);
    CHECK(recv(client, data, sizeof data, 0) == 2);
    return succeed();
}

// A datagram socket bound by the parent is read by its child.
#include "inet.h"

int main(void)
{
    int server = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(server));
    int client = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    char data[10];
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(recvfrom(server, data, sizeof data, 0, (struct sockaddr *)&from, &size) == 3);
        CHECK(sendto(server, data, 2, 0, (struct sockaddr *)&from, size) == 2);
        _exit(0);
    }
    CHECK(close(server) == 0);
    CHECK(sendto(client, "abc", 3, 0, (struct sockaddr *)&to, sizeof to) == 3);
    CHECK(recv(client, data, sizeof data, 0) == 2);
    CHECK_CHILD(child);
    return succeed();
}

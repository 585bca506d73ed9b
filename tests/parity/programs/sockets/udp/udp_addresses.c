// Datagrams carry their sender's address; an answer to it arrives.
#include "inet.h"

int main(void)
{
    int server = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(server));
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int64_t start_ns = now_ns();
    char data[20] = "";
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        int client = bound_socket(SOCK_DGRAM);

        sleep_ms(20);
        CHECK(sendto(client, "ping", 4, 0, (struct sockaddr *)&to, sizeof to) == 4);
        CHECK(recvfrom(client, data, sizeof data, 0, (struct sockaddr *)&from, &size) == 4);
        CHECK(size == sizeof from && from.sin_port == to.sin_port && memcmp(data, "pong", 4) == 0);
        _exit(0);
    }
    CHECK(recvfrom(server, data, sizeof data, 0, (struct sockaddr *)&from, &size) == 4);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(size == sizeof from && from.sin_family == AF_INET && memcmp(data, "ping", 4) == 0);
    CHECK(ntohl(from.sin_addr.s_addr) == INADDR_LOOPBACK && from.sin_port != to.sin_port);
    CHECK(sendto(server, "pong", 4, 0, (struct sockaddr *)&from, sizeof from) == 4);
    CHECK_CHILD(child);
    return succeed();
}

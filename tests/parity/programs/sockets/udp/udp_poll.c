// poll on a datagram socket waits for its timeout, or for a datagram.
#include "inet.h"

#include <poll.h>

int main(void)
{
    int server = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(server));
    struct pollfd polled = {.fd = server, .events = POLLIN};
    int64_t start_ns = now_ns();
    char data[10];
    pid_t child;

    CHECK(poll(&polled, 1, 30) == 0);
    CHECK_ELAPSED(start_ns, 30);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int client = socket(AF_INET, SOCK_DGRAM, 0);

        sleep_ms(20);
        _exit(sendto(client, "x", 1, 0, (struct sockaddr *)&to, sizeof to) != 1);
    }
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 50);
    polled.events = POLLIN | POLLOUT;
    CHECK(poll(&polled, 1, 0) == 1 && polled.revents == (POLLIN | POLLOUT));
    CHECK(recv(server, data, sizeof data, 0) == 1);
    CHECK_CHILD(child);
    return succeed();
}

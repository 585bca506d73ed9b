// A broadcast needs SO_BROADCAST, and reaches every socket that is bound to its port and to no other address.
#include "inet.h"

#include <poll.h>

static in_port_t port;

static int receiver(in_addr_t address)
{
    return udp_receiver(address, &port);
}

static int heard(int fd, const char *text)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    char data[10];

    if (poll(&polled, 1, 200) == 0)
        return 0;
    CHECK(recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &size) == (ssize_t)strlen(text));
    return memcmp(data, text, strlen(text)) == 0;
}

static void broadcast_to(const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {.s_addr = inet_addr(address)}};
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    int first, second, other;
    int on = 1;

    port = 0;
    first = receiver(INADDR_ANY);
    second = receiver(inet_addr(address));
    other = receiver(inet_addr("127.0.0.1"));
    to.sin_port = port;
    CHECK_ERRNO(sendto(sender, "no", 2, 0, (struct sockaddr *)&to, sizeof to), EACCES);
    CHECK_ERRNO(connect(sender, (struct sockaddr *)&to, sizeof to), EACCES);
    CHECK(setsockopt(sender, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) == 0);
    CHECK(sendto(sender, "all", 3, 0, (struct sockaddr *)&to, sizeof to) == 3);
    CHECK(heard(first, "all") && heard(second, "all") && !heard(other, "all"));
    CHECK(connect(sender, (struct sockaddr *)&to, sizeof to) == 0 && send(sender, "again", 5, 0) == 5);
    CHECK(heard(first, "again") && heard(second, "again") && !heard(other, "again"));
    CHECK(close(sender) == 0 && close(first) == 0 && close(second) == 0 && close(other) == 0);
}

int main(void)
{
    broadcast_to("127.255.255.255");
    if (is_emulated()) { /* natively there may be no other network */
        broadcast_to("10.0.0.255");
        broadcast_to("255.255.255.255");
    }
    return succeed();
}

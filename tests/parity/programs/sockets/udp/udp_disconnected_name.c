// A datagram socket that is connected to AF_UNSPEC keeps the address and the port that bind chose; what the kernel chose is free again.
#include "inet.h"

static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

static void check(const char *address, in_port_t port, const char *wanted_address, in_port_t wanted_port)
{
    int target = bound_socket(SOCK_DGRAM);
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in peer = loopback(port_of(target));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t size = sizeof name;
    char text[20];

    if (address != NULL) {
        CHECK(inet_pton(AF_INET, address, &name.sin_addr) == 1);
        CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    }
    CHECK(connect(fd, (struct sockaddr *)&peer, sizeof peer) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0 && name.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    CHECK(connect(fd, &nobody, sizeof nobody) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0);
    CHECK(strcmp(inet_ntop(AF_INET, &name.sin_addr, text, sizeof text), wanted_address) == 0 && name.sin_port == wanted_port);
    CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&peer, sizeof peer) == 1);
    CHECK(recv(target, text, sizeof text, 0) == 1);
    CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0);
    CHECK(name.sin_port != 0 && (wanted_port == 0 || name.sin_port == wanted_port));
    CHECK(connect(fd, (struct sockaddr *)&peer, sizeof peer) == 0 && send(fd, "y", 1, 0) == 1);
    CHECK(recv(target, text, sizeof text, 0) == 1);
    CHECK(close(fd) == 0 && close(target) == 0);
}

int main(void)
{
    int other = bound_socket(SOCK_DGRAM);
    in_port_t port = port_of(other);

    CHECK(close(other) == 0);
    check(NULL, 0, "0.0.0.0", 0);
    check("0.0.0.0", port, "0.0.0.0", port);
    check("127.0.0.1", port, "127.0.0.1", port);
    check("127.0.0.1", 0, "127.0.0.1", 0);
    return succeed();
}

/* Internet sockets on 127.0.0.1, for the parity programs that are about what happens after they exist. */
#ifndef PARITY_INET_H
#define PARITY_INET_H

#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static inline struct sockaddr_in loopback(in_port_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

/* The port, in network order, that the kernel gave this socket. */
static inline in_port_t port_of(int fd)
{
    struct sockaddr_in name;
    socklen_t size = sizeof name;

    CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0 && size == sizeof name);
    CHECK(name.sin_family == AF_INET && name.sin_port != 0);
    return name.sin_port;
}

/* A socket of this type (SOCK_STREAM, SOCK_DGRAM), bound to a free port of 127.0.0.1. */
static inline int bound_socket(int type)
{
    struct sockaddr_in name = loopback(0);
    int fd = socket(AF_INET, type, 0);

    CHECK(fd >= 0);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    return fd;
}

static inline int listening_socket(int backlog)
{
    int fd = bound_socket(SOCK_STREAM);

    CHECK(listen(fd, backlog) == 0);
    return fd;
}

static inline int connected_to(in_port_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(fd >= 0);
    CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    return fd;
}

/* A datagram socket at an address and *port (0: any, and then it is told), which others may have too. */
static inline int udp_receiver(in_addr_t address, in_port_t *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = *port, .sin_addr = {.s_addr = address}};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    int on = 1;

    CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    *port = port_of(fd);
    return fd;
}

/* Both ends of one TCP connection: the client's first. */
static inline void tcp_pair(int ends[2])
{
    int listener = listening_socket(1);

    ends[0] = connected_to(port_of(listener));
    ends[1] = accept(listener, NULL, NULL);
    CHECK(ends[1] >= 0);
    CHECK(close(listener) == 0);
}

static inline void write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);

        CHECK(written > 0);
        data += written;
        size -= written;
    }
}

static inline void read_all(int fd, char *data, size_t size)
{
    while (size > 0) {
        ssize_t got = read(fd, data, size);

        CHECK(got > 0);
        data += got;
        size -= got;
    }
}

#endif

/* What an application in C calls around its I/O phases. It needs nothing but a C library: include it, and link nothing.
 *
 *     struct io_coordinated io;
 *
 *     io_connect(&io, "ionode:7000", 3, 1500000000000, NULL);   number, nanoseconds alone (0: unknown), group
 *     io_begin(&io, size, 0);                                   waits until the phase is granted
 *     write(fd, data, size);
 *     io_end(&io);
 *
 * Each returns 0, or -1 with errno. With the address NULL nobody is asked. Messages: simunix/io_coordinator/wire.py. */
#ifndef IO_COORDINATOR_H
#define IO_COORDINATOR_H

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct io_coordinated {
    int fd;        /* -1: nobody is asked */
    uint64_t rate; /* bytes per second that the last grant allows; 0: as many as there are */
};

static inline int io_connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline int io_connect_tcp(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    int fd = -1, on = 1;

    if (getaddrinfo(host, port, &hints, &found) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    freeaddrinfo(found);
    return fd;
}

static inline int io_tell(const struct io_coordinated *io, const char *message)
{
    size_t size = strlen(message);

    return send(io->fd, message, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

/* Register at HOST:PORT or unix:PATH. `group` is a word without spaces; NULL: none. */
static inline int io_connect(struct io_coordinated *io, const char *address, unsigned number, uint64_t alone_ns,
                             const char *group)
{
    char host[256], message[256];
    const char *colon = address != NULL ? strrchr(address, ':') : NULL;

    io->fd = -1;
    io->rate = 0;
    if (address == NULL)
        return 0;
    if (colon == NULL || (size_t)(colon - address) >= sizeof host) {
        errno = EINVAL;
        return -1;
    }
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = '\0';
    io->fd = strncmp(address, "unix:", 5) == 0 ? io_connect_unix(address + 5) : io_connect_tcp(host, colon + 1);
    if (io->fd < 0)
        return -1;
    if (snprintf(message, sizeof message, "REGISTER %u %llu %s\n", number, (unsigned long long)alone_ns,
                 group != NULL ? group : "-") >= (int)sizeof message) {
        errno = EINVAL;
        return -1;
    }
    return io_tell(io, message);
}

/* Ask for an I/O phase of so many bytes, and wait until it is granted. */
static inline int io_begin(struct io_coordinated *io, uint64_t bytes, unsigned order)
{
    char message[256];
    size_t length = 0;

    if (io->fd < 0)
        return 0;
    snprintf(message, sizeof message, "REQUEST %llu %u\n", (unsigned long long)bytes, order);
    if (io_tell(io, message) != 0)
        return -1;
    do {
        ssize_t size = recv(io->fd, message + length, sizeof message - 1 - length, 0);

        if (size <= 0) {
            errno = size == 0 ? ECONNRESET : errno;
            return -1;
        }
        length += (size_t)size;
        message[length] = '\0';
    } while (strchr(message, '\n') == NULL && length < sizeof message - 1);
    if (strncmp(message, "GRANT ", 6) != 0) {
        errno = EPROTO;
        return -1;
    }
    io->rate = strtoull(message + 6, NULL, 10);
    return 0;
}

/* The I/O phase is over. */
static inline int io_end(struct io_coordinated *io)
{
    return io->fd < 0 ? 0 : io_tell(io, "RELEASE\n");
}

#endif

/* AF_UNIX names, for the parity programs about local sockets. */
#ifndef PARITY_UNIX_H
#define PARITY_UNIX_H

#include "check.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The address of a path in the current directory. */
static inline struct sockaddr_un unix_path(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    CHECK(strlen(path) < sizeof name.sun_path);
    strcpy(name.sun_path, path);
    return name;
}

static inline int unix_bound(int type, const char *path)
{
    struct sockaddr_un name = unix_path(path);
    int fd = socket(AF_UNIX, type, 0);

    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    return fd;
}

static inline int unix_connected(int type, const char *path)
{
    struct sockaddr_un name = unix_path(path);
    int fd = socket(AF_UNIX, type, 0);

    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    return fd;
}

#endif

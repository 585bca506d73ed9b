/* Brings up the loopback interface of a host's network namespace. The namespace separates the abstract AF_UNIX names of
 * hosts. The interface carries no packets, since the server emulates internet and netlink sockets. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Let every group use ping sockets, as systemd does. Emulated sockets do not use the kernel's setting. But programs
 * read this file, and its content is then correct, if this process may write it (a user namespace has few groups). */
static void open_ping_sockets(void)
{
    static const char all[] = "0 2147483647";
    int fd = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, all, sizeof all - 1) < 0)
        (void)!write(fd, "0 0", 3);
    close(fd);
}

bool network_up(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    if (fd < 0)
        return control_failed("cannot make a socket for", "lo");
    open_ping_sockets();
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    done = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return done || control_failed("cannot bring up", "lo");
}

/* The loopback interface of a host's network namespace. The namespace keeps the hosts' abstract AF_UNIX names apart; the
 * interface carries nothing, since internet and netlink sockets are emulated by the server. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

bool network_up(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    if (fd < 0)
        return setup_failed("cannot make a socket for", "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    done = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return done || setup_failed("cannot bring up", "lo");
}

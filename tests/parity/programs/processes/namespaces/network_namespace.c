// In a network namespace of its own a program has a loopback, whose ports are others than outside, and no way to anybody; sockets that
// were made outside stay there; abstract names of AF_UNIX are apart.
#include "namespaces.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PORT 24680

static const struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = 0x6860, .sin_addr.s_addr = 0x0100007f};

static int listener(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(here.sin_port == htons(PORT));
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 5) == 0);
    return fd;
}

static int client(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    return fd;
}

static struct sockaddr_un abstract(socklen_t *size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0network namespace test"};

    *size = offsetof(struct sockaddr_un, sun_path) + 23;
    return address;
}

static void talk(int server)
{
    int caller = client();
    int served;
    char byte = 0;

    CHECK(connect(caller, (const struct sockaddr *)&here, sizeof here) == 0);
    served = accept(server, NULL, NULL);
    CHECK(served >= 0 && write(caller, "x", 1) == 1 && read(served, &byte, 1) == 1 && byte == 'x');
    CHECK(close(caller) == 0 && close(served) == 0);
}

static void inside(int outside)
{
    struct sockaddr_in far = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = inet_addr("10.0.0.1")};
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    socklen_t size;
    struct sockaddr_un name = abstract(&size);
    char eth[IF_NAMESIZE];
    int fd;

    CHECK(if_nametoindex("lo") == 1 && if_indextoname(2, eth) == NULL);
    fd = client();
    CHECK(ioctl(fd, SIOCSIFFLAGS, &lo) == 0);
    CHECK_ERRNO(connect(fd, (const struct sockaddr *)&here, sizeof here), ECONNREFUSED);
    CHECK_ERRNO(connect(client(), (const struct sockaddr *)&far, sizeof far), ENETUNREACH);
    CHECK((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0);
    CHECK_ERRNO(connect(fd, (const struct sockaddr *)&name, size), ECONNREFUSED);
    talk(listener());
    CHECK_ERRNO(connect(outside, (const struct sockaddr *)&here, sizeof here), EISCONN);
    CHECK(write(outside, "y", 1) == 1); /* made before: it is where it was */
    _exit(0);
}

int main(void)
{
    socklen_t size;
    struct sockaddr_un name = abstract(&size);
    int server = listener();
    int named = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int caller = client();
    int served;
    char byte;
    pid_t child;

    CHECK(named >= 0 && bind(named, (const struct sockaddr *)&name, size) == 0 && listen(named, 1) == 0);
    CHECK(connect(caller, (const struct sockaddr *)&here, sizeof here) == 0 && (served = accept(server, NULL, NULL)) >= 0);
    child = birth(needed_flags() | CLONE_NEWNET);
    CHECK(child >= 0);
    if (child == 0)
        inside(caller);
    CHECK(read(served, &byte, 1) == 1 && byte == 'y');
    CHECK_CHILD(child);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(unshare(needed_flags() | CLONE_NEWNET) == 0);
        inside(caller);
    }
    CHECK_CHILD(child);
    talk(server);
    return succeed();
}

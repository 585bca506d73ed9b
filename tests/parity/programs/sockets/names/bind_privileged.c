// A port below net.ipv4.ip_unprivileged_port_start needs CAP_NET_BIND_SERVICE (ip(7)), of TCP and UDP, IPv4 and IPv6. IPv4 first looks
// whether the address is the host's, IPv6 does not.
#include "inet.h"

#include <linux/capability.h>
#include <sys/syscall.h>

static int first_free_port(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "r");
    int port;

    CHECK(file != NULL && fscanf(file, "%d", &port) == 1 && fclose(file) == 0);
    return port;
}

static void drop_capability(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];

    CHECK(syscall(SYS_capget, &header, sets) == 0);
    sets[0].effective &= ~(1U << CAP_NET_BIND_SERVICE);
    CHECK(syscall(SYS_capset, &header, sets) == 0);
}

/* The errno of a bind, 0 if it succeeds or another socket has the port. */
static int bind_4(int type, const char *address, int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, type, 0);
    int result;

    CHECK(fd >= 0 && inet_pton(AF_INET, address, &name.sin_addr) == 1);
    result = bind(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno == EADDRINUSE ? 0 : errno;
    CHECK(close(fd) == 0);
    return result;
}

static int bind_6(int type, const char *address, int port)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    int fd = socket(AF_INET6, type, 0);
    int result;

    CHECK(fd >= 0 && inet_pton(AF_INET6, address, &name.sin6_addr) == 1);
    result = bind(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno == EADDRINUSE ? 0 : errno;
    CHECK(close(fd) == 0);
    return result;
}

int main(void)
{
    int first = first_free_port();
    int types[] = {SOCK_STREAM, SOCK_DGRAM};

    drop_capability();
    for (int i = 0; i < 2; i++) {
        CHECK(bind_4(types[i], "127.0.0.1", 0) == 0 && bind_6(types[i], "::1", 0) == 0);
        CHECK(bind_4(types[i], "127.0.0.1", first > 0 ? first : 1) == 0);
        CHECK(bind_6(types[i], "::1", first > 0 ? first : 1) == 0);
        if (first <= 1)
            continue;
        CHECK(bind_4(types[i], "127.0.0.1", first - 1) == EACCES && bind_4(types[i], "0.0.0.0", 1) == EACCES);
        CHECK(bind_6(types[i], "::1", first - 1) == EACCES && bind_6(types[i], "::", 1) == EACCES);
        CHECK(bind_4(types[i], "192.0.2.1", first - 1) == EADDRNOTAVAIL);
        CHECK(bind_6(types[i], "2001:db8::1", first - 1) == EACCES);
    }
    return succeed();
}

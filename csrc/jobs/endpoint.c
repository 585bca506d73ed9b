/* Addresses, and whole messages over a blocking descriptor. */
#include "job.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

void read_all(int fd, void *data, size_t size, const char *who)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)data + done, size - done);

        if (got == 0)
            fail("%s is gone", who);
        if (got < 0 && errno != EINTR)
            fail("%s does not answer: %m", who);
        done += got > 0 ? (size_t)got : 0;
    }
}

void write_all(int fd, const void *data, size_t size, const char *who)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)data + done, size - done);

        if (put < 0 && errno != EINTR)
            fail("%s cannot be told: %m", who);
        done += put > 0 ? (size_t)put : 0;
    }
}

/* Return the first IPv4 address of a host, or else its first address: a host "localhost" has ::1 as well, at which no
 * storage listens. */
struct endpoint endpoint_of(const char *host, const char *port)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found, *best;
    struct endpoint endpoint = {0};
    int error = getaddrinfo(host, port, &wanted, &found);

    if (error != 0)
        fail("%s port %s: %s", host, port, gai_strerror(error));
    for (best = found; best != NULL && best->ai_family != AF_INET; best = best->ai_next)
        ;
    best = best != NULL ? best : found;
    memcpy(&endpoint.address, best->ai_addr, best->ai_addrlen);
    endpoint.length = best->ai_addrlen;
    freeaddrinfo(found);
    return endpoint;
}

void endpoint_set_port(struct endpoint *endpoint, uint16_t port)
{
    if (endpoint->address.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&endpoint->address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&endpoint->address)->sin_port = htons(port);
}

/* Write address and port as numbers in text, without a look-up. `host` has room for 64 bytes, `port` for 16. */
void endpoint_numbers(const struct endpoint *endpoint, char *host, char *port)
{
    if (getnameinfo((const struct sockaddr *)&endpoint->address, endpoint->length, host, 64, port, 16,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        fail("an address cannot be written");
}

bool endpoint_is_loopback(const struct endpoint *endpoint)
{
    const struct sockaddr_in *address = (const struct sockaddr_in *)&endpoint->address;

    if (endpoint->address.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&endpoint->address)->sin6_addr);
    return address->sin_family == AF_INET && ntohl(address->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

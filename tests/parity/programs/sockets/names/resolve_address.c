// getnameinfo gives numbers, and for 127.0.0.1 a name that resolves back.
#include "inet.h"

#include <netdb.h>

int main(void)
{
    struct sockaddr_in name = loopback(htons(6817));
    struct addrinfo hints = {.ai_family = AF_INET};
    struct addrinfo *found;
    char host[200], service[40];

    CHECK(getnameinfo((void *)&name, sizeof name, host, sizeof host, service, sizeof service,
                      NI_NUMERICHOST | NI_NUMERICSERV) == 0);
    CHECK(strcmp(host, "127.0.0.1") == 0 && strcmp(service, "6817") == 0);
    CHECK(getnameinfo((void *)&name, sizeof name, host, sizeof host, NULL, 0, NI_NAMEREQD) == 0);
    CHECK(getaddrinfo(host, NULL, &hints, &found) == 0);
    CHECK(ntohl(((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr.s_addr) >> 24 == 127);
    freeaddrinfo(found);
    return succeed();
}

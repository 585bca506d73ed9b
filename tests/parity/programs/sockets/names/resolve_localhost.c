// getaddrinfo and gethostbyname find localhost, numbers and services; what does not exist is not found.
#include "inet.h"

#include <netdb.h>

int main(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    struct sockaddr_in *name;
    struct hostent *host;

    CHECK(getaddrinfo("localhost", "80", &hints, &found) == 0);
    name = (void *)found->ai_addr;
    CHECK(name->sin_family == AF_INET && name->sin_port == htons(80));
    CHECK(ntohl(name->sin_addr.s_addr) >> 24 == 127);
    freeaddrinfo(found);
    hints.ai_flags = AI_NUMERICHOST;
    CHECK(getaddrinfo("10.1.2.3", NULL, &hints, &found) == 0);
    name = (void *)found->ai_addr;
    CHECK(ntohl(name->sin_addr.s_addr) == 0x0a010203);
    freeaddrinfo(found);
    CHECK(getaddrinfo("not.numeric", NULL, &hints, &found) == EAI_NONAME);
    host = gethostbyname("localhost");
    CHECK(host != NULL && host->h_addrtype == AF_INET && host->h_length == 4 && host->h_addr_list[0] != NULL);
    return succeed();
}

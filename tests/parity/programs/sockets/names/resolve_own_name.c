// The host's own name resolves to an address that can be bound and connected to.
#include "inet.h"

#include <netdb.h>

int main(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    char own[100];
    struct hostent *host;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(gethostname(own, sizeof own) == 0);
    host = gethostbyname(own);
    CHECK(host != NULL && host->h_addrtype == AF_INET && host->h_addr_list[0] != NULL);
    memcpy(&name.sin_addr, host->h_addr_list[0], 4);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&name, &size) == 0);
    CHECK(connect(client, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(accept(listener, NULL, NULL) >= 0);
    return succeed();
}

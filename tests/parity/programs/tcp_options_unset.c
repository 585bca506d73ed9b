// Options whose value is as long as what was set are empty before: sshd refuses a peer that has any IP options.
#include "inet.h"

int main(void)
{
    char options[40];
    socklen_t size = sizeof options;
    int ends[2];

    tcp_pair(ends);
    CHECK(getsockopt(ends[1], IPPROTO_IP, IP_OPTIONS, options, &size) == 0 && size == 0);
    return succeed();
}

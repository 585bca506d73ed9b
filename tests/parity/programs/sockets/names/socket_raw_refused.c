// Raw sockets are refused as to a process without CAP_NET_RAW, and simunix says so.
// native: no (whether there are any depends on the user's privileges)
// warns: socket(SOCK_RAW) was refused
#include "inet.h"

int main(void)
{
    CHECK_ERRNO(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), EPERM);
    CHECK_ERRNO(socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6), EPERM);
    CHECK_ERRNO(socket(AF_INET, SOCK_RAW, IPPROTO_RAW), EPERM);
    return succeed();
}

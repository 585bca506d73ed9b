// Raw sockets for other protocols than ICMP are refused as to a process without CAP_NET_RAW, and simunix says so.
// native: no (whether there are any depends on the user's privileges)
// warns: socket(SOCK_RAW, of another protocol than ICMP) was refused
#include "inet.h"

int main(void)
{
    CHECK_ERRNO(socket(AF_INET, SOCK_RAW, IPPROTO_TCP), EPERM);
    CHECK_ERRNO(socket(AF_INET6, SOCK_RAW, IPPROTO_ICMP), EPERM);
    CHECK_ERRNO(socket(AF_INET, SOCK_RAW, IPPROTO_RAW), EPERM);
    return succeed();
}

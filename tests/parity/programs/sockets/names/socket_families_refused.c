// Sockets that would reach this computer's own network, devices or kernel modules are refused, each by its name; numbers that no
// kernel knows are refused without a word.
// native: no (which families there are depends on this computer's kernel)
// warns: was refused
#include "check.h"

#include <sys/socket.h>

int main(void)
{
    static const int families[] = {AF_PACKET, AF_ALG, AF_BLUETOOTH, AF_CAN, AF_TIPC, AF_KEY, AF_XDP, AF_RDS, 46, 1000, -1};

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        CHECK_ERRNO(socket(families[i], SOCK_RAW, 0), EAFNOSUPPORT);
    return succeed();
}

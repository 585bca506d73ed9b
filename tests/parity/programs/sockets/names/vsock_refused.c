// An emulated host is no virtual machine: it has neither the VSOCK family nor its device.
// native: no (whether this computer is a virtual machine is its own affair)
// warns: socket(AF_VSOCK) was refused
#include "check.h"

#include <sys/socket.h>

int main(void)
{
    CHECK_ERRNO(socket(AF_VSOCK, SOCK_STREAM, 0), EAFNOSUPPORT);
    CHECK(open("/dev/vsock", O_RDONLY) == -1 && (errno == ENODEV || errno == ENOENT));
    return succeed();
}

// accept4 sets close-on-exec and non-blocking on the new socket only; plain accept inherits neither.
// musl: no (musl checks the flags of accept4 by itself)
#include "inet.h"

int main(void)
{
    int listener = listening_socket(5);
    in_port_t port = port_of(listener);
    int one, two;

    connected_to(port);
    connected_to(port);
    one = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    CHECK(one >= 0 && fcntl(one, F_GETFD) == FD_CLOEXEC && (fcntl(one, F_GETFL) & O_NONBLOCK));
    CHECK(fcntl(listener, F_GETFD) == 0 && !(fcntl(listener, F_GETFL) & O_NONBLOCK));
    CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    two = accept(listener, NULL, NULL);
    CHECK(two >= 0 && fcntl(two, F_GETFD) == 0 && !(fcntl(two, F_GETFL) & O_NONBLOCK));
    CHECK_ERRNO(accept(listener, NULL, NULL), EAGAIN);
    CHECK_ERRNO(accept4(listener, NULL, NULL, 0x123), EINVAL);
    return succeed();
}

// Who did not wait for a connect that was refused hears of it from the next connect, and may then try again.
#include "inet.h"

int main(void)
{
    int listener = bound_socket(SOCK_STREAM);
    struct sockaddr_in name = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    sleep_ms(1);
    CHECK(listen(listener, 1) == 0);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), ECONNREFUSED);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(accept(listener, NULL, NULL) >= 0);
    return succeed();
}

// A socket whose connect was refused can be connected again.
#include "inet.h"

int main(void)
{
    int listener = bound_socket(SOCK_STREAM);
    struct sockaddr_in name = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char byte;

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), ECONNREFUSED);
    CHECK(listen(listener, 1) == 0);
    CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    write_all(fd, "x", 1);
    CHECK(read(accept(listener, NULL, NULL), &byte, 1) == 1);
    return succeed();
}

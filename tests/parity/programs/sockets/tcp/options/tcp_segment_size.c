// TCP_MAXSEG takes 0 and what Linux allows; anything else is refused and changes nothing.
#include "inet.h"

#include <netinet/tcp.h>

static int set_size(int fd, int size)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &size, sizeof size);
}

static int size_of(int fd)
{
    int size = 0;
    socklen_t length = sizeof size;

    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &size, &length) == 0 && length == sizeof size);
    return size;
}

int main(void)
{
    static const int refused[] = {-5, 1, 87, 32768, 40000, INT32_MAX, INT32_MIN};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(size_of(fd) == 536);
    CHECK(set_size(fd, 1000) == 0 && size_of(fd) == 1000);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        CHECK(set_size(fd, refused[i]) == -1 && errno == EINVAL);
        CHECK(size_of(fd) == 1000);
    }
    CHECK(set_size(fd, 88) == 0 && size_of(fd) == 88);
    CHECK(set_size(fd, 32767) == 0 && size_of(fd) == 32767);
    CHECK(set_size(fd, 0) == 0 && size_of(fd) == 536);
    return succeed();
}

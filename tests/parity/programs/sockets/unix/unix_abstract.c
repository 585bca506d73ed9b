// Abstract names: bound, connected to, told by getsockname, taken only once, free after the close.
#include "unix.h"

int main(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct sockaddr_un told;
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "parity-%d", getpid());
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1 + length;
    socklen_t told_size = sizeof told;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int other = socket(AF_UNIX, SOCK_STREAM, 0);

    CHECK_ERRNO(connect(other, (struct sockaddr *)&name, size), ECONNREFUSED);
    CHECK(bind(listener, (struct sockaddr *)&name, size) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&told, &told_size) == 0);
    CHECK(told_size == size && memcmp(&told, &name, size) == 0);
    CHECK_ERRNO(bind(other, (struct sockaddr *)&name, size), EADDRINUSE);
    CHECK(connect(other, (struct sockaddr *)&name, size) == 0);
    CHECK(accept(listener, NULL, NULL) >= 0);
    CHECK(close(listener) == 0);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&name, size) == 0);
    return succeed();
}

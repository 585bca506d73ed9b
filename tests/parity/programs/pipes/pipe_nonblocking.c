// With O_NONBLOCK an empty pipe and a full one say EAGAIN, at once; a large write is cut.
#include "check.h"

static char data[1 << 20];

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    ssize_t written;
    int capacity;
    char byte;

    CHECK(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    CHECK(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
    CHECK_ERRNO(read(ends[0], &byte, 1), EAGAIN);
    capacity = fcntl(ends[1], F_GETPIPE_SZ);
    CHECK(capacity >= 4096);
    written = write(ends[1], data, sizeof data);
    CHECK(written == capacity);
    CHECK_ERRNO(write(ends[1], data, 1), EAGAIN);
    CHECK(read(ends[0], data, 4096) == 4096);
    CHECK(write(ends[1], data, 4096) == 4096);
    CHECK_ELAPSED(start_ns, 0);
    return succeed();
}

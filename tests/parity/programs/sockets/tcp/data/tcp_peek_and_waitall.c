// MSG_PEEK leaves the data, MSG_WAITALL waits for all of it, MSG_DONTWAIT for none, FIONREAD counts it.
#include "inet.h"

#include <sys/ioctl.h>

int main(void)
{
    int64_t start_ns;
    int ends[2];
    char data[10];
    int count = -1;
    pid_t child;

    tcp_pair(ends);
    CHECK_ERRNO(recv(ends[0], data, 1, MSG_DONTWAIT), EAGAIN);
    start_ns = now_ns();
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        write_all(ends[1], "first", 5);
        sleep_ms(30);
        write_all(ends[1], "later", 5);
        _exit(0);
    }
    CHECK(recv(ends[0], data, 10, MSG_PEEK) == 5 && memcmp(data, "first", 5) == 0);
    CHECK(ioctl(ends[0], FIONREAD, &count) == 0 && count == 5);
    memset(data, 0, sizeof data);
    CHECK(recv(ends[0], data, 10, MSG_WAITALL) == 10 && memcmp(data, "firstlater", 10) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(ioctl(ends[0], FIONREAD, &count) == 0 && count == 0);
    CHECK_CHILD(child);
    CHECK(close(ends[1]) == 0);
    CHECK(recv(ends[0], data, 10, MSG_WAITALL) == 0);
    return succeed();
}

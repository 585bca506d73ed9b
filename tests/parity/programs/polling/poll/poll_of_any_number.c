// poll of numbers that no descriptor has says POLLNVAL at once, and select says EBADF, whatever the number.
// native: slow
#include "check.h"

#include <poll.h>
#include <sys/select.h>

int main(void)
{
    struct pollfd all[1024];
    int64_t start_ns = now_ns();
    struct timeval second = {1, 0};
    fd_set set;

    for (int i = 0; i < 1024; i++)
        all[i] = (struct pollfd){.fd = 100 + 2 * i, .events = POLLIN | POLLOUT};
    CHECK(poll(all, 1024, 1000) == 1024);
    for (int i = 0; i < 1024; i++)
        CHECK(all[i].revents == POLLNVAL);
    for (int i = 1000; i < 1100; i++) {
        struct pollfd one = {.fd = i, .events = POLLIN};

        CHECK(poll(&one, 1, 1000) == 1 && one.revents == POLLNVAL);
        CHECK(poll(&one, 1, -1) == 1 && one.revents == POLLNVAL);
    }
    FD_ZERO(&set);
    FD_SET(900, &set);
    CHECK(select(0, &set, NULL, NULL, &second) == 0);
    CHECK(now_ns() - start_ns < 1100 * MS);
    return succeed();
}

// An eventfd that is writable may yet make a large write wait.
#include "check.h"

#include <sys/eventfd.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int fd = eventfd(0, 0);
    uint64_t value;
    pid_t child;

    CHECK(fd >= 0 && eventfd_write(fd, UINT64_MAX - 3) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(eventfd_write(fd, 5) == 0);
        CHECK_ELAPSED(start_ns, 20);
        _exit(0);
    }
    sleep_ms(20);
    CHECK(eventfd_read(fd, &value) == 0 && value == UINT64_MAX - 3);
    CHECK(eventfd_read(fd, &value) == 0 && value == 5);
    CHECK_CHILD(child);
    return succeed();
}

// An eventfd adds up, waits at zero and when full, and counts down one by one as a semaphore.
#include "check.h"

#include <sys/eventfd.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int fd = eventfd(3, 0);
    int semaphore = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    uint64_t value = 4;
    pid_t child;

    CHECK(fd >= 0 && semaphore >= 0);
    CHECK(write(fd, &value, sizeof value) == sizeof value);
    CHECK(read(fd, &value, sizeof value) == sizeof value && value == 7);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(eventfd_write(fd, 1) == 0);
        sleep_ms(5);
        CHECK(eventfd_write(fd, UINT64_MAX - 1) == 0);
        CHECK(eventfd_write(fd, 1) == 0); /* waits until the counter has been read */
        CHECK_ELAPSED(start_ns, 40);
        _exit(0);
    }
    CHECK(eventfd_read(fd, &value) == 0 && value == 1);
    CHECK_ELAPSED(start_ns, 20);
    sleep_ms(20);
    CHECK(eventfd_read(fd, &value) == 0 && value == UINT64_MAX - 1);
    CHECK(eventfd_read(fd, &value) == 0 && value == 1);
    CHECK_CHILD(child);
    CHECK(eventfd_read(semaphore, &value) == 0 && value == 1);
    CHECK(eventfd_read(semaphore, &value) == 0 && value == 1);
    CHECK_ERRNO(eventfd_read(semaphore, &value), EAGAIN);
    return succeed();
}

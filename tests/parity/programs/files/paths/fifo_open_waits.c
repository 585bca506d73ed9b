// Opening a FIFO waits for the other end, unless told not to wait.
#include "check.h"

#include <sys/stat.h>

int main(void)
{
    int64_t start_ns = now_ns();
    char byte;
    pid_t child;
    int fd;

    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK_ERRNO(open("fifo", O_WRONLY | O_NONBLOCK), ENXIO);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        fd = open("fifo", O_WRONLY);
        CHECK(fd >= 0 && write(fd, "x", 1) == 1);
        _exit(0);
    }
    fd = open("fifo", O_RDONLY);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 1);
    CHECK_CHILD(child);
    CHECK(read(fd, &byte, 1) == 0);
    CHECK(close(fd) == 0);
    fd = open("fifo", O_RDONLY | O_NONBLOCK);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 0);
    return succeed();
}

// F_SETLKW waits for another process's record lock and F_GETLK tells who holds it; F_SETLK does not wait.
#include "check.h"

int main(void)
{
    struct flock write_lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
    struct flock asked = write_lock;
    int64_t start_ns = now_ns();
    int fd = open("lock", O_CREAT | O_RDWR, 0600);
    int ends[2];
    char byte;
    pid_t child;

    CHECK(fd >= 0 && pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(fcntl(fd, F_SETLK, &write_lock) == 0);
        CHECK(write(ends[1], "x", 1) == 1);
        sleep_ms(30);
        _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(fcntl(fd, F_GETLK, &asked) == 0 && asked.l_type == F_WRLCK && asked.l_pid == child);
    CHECK_ERRNO(fcntl(fd, F_SETLK, &write_lock), EAGAIN);
    CHECK(fcntl(fd, F_SETLKW, &write_lock) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(lseek(fd, 10, SEEK_SET) == 10 && lockf(fd, F_ULOCK, 5) == 0);
    CHECK_CHILD(child);
    return succeed();
}

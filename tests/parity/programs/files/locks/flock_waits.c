// flock waits for another process's exclusive lock; shared ones go together; LOCK_NB does not wait.
#include "check.h"

#include <sys/file.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    char byte;
    pid_t child;
    int fd;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        fd = open("lock", O_CREAT | O_RDWR, 0600);
        CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
        CHECK(write(ends[1], "x", 1) == 1);
        sleep_ms(30);
        CHECK(flock(fd, LOCK_SH) == 0);
        sleep_ms(30);
        _exit(0); /* gives the lock up */
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    fd = open("lock", O_RDWR);
    CHECK_ERRNO(flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    CHECK(flock(fd, LOCK_SH) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(flock(fd, LOCK_EX) == 0);
    CHECK_ELAPSED(start_ns, 60);
    CHECK_CHILD(child);
    return succeed();
}

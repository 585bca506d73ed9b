// A lock that is held for seven and a half seconds is had as soon as it is free, in each of the three kinds.
// virtual: 22
#include "check.h"

#include <sys/file.h>

static int lock_by(int kind, int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (kind == 0)
        return flock(fd, LOCK_EX);
    return fcntl(fd, kind == 1 ? F_SETLKW : F_OFD_SETLKW, &whole);
}

int main(void)
{
    for (int kind = 0; kind < 3; kind++) {
        int64_t start_ns = now_ns();
        pid_t child = fork();
        int fd;

        CHECK(child >= 0);
        fd = open("lock", O_CREAT | O_RDWR, 0600);
        if (child == 0) {
            CHECK(fd >= 0 && lock_by(kind, fd) == 0);
            sleep_ms(7500);
            _exit(0);
        }
        sleep_ms(10);
        CHECK(lock_by(kind, fd) == 0);
        CHECK_ELAPSED(start_ns, 7500);
        CHECK_CHILD(child);
        CHECK(close(fd) == 0);
    }
    return succeed();
}

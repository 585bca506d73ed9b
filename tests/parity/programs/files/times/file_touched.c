// touch gives a file the time that the clock shows, and stat's time stamps can be set to others.
// virtual: 10
#include "check.h"

int main(void)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    struct stat file;
    time_t before_s;
    int fd = open("touched", O_CREAT | O_WRONLY, 0600);

    CHECK(fd >= 0 && sleep(10) == 0);
    before_s = time(NULL) - 1; /* the kernel stamps with a coarse clock */
    CHECK(futimens(fd, times) == 0 && fstat(fd, &file) == 0);
    CHECK(file.st_mtime >= before_s && file.st_mtime <= time(NULL) + 1);
    CHECK(file.st_atime >= before_s && file.st_atime <= time(NULL) + 1);
    times[1] = (struct timespec){.tv_sec = 1234567890};
    CHECK(futimens(fd, times) == 0 && fstat(fd, &file) == 0 && file.st_mtime == 1234567890);
    return succeed();
}

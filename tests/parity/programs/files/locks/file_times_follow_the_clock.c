// A file written after a sleep carries a modification time within what the clock said around the write.
// virtual: 10
#include "check.h"

#include <sys/stat.h>

int main(void)
{
    struct stat file;
    time_t before_s, after_s;
    int fd;

    CHECK(sleep(10) == 0);
    before_s = time(NULL) - 1; /* the kernel stamps with a coarse clock */
    fd = open("stamped", O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
    after_s = time(NULL) + 1;
    CHECK(stat("stamped", &file) == 0);
    CHECK(file.st_mtime >= before_s && file.st_mtime <= after_s);
    return succeed();
}

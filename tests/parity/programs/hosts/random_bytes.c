// Random bytes come from every source, and differ from call to call and from parent to child.
#include "check.h"

#include <sys/auxv.h>
#include <sys/random.h>

int main(void)
{
    char one[16] = "", other[16] = "", device[16] = "", childs[16];
    int fd = open("/dev/urandom", O_RDONLY);
    int ends[2];
    pid_t child;

    CHECK(getrandom(one, sizeof one, 0) == sizeof one && getentropy(other, sizeof other) == 0);
    CHECK(fd >= 0 && read(fd, device, sizeof device) == sizeof device);
    CHECK(memcmp(one, other, 16) != 0 && memcmp(one, device, 16) != 0 && memcmp(other, device, 16) != 0);
    CHECK(getauxval(AT_RANDOM) != 0);
    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(getrandom(one, sizeof one, GRND_NONBLOCK) == sizeof one);
        _exit(write(ends[1], one, sizeof one) != sizeof one);
    }
    CHECK(getrandom(one, sizeof one, 0) == sizeof one);
    CHECK(read(ends[0], childs, sizeof childs) == sizeof childs && memcmp(one, childs, 16) != 0);
    CHECK_CHILD(child);
    return succeed();
}

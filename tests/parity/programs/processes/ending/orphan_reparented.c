// A grandchild whose parent dies goes to the nearest subreaper, which can wait for it.
#include "check.h"

#include <sys/prctl.h>

int main(void)
{
    pid_t self = getpid();
    pid_t child, grandchild;
    int ends[2];
    int status;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pid_t middle = getpid();

        grandchild = fork();
        CHECK(grandchild >= 0);
        if (grandchild == 0) {
            CHECK(getppid() == middle);
            do /* a busy computer may let the middle one die late */
                sleep_ms(30);
            while (getppid() == middle);
            CHECK(getppid() == self);
            _exit(6);
        }
        CHECK(write(ends[1], &grandchild, sizeof grandchild) == sizeof grandchild);
        sleep_ms(15);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(read(ends[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    CHECK(wait(&status) == grandchild && WEXITSTATUS(status) == 6);
    return succeed();
}

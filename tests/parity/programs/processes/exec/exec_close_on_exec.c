// Of a pipe's two copies, the one marked close-on-exec is closed by exec, the other not.
#include "check.h"

int main(int count, char **arguments)
{
    char numbers[2][20];
    int ends[2];
    int kept;

    if (count == 3) {
        CHECK_ERRNO(fcntl(atoi(arguments[1]), F_GETFD), EBADF);
        CHECK(write(atoi(arguments[2]), "x", 1) == 1);
        return succeed();
    }
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    kept = dup(ends[1]);
    CHECK(kept >= 0 && fcntl(kept, F_GETFD) == 0);
    CHECK(dup3(ends[0], 50, O_CLOEXEC) == 50 && fcntl(50, F_GETFD) == FD_CLOEXEC);
    CHECK(fcntl(50, F_SETFD, 0) == 0);
    snprintf(numbers[0], sizeof *numbers, "%d", ends[1]);
    snprintf(numbers[1], sizeof *numbers, "%d", kept);
    execl("/proc/self/exe", arguments[0], numbers[0], numbers[1], NULL);
    CHECK(!"exec returned");
}

// A process that is stopped by its terminal's signal in the very moment when its own wait ends stops before it does anything.
#include "check.h"

int main(void)
{
    int ends[2];
    char byte;
    int status;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setpgid(0, 0) == 0); /* a group that nobody outside has a child in is orphaned, and does not stop */
        close(ends[1]);
        CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
        CHECK(read(ends[0], &byte, 1) == 0);
        _exit(0);
    }
    close(ends[0]);
    sleep_ms(5);
    CHECK(write(ends[1], "x", 1) == 1 && kill(child, SIGTSTP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(close(ends[1]) == 0);
    CHECK_CHILD(child);
    return succeed();
}

// An exec that fails leaves the program as it was: no such file, not executable, a directory, not a program.
#include "check.h"

extern char **environ;

int main(void)
{
    char *arguments[] = {"nothing", NULL};
    int64_t start_ns;
    int fd = open("text", O_CREAT | O_WRONLY, 0600);

    CHECK(fd >= 0 && write(fd, "no program", 10) == 10 && close(fd) == 0);
    CHECK_ERRNO(execve("/does/not/exist", arguments, environ), ENOENT);
    CHECK_ERRNO(execve("text", arguments, environ), EACCES);
    CHECK_ERRNO(execve("/tmp", arguments, environ), EACCES);
    CHECK(chmod("text", 0700) == 0);
    CHECK_ERRNO(execve("text", arguments, environ), ENOEXEC);
    start_ns = now_ns();
    sleep_ms(10);
    CHECK_ELAPSED(start_ns, 10);
    return succeed();
}

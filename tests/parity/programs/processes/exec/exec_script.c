// A script with an interpreter line is run by that interpreter, in the same time.
#include "check.h"

int main(void)
{
    const char *script = "#!/bin/sh -e\nsleep 0.03\nread line\ntest \"$line\" = \"$1\"\nexit 3\n";
    int64_t start_ns = now_ns();
    int fd = open("script", O_CREAT | O_WRONLY, 0700);
    int ends[2];
    int status;
    pid_t child;

    CHECK(fd >= 0 && write(fd, script, strlen(script)) > 0 && close(fd) == 0);
    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dup2(ends[0], 0) == 0 && close(ends[1]) == 0);
        execl("./script", "script", "word", NULL);
        _exit(127);
    }
    CHECK(write(ends[1], "word\n", 5) == 5);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

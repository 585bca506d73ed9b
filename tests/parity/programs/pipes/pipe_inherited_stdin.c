// A pipe put on a child's standard input and output with dup2, through a real filter program.
#include "check.h"

int main(void)
{
    int in[2], out[2];
    char data[20] = "";
    pid_t child;

    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dup2(in[0], STDIN_FILENO) == STDIN_FILENO && dup2(out[1], STDOUT_FILENO) == STDOUT_FILENO);
        execlp("tr", "tr", "a-z", "A-Z", NULL);
        _exit(127);
    }
    CHECK(close(in[0]) == 0 && close(out[1]) == 0);
    CHECK(write(in[1], "quiet\n", 6) == 6 && close(in[1]) == 0);
    CHECK(read(out[0], data, sizeof data) == 6 && strcmp(data, "QUIET\n") == 0);
    CHECK(read(out[0], data, sizeof data) == 0);
    CHECK_CHILD(child);
    return succeed();
}

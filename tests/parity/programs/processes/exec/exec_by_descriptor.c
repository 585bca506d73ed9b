// fexecve runs the program that a descriptor stands for.
#include "check.h"

extern char **environ;

int main(void)
{
    char *arguments[] = {"sleep", "0.02", NULL};
    int64_t start_ns = now_ns();
    int program = open("/bin/sleep", O_RDONLY | O_CLOEXEC);
    pid_t child = fork();

    CHECK(program >= 0 && child >= 0);
    if (child == 0) {
        fexecve(program, arguments, environ);
        _exit(127);
    }
    CHECK_CHILD(child);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}

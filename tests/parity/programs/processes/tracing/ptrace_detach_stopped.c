// A program that begins traced is left stopped for a debugger, as slurmstepd leaves tasks (SIGSTOP, then PTRACE_DETACH).
#include "check.h"

#include <sys/ptrace.h>

int main(int argc, char **argv)
{
    int status;
    pid_t child;

    if (argc > 1)
        return 5;
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
        execl(argv[0], argv[0], "again", NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    sleep_ms(20);
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return succeed();
}

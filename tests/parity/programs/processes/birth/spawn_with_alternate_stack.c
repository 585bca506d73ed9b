// posix_spawn, system and popen in a process that has an alternate signal stack: the child borrows the memory, not that stack.
#include "check.h"

#include <spawn.h>

extern char **environ;

static volatile sig_atomic_t handled;

static void handler(int number)
{
    handled = number;
}

int main(void)
{
    char *arguments[] = {"sh", "-c", "sleep 0.01; exit 4", NULL};
    stack_t stack = {.ss_size = 4 * SIGSTKSZ};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    stack_t kept;

    stack.ss_sp = malloc(stack.ss_size);
    CHECK(stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    for (int round = 0; round < 5; round++) {
        int status;
        pid_t child;
        FILE *pipe;

        CHECK(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0);
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
        status = system("exit 3");
        CHECK(WEXITSTATUS(status) == 3);
        pipe = popen("cat >/dev/null", "w");
        CHECK(pipe != NULL && fputs("text", pipe) >= 0 && pclose(pipe) == 0);
    }
    CHECK(sigaltstack(NULL, &kept) == 0 && kept.ss_sp == stack.ss_sp && kept.ss_flags == 0);
    CHECK(raise(SIGUSR1) == 0 && handled == SIGUSR1);
    return succeed();
}

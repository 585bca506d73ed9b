// posix_spawn with file actions and attributes; the child runs in the same time.
#include "check.h"

#include <spawn.h>

extern char **environ;

int main(void)
{
    char *arguments[] = {"sh", "-c", "sleep 0.02; echo $0$1; exit 4", "a", "b", NULL};
    posix_spawn_file_actions_t actions;
    int64_t start_ns = now_ns();
    char data[10] = "";
    int ends[2];
    int status;
    pid_t child;

    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    CHECK(posix_spawn_file_actions_init(&actions) == 0);
    CHECK(posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0);
    CHECK(posix_spawnp(&child, "sh", &actions, NULL, arguments, environ) == 0);
    CHECK(close(ends[1]) == 0);
    CHECK(read(ends[0], data, sizeof data) == 3 && strcmp(data, "ab\n") == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}

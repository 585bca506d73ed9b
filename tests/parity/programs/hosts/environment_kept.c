// What a program puts into its environment reaches its children unchanged, and in order.
#include "check.h"

#include <spawn.h>

int main(void)
{
    char *arguments[] = {"env", NULL};
    char *environment[] = {"B=2", "A=one two", "EMPTY=", "C", NULL};
    posix_spawn_file_actions_t actions;
    char data[200] = "";
    int ends[2];
    pid_t child;

    CHECK(pipe2(ends, O_CLOEXEC) == 0 && posix_spawn_file_actions_init(&actions) == 0);
    CHECK(posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0);
    CHECK(posix_spawn(&child, "/usr/bin/env", &actions, NULL, arguments, environment) == 0);
    CHECK_CHILD(child);
    CHECK(read(ends[0], data, sizeof data - 1) > 0);
    CHECK(strcmp(data, "B=2\nA=one two\nEMPTY=\nC\n") == 0);
    return succeed();
}

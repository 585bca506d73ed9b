// A cgroup namespace can be made and entered; the group of the process stays.
#include "namespaces.h"

static void own_group(char *line, int size)
{
    FILE *file = fopen("/proc/self/cgroup", "r");

    CHECK(file != NULL && fgets(line, size, file) != NULL && fclose(file) == 0);
}

int main(void)
{
    char before[256], after[256];
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        own_group(before, sizeof before);
        CHECK(unshare(needed_flags() | CLONE_NEWCGROUP) == 0);
        own_group(after, sizeof after);
        CHECK(!is_emulated() || strcmp(before, after) == 0); /* natively the path is told from here on */
        _exit(0);
    }
    CHECK_CHILD(child);
    return succeed();
}

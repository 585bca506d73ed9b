// posix_spawn of what does not exist returns the error, and leaves no child behind.
#include "check.h"

#include <spawn.h>

extern char **environ;

int main(void)
{
    char *arguments[] = {"nothing", NULL};
    pid_t child = -1;

    CHECK(posix_spawn(&child, "/does/not/exist", NULL, NULL, arguments, environ) == ENOENT);
    CHECK(posix_spawn(&child, "/tmp", NULL, NULL, arguments, environ) == EACCES);
    CHECK_ERRNO(wait(NULL), ECHILD);
    return succeed();
}

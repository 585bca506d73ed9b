// A program sees no trace of how it was started in its environment.
// Nor does its child, whose environment is empty; and yet the child sleeps in the same time.
// virtual: 10
#include "check.h"

extern char **environ;

static void check_clean(void)
{
    char data[100000];
    int fd = open("/proc/self/environ", O_RDONLY);
    ssize_t size = read(fd, data, sizeof data);

    CHECK(fd >= 0 && size >= 0 && close(fd) == 0);
    for (char **variable = environ; *variable != NULL; variable++) {
        CHECK(strncmp(*variable, "LD_", 3) != 0);
        CHECK(strncasecmp(*variable, "SIMUNIX", 7) != 0 && strstr(*variable, "libsimunix") == NULL);
    }
    CHECK(memmem(data, size, "LD_PRELOAD", 10) == NULL);
    CHECK(memmem(data, size, "SIMUNIX", 7) == NULL);
}

int main(int count, char **arguments)
{
    char *again[] = {"again", "and", NULL};
    char *nothing[] = {NULL};
    int64_t start_ns = now_ns();
    pid_t child;

    check_clean();
    if (count == 2) {
        CHECK(arguments != NULL && *environ == NULL);
        CHECK(sleep(10) == 0);
        CHECK_ELAPSED(start_ns, 10000);
        return 0;
    }
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execve("/proc/self/exe", again, nothing);
        _exit(127);
    }
    CHECK_CHILD(child);
    CHECK(now_ns() - start_ns >= 10000 * MS);
    return succeed();
}

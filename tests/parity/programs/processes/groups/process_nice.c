// Nice values: inherited, told by getpriority and in /proc/PID/stat, kept within -20 and 19.
#include "check.h"

#include <sys/resource.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Fields 18 and 19: priority and nice. */
static void check_stat(int nice_value)
{
    char text[1024], *field = text;
    int fd = open("/proc/self/stat", O_RDONLY);
    ssize_t size = read(fd, text, sizeof text - 1);

    CHECK(size > 0 && close(fd) == 0);
    text[size] = '\0';
    for (char *next = text; *next != '\0'; next++)
        if (*next == ')')
            field = next + 1;
    for (int number = 3; number < 18; number++)
        field = strchr(field + 1, ' ');
    CHECK(strtol(field, &field, 10) == 20 + nice_value);
    CHECK(strtol(field, NULL, 10) == nice_value);
}

int main(void)
{
    int before = getpriority(PRIO_PROCESS, 0);
    pid_t child;

    check_stat(before);
    CHECK(nice(3) == least(before + 3, 19));
    CHECK(getpriority(PRIO_PROCESS, getpid()) == least(before + 3, 19));
    check_stat(least(before + 3, 19));
    CHECK(setpriority(PRIO_PROCESS, 0, 1000) == 0 && getpriority(PRIO_PROCESS, 0) == 19);
    child = fork();
    if (child == 0)
        _exit(getpriority(PRIO_PROCESS, 0) == 19 ? 0 : 1);
    CHECK_CHILD(child);
    CHECK_ERRNO(getpriority(PRIO_PROCESS, 999999), ESRCH);
    CHECK_ERRNO(setpriority(77, 0, 0), EINVAL);
    return succeed();
}

// The boot's identifier is the same for all, random identifiers never are; both have the form of a UUID.
#include "check.h"

static void read_id(const char *name, char id[37])
{
    char path[80];
    int fd;

    snprintf(path, sizeof path, "/proc/sys/kernel/random/%s", name);
    fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, id, 36) == 36 && close(fd) == 0);
    id[36] = '\0';
    for (int i = 0; i < 36; i++)
        CHECK(strchr(i == 8 || i == 13 || i == 18 || i == 23 ? "-" : "0123456789abcdef", id[i]) != NULL);
    CHECK(id[14] == '4' && strchr("89ab", id[19]) != NULL);
}

int main(void)
{
    char boot[37], one[37], other[37];
    pid_t child;

    read_id("boot_id", boot);
    read_id("uuid", one);
    read_id("uuid", other);
    CHECK(strcmp(one, other) != 0);
    CHECK((child = fork()) >= 0);
    if (child == 0) {
        read_id("boot_id", other);
        CHECK(strcmp(boot, other) == 0);
        read_id("uuid", other);
        CHECK(strcmp(one, other) != 0);
        _exit(0);
    }
    CHECK_CHILD(child);
    return succeed();
}

// A daemon that closes all that /proc/self/fd lists beyond stderr still sleeps, forks and talks.
#include "check.h"

#include <dirent.h>

int main(void)
{
    int64_t start_ns = now_ns();
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    int ends[2];

    CHECK(directory != NULL);
    while ((entry = readdir(directory)) != NULL) {
        int fd = atoi(entry->d_name);

        CHECK(fd == 0 || entry->d_name[0] != '0');
        CHECK(fd < 1024);
        if (fd > 2 && fd != dirfd(directory))
            CHECK(close(fd) == 0);
    }
    CHECK(closedir(directory) == 0);
    sleep_ms(20);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(pipe(ends) == 0 && ends[0] == 3 && ends[1] == 4);
    CHECK(system("sleep 0.01") == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

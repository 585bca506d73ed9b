// No descriptor but the program's own is seen: in /proc/self/fd, /proc/PID/fd and fdinfo, by fcntl, dup, poll and F_DUPFD.
#include "check.h"

#include <dirent.h>
#include <poll.h>

/* How many descriptors a folder of /proc lists, without the one that reads it. */
static int listed(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int count = 0;

    CHECK(directory != NULL);
    while ((entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.') {
            CHECK(atoi(entry->d_name) < 1024);
            count++;
        }
    CHECK(closedir(directory) == 0);
    return count - 1;
}

int main(void)
{
    char own[40];
    int open_ones = 0;

    sleep_ms(1);
    CHECK(poll(NULL, 0, 1) == 0);
    for (int fd = 0; fd < 4096; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            struct pollfd polled = {fd, 0, 0};

            CHECK(fd < 1024 && poll(&polled, 1, 0) >= 0 && (polled.revents & POLLNVAL) == 0);
            open_ones++;
        } else {
            CHECK(errno == EBADF);
            CHECK_ERRNO(dup(fd), EBADF);
            CHECK_ERRNO(close(fd), EBADF);
        }
    }
    snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
    CHECK(listed("/proc/self/fd") == open_ones && listed(own) == open_ones && listed("/proc/self/fdinfo") == open_ones);
    CHECK(listed("/dev/fd/") == open_ones);
    CHECK(close_range(open_ones, ~0U, 0) == 0);
    closefrom(open_ones);
    sleep_ms(1);
    return succeed();
}

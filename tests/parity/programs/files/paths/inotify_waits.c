// An inotify descriptor waits until a file is made in the directory by another process.
#include "check.h"

#include <poll.h>
#include <sys/inotify.h>

int main(void)
{
    char data[4096];
    struct inotify_event *event = (void *)data;
    struct pollfd polled;
    int64_t start_ns = now_ns();
    int fd = inotify_init1(IN_CLOEXEC);
    pid_t child;

    CHECK(fd >= 0 && inotify_add_watch(fd, ".", IN_CREATE | IN_DELETE) > 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(close(open("new", O_CREAT | O_WRONLY, 0600)) == 0);
        sleep_ms(20);
        _exit(unlink("new"));
    }
    polled = (struct pollfd){.fd = fd, .events = POLLIN};
    CHECK(poll(&polled, 1, 5000) == 1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(read(fd, data, sizeof data) > 0 && event->mask == IN_CREATE && strcmp(event->name, "new") == 0);
    CHECK(read(fd, data, sizeof data) > 0 && event->mask == IN_DELETE);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}

// The classic daemon: double fork, setsid, all descriptors closed, / as directory; it reports through a FIFO.
#include "check.h"

#include <sys/stat.h>

static void become_daemon(const char *fifo)
{
    char text[60];
    int fd;

    CHECK(setsid() == getpid());
    if (fork() != 0)
        _exit(0);
    CHECK(chdir("/") == 0);
    umask(0);
    for (fd = sysconf(_SC_OPEN_MAX) - 1; fd >= 0; fd--)
        close(fd);
    fd = open("/dev/null", O_RDWR);
    if (fd != 0 || dup(0) != 1 || dup(0) != 2)
        _exit(1);
    sleep_ms(30);
    fd = open(fifo, O_WRONLY);
    write(fd, text, snprintf(text, sizeof text, "%d %d", fd, getsid(0) != getpid()));
    _exit(0);
}

int main(void)
{
    int64_t start_ns = now_ns();
    char path[4200], text[60] = "";
    pid_t child;
    int fd;

    CHECK(mkfifo("fifo", 0600) == 0 && realpath("fifo", path) != NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        become_daemon(path);
    CHECK_CHILD(child);
    fd = open("fifo", O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text) == 3 && strcmp(text, "3 1") == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}

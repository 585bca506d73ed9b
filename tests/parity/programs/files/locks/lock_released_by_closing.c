// A lock is let go by the last closing of its descriptor, however that comes about, and is taken at that very moment.
// virtual: 26
#include "check.h"

#include <sys/file.h>
#include <sys/syscall.h>

enum { WAYS = 4 };

/* Let the descriptor go in one of the ways that there are. */
static void let_go(int way, int fd)
{
    static char *const command[] = {"sleep", "0.01", NULL};

    switch (way) {
    case 0:
        CHECK(close(fd) == 0);
        break;
    case 1:
        CHECK(dup2(STDERR_FILENO, fd) == fd);
        break;
    case 2:
        CHECK(syscall(SYS_close_range, fd, fd, 0) == 0);
        break;
    default:
        execvp(command[0], command);
        CHECK(!"exec");
    }
}

static void hold(int way, int records)
{
    struct flock all = {.l_type = F_WRLCK};
    int fd = open("lock", O_RDWR | O_CLOEXEC);

    CHECK(fd >= 0);
    CHECK(records ? fcntl(fd, F_SETLK, &all) == 0 : flock(fd, LOCK_EX) == 0);
    sleep_ms(3250);
    let_go(way, fd);
    sleep_ms(1000);
    _exit(0);
}

int main(void)
{
    struct flock all = {.l_type = F_WRLCK};
    int fd = open("lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    for (int i = 0; i < 2 * WAYS; i++) {
        int64_t start_ns = now_ns();
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0)
            hold(i % WAYS, i / WAYS);
        sleep_ms(100);
        CHECK(i / WAYS ? fcntl(fd, F_SETLKW, &all) == 0 : flock(fd, LOCK_EX) == 0);
        CHECK_ELAPSED(start_ns, 3250);
        all.l_type = F_UNLCK;
        CHECK(i / WAYS ? fcntl(fd, F_SETLK, &all) == 0 : flock(fd, LOCK_UN) == 0);
        all.l_type = F_WRLCK;
        CHECK_CHILD(child);
    }
    return succeed();
}

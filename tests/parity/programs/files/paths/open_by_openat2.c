// openat2 of a FIFO waits for the other side as open does, and heeds its own restrictions.
#include "check.h"

#include <linux/openat2.h>
#include <sys/syscall.h>

static int open_how(const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags, .resolve = resolve};

    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

int main(void)
{
    int64_t start_ns = now_ns();
    char byte = 0;
    pid_t child;
    int fifo;

    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK_ERRNO(open_how("/dev/null", O_RDONLY, RESOLVE_BENEATH), EXDEV);
    CHECK_ERRNO(open_how("fifo", O_RDONLY, 1ul << 40), EINVAL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        fifo = open_how("fifo", O_WRONLY, RESOLVE_BENEATH);
        sleep_ms(20);
        _exit(write(fifo, "x", 1) != 1);
    }
    fifo = open_how("fifo", O_RDONLY, RESOLVE_BENEATH);
    CHECK(fifo >= 0 && (fcntl(fifo, F_GETFL) & O_NONBLOCK) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(read(fifo, &byte, 1) == 1 && byte == 'x');
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    CHECK(unlink("fifo") == 0);
    return succeed();
}

// Each way of writing through a descriptor changes the file's time of writing, others its time of change only.
// native: slow
#include "file_times.h"

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#define F "file"

static void check_writes(int fd, int source)
{
    struct iovec part = {"xyz", 3};
    off_t at = 0;
    int ends[2];

    STEP(F, WRITES, write(fd, "x", 1));
    STEP(F, KEEPS, write(fd, "x", 0));
    STEP(F, WRITES, pwrite(fd, "x", 1, 0));
    STEP(F, WRITES, writev(fd, &part, 1));
    STEP(F, WRITES, pwritev(fd, &part, 1, 0));
    STEP(F, WRITES, pwritev2(fd, &part, 1, 0, 0));
    STEP(F, WRITES, sendfile(fd, source, &at, 4));
    at = 0;
    STEP(F, WRITES, copy_file_range(source, &at, fd, NULL, 4, 0));
    CHECK(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
    STEP(F, WRITES, splice(ends[0], NULL, fd, NULL, 3, 0));
    STEP(F, KEEPS, pread(fd, &part, 1, 0));
}

static void check_lengths(int fd)
{
    STEP(F, WRITES, ftruncate(fd, 100));
    STEP(F, WRITES, truncate(F, 200));
    STEP(F, WRITES, close(open(F, O_WRONLY | O_TRUNC)));
    STEP(F, WRITES, close(creat(F, 0600)));
    STEP(F, KEEPS, close(open(F, O_RDWR | O_CREAT, 0600)));
    CHECK(fallocate(fd, 0, 0, 4096) == 0 || errno == EOPNOTSUPP);
}

static void check_changes(int fd)
{
    STEP(F, CHANGES, fchmod(fd, 0640));
    STEP(F, CHANGES, fchown(fd, getuid(), getgid()));
    if (fsetxattr(fd, "user.first", "x", 1, 0) != 0) {
        CHECK(errno == EOPNOTSUPP);
        return;
    }
    STEP(F, CHANGES, fsetxattr(fd, "user.parity", "x", 1, 0));
    STEP(F, CHANGES, fremovexattr(fd, "user.parity"));
}

int main(void)
{
    int fd = open(F, O_CREAT | O_RDWR, 0600);
    int source = open("source", O_CREAT | O_RDWR, 0600);

    CHECK(fd >= 0 && source >= 0 && write(source, "0123456789", 10) == 10);
    CHECK_NEW(F);
    check_writes(fd, source);
    check_lengths(fd);
    check_changes(fd);
    return succeed();
}

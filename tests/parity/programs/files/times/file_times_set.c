// Times can be set by every call that there is, each alone too; the file counts as changed then.
#include "file_times.h"

#include <sys/time.h>
#include <utime.h>

#define F "file"

static int64_t accessed(void)
{
    struct stat file;

    CHECK(stat(F, &file) == 0);
    return in_ns(file.st_atim);
}

static int64_t written(void)
{
    struct stat file;

    CHECK(stat(F, &file) == 0);
    return in_ns(file.st_mtim);
}

static int is_present(int64_t time_ns)
{
    int64_t now = clock_ns(CLOCK_REALTIME);

    return time_ns > now - TICK_NS && time_ns <= now;
}

int main(void)
{
    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    struct timeval old_times[2] = {{3000, 5}, {4000, 7}};
    struct utimbuf oldest = {5000, 6000};
    int fd = open(F, O_CREAT | O_WRONLY, 0600);

    CHECK(utimensat(AT_FDCWD, F, times, 0) == 0);
    STEP(F, CHANGES, futimens(fd, times));
    CHECK(accessed() == 1000000000005 && written() == 2000000000007);
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = 2500;
    CHECK(utimensat(AT_FDCWD, F, times, 0) == 0 && accessed() == 1000000000005 && written() == 2500000000007);
    times[1].tv_nsec = UTIME_NOW;
    sleep_ms(60);
    CHECK(utimensat(AT_FDCWD, F, times, AT_SYMLINK_NOFOLLOW) == 0 && accessed() == 1000000000005 && is_present(written()));
    CHECK(syscall(SYS_utimes, F, old_times) == 0 && accessed() == 3000000005000 && written() == 4000000007000);
    CHECK(syscall(SYS_utime, F, &oldest) == 0 && accessed() == 5000000000000 && written() == 6000000000000);
    CHECK(syscall(SYS_futimesat, AT_FDCWD, F, old_times) == 0 && written() == 4000000007000);
    CHECK(syscall(SYS_futimesat, fd, NULL, NULL) == 0 && is_present(written()) && is_present(accessed()));
    sleep_ms(60);
    CHECK(syscall(SYS_utime, F, NULL) == 0 && is_present(written()) && is_present(accessed()));
    sleep_ms(60);
    CHECK(syscall(SYS_utimes, F, NULL) == 0 && is_present(written()) && is_present(accessed()));
    old_times[1].tv_usec = 1000000;
    CHECK_ERRNO(syscall(SYS_utimes, F, old_times), EINVAL);
    CHECK_ERRNO(syscall(SYS_utimes, "missing", NULL), ENOENT);
    return succeed();
}

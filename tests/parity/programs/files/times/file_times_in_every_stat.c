// stat, lstat, fstat, fstatat and statx tell the same times of a file, and writing through one name shows at the other.
#include "file_times.h"

#include <sys/mman.h>

static void check_same(const struct stat *one, const struct stat *other)
{
    CHECK(in_ns(one->st_atim) == in_ns(other->st_atim));
    CHECK(in_ns(one->st_mtim) == in_ns(other->st_mtim));
    CHECK(in_ns(one->st_ctim) == in_ns(other->st_ctim));
}

static void check_statx(const struct stat *one)
{
    struct statx other;

    CHECK(statx(AT_FDCWD, "file", 0, STATX_ALL, &other) == 0);
    CHECK(other.stx_atime.tv_sec == one->st_atim.tv_sec && other.stx_atime.tv_nsec == one->st_atim.tv_nsec);
    CHECK(other.stx_mtime.tv_sec == one->st_mtim.tv_sec && other.stx_mtime.tv_nsec == one->st_mtim.tv_nsec);
    CHECK(other.stx_ctime.tv_sec == one->st_ctim.tv_sec && other.stx_ctime.tv_nsec == one->st_ctim.tv_nsec);
    CHECK(statx(AT_FDCWD, "file", 0, STATX_ATIME, &other) == 0 && other.stx_atime.tv_sec == one->st_atim.tv_sec);
    CHECK(statx(AT_FDCWD, "file", 0, STATX_ALL, &other) == 0);
    if (other.stx_mask & STATX_BTIME)
        CHECK(other.stx_btime.tv_sec <= other.stx_mtime.tv_sec);
}

int main(void)
{
    struct stat one, other;
    int fd = open("file", O_CREAT | O_RDWR, 0600);
    char *memory;

    CHECK(fd >= 0 && link("file", "name") == 0);
    sleep_ms(30);
    CHECK(write(fd, "x", 1) == 1);
    CHECK(syscall(SYS_stat, "name", &one) == 0);
    CHECK(syscall(SYS_lstat, "file", &other) == 0);
    check_same(&one, &other);
    CHECK(syscall(SYS_fstat, fd, &other) == 0);
    check_same(&one, &other);
    CHECK(syscall(SYS_newfstatat, fd, "", &other, AT_EMPTY_PATH) == 0);
    check_same(&one, &other);
    check_statx(&one);
    CHECK(one.st_mtim.tv_sec >= time(NULL) - 2 && one.st_mtim.tv_sec <= time(NULL));
    sleep_ms(30);
    memory = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED);
    *memory = 'y';
    CHECK(msync(memory, 1, MS_SYNC) == 0 && stat("file", &other) == 0);
    CHECK(in_ns(other.st_mtim) >= in_ns(one.st_mtim) && other.st_mtim.tv_sec <= time(NULL));
    CHECK_ERRNO(stat("missing", &one), ENOENT);
    CHECK_ERRNO(syscall(SYS_stat, "file", NULL), EFAULT);
    return succeed();
}

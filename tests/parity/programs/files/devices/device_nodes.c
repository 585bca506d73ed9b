// Devices that mknod(2) makes: what stat tells of them, which may be opened, and who may make them.
#include "check.h"

#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#define USER 65534

static void check_is(const char *path, mode_t mode, unsigned major, unsigned minor)
{
    struct stat status;
    struct statx more;
    int fd;

    CHECK(lstat(path, &status) == 0 && status.st_mode == mode && status.st_size == 0);
    CHECK(major(status.st_rdev) == major && minor(status.st_rdev) == minor);
    CHECK(statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &more) == 0 && more.stx_mode == mode);
    CHECK(more.stx_rdev_major == major && more.stx_rdev_minor == minor);
    fd = open(path, O_PATH);
    CHECK(fd >= 0 && fstat(fd, &status) == 0 && status.st_mode == mode && close(fd) == 0);
}

static int type_listed(const char *name)
{
    DIR *folder = opendir(".");
    struct dirent *entry;
    int type = -1;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, name) == 0)
            type = entry->d_type;
    CHECK(closedir(folder) == 0);
    return type;
}

static void names_of_devices(void)
{
    umask(022);
    CHECK(mknod("null", S_IFCHR | 0666, makedev(1, 3)) == 0);
    check_is("null", S_IFCHR | 0644, 1, 3);
    CHECK_ERRNO(mknod("null", S_IFCHR | 0666, makedev(1, 3)), EEXIST);
    CHECK_ERRNO(mknod("missing/null", S_IFCHR | 0666, makedev(1, 3)), ENOENT);
    CHECK(mknodat(AT_FDCWD, "disk", S_IFBLK | 0660, makedev(300, 70000)) == 0);
    check_is("disk", S_IFBLK | 0640, 300, 70000);
    CHECK(type_listed("null") == DT_CHR && type_listed("disk") == DT_BLK);
    CHECK(chmod("disk", 0600) == 0 && chown("disk", 0, 0) == 0);
    check_is("disk", S_IFBLK | 0600, 300, 70000);
    CHECK(link("disk", "disk2") == 0 && rename("disk", "disk3") == 0 && symlink("disk2", "to") == 0);
    check_is("disk2", S_IFBLK | 0600, 300, 70000);
    CHECK_ERRNO(truncate("disk3", 0), EINVAL);
    CHECK_ERRNO(open("to", O_RDONLY), ENXIO);
    CHECK_ERRNO(open("to", O_RDONLY | O_NOFOLLOW), ELOOP);
    CHECK_ERRNO(open("disk3", O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
    CHECK(unlink("disk2") == 0 && unlink("disk3") == 0 && unlink("to") == 0);
    CHECK(mknod("none", S_IFCHR | 0600, makedev(120, 9)) == 0);
    CHECK_ERRNO(open("none", O_RDONLY), ENXIO);
    CHECK_ERRNO(open("none", O_RDONLY | O_DIRECTORY), ENOTDIR);
}

static void the_null_device(void)
{
    struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
    struct stat status;
    char byte;
    int fd = open("null", O_RDWR | O_TRUNC | O_CREAT, 0600);
    int source = open("source", O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
    CHECK(read(fd, &byte, 1) == 0 && write(fd, "abc", 3) == 3 && writev(fd, parts, 2) == 5);
    CHECK(pwrite(fd, "abc", 3, 7) == 3 && pwritev(fd, parts, 2, 1) == 5 && lseek(fd, 100, SEEK_SET) == 0);
    CHECK(write(source, "hello", 5) == 5 && lseek(source, 0, SEEK_SET) == 0 && sendfile(fd, source, NULL, 9) == 5);
    CHECK_ERRNO(ftruncate(fd, 0), EINVAL);
    CHECK_ERRNO(fallocate(fd, 0, 0, 9), ENODEV);
    CHECK_ERRNO(fsync(fd), EINVAL);
    CHECK_ERRNO(ioctl(fd, FIONREAD, &status), ENOTTY);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == ENODEV);
    CHECK(fchmod(fd, 0666) == 0 && close(fd) == 0 && close(source) == 0);
    check_is("null", S_IFCHR | 0666, 1, 3);
    fd = open("null", O_RDONLY);
    CHECK_ERRNO(write(fd, "abc", 3), EBADF);
    CHECK(close(fd) == 0);
}

static void devices_of_memory(void)
{
    char bytes[8] = "1234567";
    int fd;

    CHECK(mknod("zero", S_IFCHR | 0666, makedev(1, 5)) == 0 && (fd = open("zero", O_RDWR | O_CLOEXEC)) >= 0);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(read(fd, bytes, sizeof bytes) == sizeof bytes && memcmp(bytes, "\0\0\0\0\0\0\0", 8) == 0);
    CHECK(write(fd, bytes, 8) == 8 && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED && close(fd) == 0);
    CHECK(mknod("full", S_IFCHR | 0666, makedev(1, 7)) == 0 && (fd = open("full", O_WRONLY)) >= 0);
    CHECK_ERRNO(write(fd, bytes, 8), ENOSPC);
    CHECK(fcntl(fd, F_GETFD) == 0 && close(fd) == 0);
    CHECK(mknod("random", S_IFCHR | 0666, makedev(1, 9)) == 0 && (fd = open("random", O_RDONLY)) >= 0);
    CHECK(read(fd, bytes, sizeof bytes) == sizeof bytes && close(fd) == 0);
}

static void as_a_user(void)
{
    struct stat status;
    int fd;

    CHECK_ERRNO(mknod("mine", S_IFCHR | 0666, makedev(1, 3)), EPERM);
    CHECK_ERRNO(mknod("mine", S_IFBLK | 0666, makedev(300, 1)), EPERM);
    CHECK(mknod("fifo", S_IFIFO | 0666, 0) == 0 && mknod("file", S_IFREG | 0666, 0) == 0);
    CHECK(stat("file", &status) == 0 && S_ISREG(status.st_mode));
    if (access("null", F_OK) != 0)
        return;
    CHECK_ERRNO(mknod("null", S_IFCHR | 0666, makedev(1, 3)), EEXIST);
    CHECK_ERRNO(open("none", O_RDONLY), EACCES);
    CHECK_ERRNO(chmod("null", 0777), EPERM);
    fd = open("null", O_WRONLY | O_TRUNC);
    CHECK(fd >= 0 && write(fd, "abc", 3) == 3 && close(fd) == 0);
    check_is("null", S_IFCHR | 0666, 1, 3);
}

int main(void)
{
    pid_t child;

    if (getuid() == 0) {
        names_of_devices();
        the_null_device();
        devices_of_memory();
        umask(0);
    }
    CHECK(mkdir("folder", 0777) == 0 && chmod(".", 0777) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (getuid() != 0 || setuid(USER) == 0) /* a host of an ordinary user has no other users */
            as_a_user();
        _exit(0);
    }
    CHECK_CHILD(child);
    return succeed();
}

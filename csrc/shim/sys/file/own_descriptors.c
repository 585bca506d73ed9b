/* Descriptors that are opened once more by their names, such as /dev/stderr, in a contained host.
 *
 * A pipe, a terminal or a file that a program has got from outside belongs to an id that its host does not know, so the kernel
 * lets not even root of the host open it again (csrc/hostinit/containment/mounts.c). The process has the file open
 * already, so the new descriptor is made as a copy of the old one. */
#include "shim/core/memory.h"
#include "shim/sys/file/file.h"

static const struct {
    const char *name;
    long number; /* -1: the number of the descriptor follows the name */
} names[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}, {"/dev/fd/", -1}, {"/proc/self/fd/", -1}};

/* Return which of the descriptors 0 to 2 is the caller's terminal, the console of a command in the foreground; -1: none. */
static long console(const char *path)
{
    struct stat named, open;

    if (NATIVE(newfstatat, AT_FDCWD, path, &named, 0) != 0)
        return -1;
    for (long number = 0; number < 3; number++)
        if (NATIVE(fstat, number, &open) == 0 && (open.st_mode & S_IFMT) == S_IFCHR && open.st_rdev == named.st_rdev)
            return number;
    return -1;
}

/* Return the descriptor that a path names; -1 if it names none. */
static long descriptor_named(const char *path)
{
    if (text_equal(path, "/dev/console"))
        return console(path);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *digit = path + text_length(names[i].name);
        long number = 0;

        if (names[i].number >= 0 && text_equal(path, names[i].name))
            return names[i].number;
        if (names[i].number >= 0 || !text_starts(path, names[i].name) || *digit == '\0')
            continue;
        for (; *digit >= '0' && *digit <= '9' && number < 1 << 20; digit++)
            number = 10 * number + *digit - '0';
        return *digit == '\0' ? number : -1;
    }
    return -1;
}

static bool allows(long given, long wanted)
{
    return (given & O_ACCMODE) == O_RDWR || (given & O_ACCMODE) == (wanted & O_ACCMODE);
}

/* Return `result`, unless the kernel has refused root a file that the process has open already; then return a copy of
 * that descriptor. */
long open_own_again(struct call *call, const char *path, long flags, long result)
{
    long number;
    long given;

    if (result != -EACCES || (call->thread->process->flags & HELLO_FLAG_CONTAINED) == 0 || is_bad_pointer(path) ||
        (flags & O_PATH) != 0 || NATIVE(geteuid) != 0)
        return result;
    number = descriptor_named(path);
    if (number < 0 || descriptor_is_ours(call, number))
        return result;
    given = NATIVE(fcntl, number, F_GETFL);
    if (given < 0 || !allows(given, flags))
        return result;
    if ((flags & O_TRUNC) != 0 && NATIVE(ftruncate, number, 0) == 0) /* pipes and terminals have no length */
        NATIVE(lseek, number, 0, 0);                                 /* SEEK_SET */
    return NATIVE(fcntl, number, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

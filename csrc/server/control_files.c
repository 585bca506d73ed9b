/* Makes control files in a folder, gives them to another user, removes them, and replaces their text. Names, and texts,
 * follow one another, each with a NUL at its end. All functions return 0, or -errno of the first file that has failed. */
#define _GNU_SOURCE
#include "server/control_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *next(const char *text)
{
    return text + strlen(text) + 1;
}

static int write_whole(int file, const char *text, size_t size)
{
    ssize_t written = pwrite(file, text, size, 0);

    if (written < 0)
        return -errno;
    return (size_t)written == size ? 0 : -ENOSPC;
}

/* Make a file that has its text from the beginning on, so that no program opens it empty. */
static int make_with_text(int folder, const char *name, const char *text, uint32_t mode)
{
    int file = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    int result;

    if (file < 0)
        return -errno;
    result = write_whole(file, text, strlen(text));
    close(file);
    return result;
}

int control_files_make(int folder, const char *names, const char *texts, const uint32_t *modes, int count, uint64_t *inodes)
{
    struct stat status;

    for (int i = 0; i < count; i++, names = next(names), texts = next(texts)) {
        int result = 0;

        if (*texts != '\0')
            result = make_with_text(folder, names, texts, modes[i]);
        else if (mknodat(folder, names, S_IFREG | modes[i], 0) != 0)
            result = -errno;
        if (result == 0 && fstatat(folder, names, &status, AT_SYMLINK_NOFOLLOW) != 0)
            result = -errno;
        if (result != 0)
            return result;
        inodes[i] = status.st_ino;
    }
    return 0;
}

int control_files_give(int folder, const char *names, int count, uint32_t user, uint32_t group)
{
    for (int i = 0; i < count; i++, names = next(names))
        if (fchownat(folder, names, user, group, AT_SYMLINK_NOFOLLOW) != 0)
            return -errno;
    return 0;
}

/* Remove files. A file that does not exist is no failure. */
int control_files_remove(int folder, const char *names, int count)
{
    for (int i = 0; i < count; i++, names = next(names))
        if (unlinkat(folder, names, 0) != 0 && errno != ENOENT)
            return -errno;
    return 0;
}

/* Replace the text of a file, by a single write if the text has not become shorter. */
int control_file_put(int folder, const char *path, const char *text, uint64_t size)
{
    int file = openat(folder, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    int result;

    if (file < 0)
        return -errno;
    result = write_whole(file, text, size);
    if (result == 0 && (fstat(file, &status) != 0 || ((uint64_t)status.st_size > size && ftruncate(file, (off_t)size) != 0)))
        result = -errno;
    close(file);
    return result;
}

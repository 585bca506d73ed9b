/* Opens files of /proc that the shim itself reads, even after the process has changed its root directory. */
#include "shim/core/core.h"
#include "shim/core/memory.h"

static long open_at(const struct process *process, const char *path, int flags)
{
    char text[96];

    text_append(text_append(text, text + sizeof text, process->ids.proc > 0 ? "" : "/proc/"), text + sizeof text, path);
    return NATIVE(openat, process->ids.proc > 0 ? process->ids.proc : AT_FDCWD, text, flags | O_CLOEXEC, 0);
}

/* Open a file although the application may have no more descriptors. */
static long open_beyond_limit(const char *path, int flags)
{
    const struct process *process = current_thread()->process;
    long fd = open_at(process, path, flags);

    if (fd == -EMFILE) {
        descriptors_raise();
        fd = open_at(process, path, flags);
        descriptors_limit(process);
    }
    return fd;
}

/* Open a file of /proc, given by its path below /proc. */
long proc_open(const char *path)
{
    return open_beyond_limit(path, O_RDONLY);
}

/* Open a file of /proc with the given flags. */
long proc_open_for(const char *path, int flags)
{
    return open_beyond_limit(path, flags);
}

/* Open the file of /proc whose name consists of `folder` and the number of a descriptor. */
long proc_open_numbered(const char *folder, int fd)
{
    char path[64];
    char *end = path + sizeof path;

    text_append_number(text_append(path, end, folder), end, fd);
    return proc_open(path);
}

/* Open the file of a descriptor once more, with other flags. */
long proc_open_again(int fd, int flags)
{
    char path[64];
    char *end = path + sizeof path;

    text_append_number(text_append(path, end, "thread-self/fd/"), end, fd);
    return open_beyond_limit(path, flags);
}

/* Read the kernel's name of an open file: its path, or a text that stands for one. Returns false on failure. */
bool proc_name_of(long fd, char *name, size_t room)
{
    static const char prefix[] = "/proc/self/fd/";
    char link[40];
    int folder = current_thread()->process->ids.proc;
    long size;

    text_append_number(text_append(link, link + sizeof link, prefix), link + sizeof link, fd);
    size = NATIVE(readlinkat, folder > 0 ? folder : AT_FDCWD, folder > 0 ? link + 6 : link, name, room - 1);
    name[size < 0 ? 0 : size] = '\0';
    return size > 0;
}

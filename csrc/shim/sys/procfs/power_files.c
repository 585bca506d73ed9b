/* Files by which programs read and change the power of their host, or of others: frequencies, joules, limits, switches. On
 * hosts that have watts (HELLO_FLAG_POWER) the server has their content (rsg_server/power_files/). A process that opens
 * such a file gets an anonymous file with the present text, which is written anew when the reader goes back to the
 * beginning. Writes go to the server. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/procfs/procfs.h"

#define OWN_NAME "simunix:"
#define WRITTEN_MAX 64 /* bytes of numbers and names */
#define REGISTER_BYTES 8
#define SEEK_CUR 1

/* The beginnings of the last parts of these files' paths. */
static const char *const beginnings[] = {"scaling_",    "cpuinfo_", "energy",    "power",
                                         "constraint_", "enabled",  "freshness", "msr"};

static bool may_be(const struct call *call, const char *path)
{
    const char *name;

    if ((call->thread->process->flags & HELLO_FLAG_POWER) == 0 || is_bad_pointer(path))
        return false;
    if (text_starts(path, "/run/simunix/power/"))
        return true;
    name = proc_last_part(path);
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (text_starts(name, beginnings[i]))
            return true;
    return false;
}

/* Ask the server for the text of the file that has this name in the kernel. */
__attribute__((cold)) static int64_t ask_file(struct thread *thread, const char *name, enum simunix_power_file what,
                                              int64_t offset, const char *bytes, size_t size, struct reply *reply)
{
    struct msgpack_writer writer;

    request_start(thread, &writer, OP_POWER_FILE);
    msgpack_put_bytes(&writer, name, text_length(name));
    msgpack_put_int(&writer, what);
    msgpack_put_int(&writer, offset);
    msgpack_put_bytes(&writer, bytes, size);
    return request_call(thread, &writer, reply);
}

__attribute__((cold)) static void put_text(const struct reply *reply, long fd)
{
    NATIVE(ftruncate, fd, 0);
    NATIVE(pwrite64, fd, reply->values.bytes[1], reply->values.length[1], 0);
}

/* Return the server's name of an open anonymous file, if it is one of these. */
__attribute__((cold)) static const char *name_of(const struct call *call, long fd, const struct stat *status,
                                                 char path[PROC_PATH_ROOM])
{
    static const char anonymous[] = "/memfd:" OWN_NAME;
    static const char deleted[] = " (deleted)";

    if ((call->thread->process->flags & HELLO_FLAG_POWER) == 0 || status->st_nlink != 0 ||
        !proc_name_of(fd, path, PROC_PATH_ROOM) || !text_starts(path, anonymous) ||
        text_starts(path + sizeof anonymous - 1, "/proc/"))
        return NULL;
    path[text_length(path) - (sizeof deleted - 1)] = '\0';
    return path + sizeof anonymous - 1;
}

/* Replace `fd`, a descriptor of the real file, by an anonymous file with the server's text; return false if the server
 * does not know the file. */
__attribute__((cold)) static bool take_place(struct call *call, uint64_t flags, long *fd)
{
    char name[sizeof OWN_NAME + PROC_PATH_ROOM] = OWN_NAME;
    struct reply reply;

    if (!proc_name_of(*fd, name + sizeof OWN_NAME - 1, PROC_PATH_ROOM) ||
        ask_file(call->thread, name + sizeof OWN_NAME - 1, POWER_FILE_TEXT, 0, NULL, 0, &reply) != 0)
        return false;
    NATIVE(close, *fd); /* first, so that the application gets the lowest free number */
    *fd = NATIVE(memfd_create, name, flags & O_CLOEXEC ? 1 : 0);
    if (*fd >= 0)
        put_text(&reply, *fd);
    return true;
}

/* After open(2) of `path` for reading has returned `fd`: return the descriptor that the application gets, which is
 * mostly `fd`. */
__attribute__((cold)) long power_file_opened(struct call *call, const char *path, uint64_t flags, long fd)
{
    if (may_be(call, path))
        take_place(call, flags, &fd);
    return fd;
}

/* Open for writing a file that the kernel would not, since these files are in a read-only file system. The files belong
 * to root, with the mode 0644. Returns false if the file is none of these. */
__attribute__((cold)) bool power_file_open(struct call *call, int directory, const char *path, uint64_t flags, long *fd)
{
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY || !may_be(call, path))
        return false;
    *fd = NATIVE(openat, directory, path, O_PATH | (flags & O_CLOEXEC), 0);
    if (*fd < 0)
        return false;
    if (!take_place(call, flags, fd)) {
        NATIVE(close, *fd);
        return false;
    }
    if (*fd >= 0 && NATIVE(geteuid) != 0) {
        NATIVE(close, *fd);
        *fd = -EACCES;
    }
    return true;
}

/* Handle a write to the file that `status` describes. Returns how many bytes were taken, or an error; -ENOSYS if the
 * file is none of these. */
__attribute__((cold)) long power_file_written(struct call *call, const struct stat *status, const char *bytes, size_t size)
{
    char path[PROC_PATH_ROOM];
    char text[WRITTEN_MAX];
    const char *name = name_of(call, call->a[0], status, path);
    struct reply reply;
    int64_t result;

    if (name == NULL)
        return -ENOSYS;
    if (size > sizeof text)
        return -EINVAL;
    memcpy(text, bytes, size);
    result = ask_file(call->thread, name, POWER_FILE_WRITE, 0, text, size, &reply);
    return result < 0 ? result : (long)size;
}

__attribute__((cold)) static long read_register(struct call *call, const char *name, int64_t number)
{
    struct reply reply;

    if ((size_t)call->a[2] < REGISTER_BYTES || ask_file(call->thread, name, POWER_FILE_REGISTER, number, NULL, 0, &reply) != 0)
        return -EIO;
    return (long)reply_bytes(&reply, 1, (void *)call->a[1], (size_t)call->a[2]);
}

__attribute__((cold)) static bool has_registers(const char *name)
{
    return text_equal(proc_last_part(name), "msr");
}

/* Handle a read(2) at the end of the anonymous file: the registers of a processor lie beyond this end, see msr(4). */
__attribute__((cold)) long power_register_read(struct call *call, const struct stat *status)
{
    char path[PROC_PATH_ROOM];
    const char *name = name_of(call, call->a[0], status, path);

    if (name == NULL || !has_registers(name))
        return 0;
    return read_register(call, name, NATIVE(lseek, call->a[0], 0, SEEK_CUR));
}

/* Write the text anew for a reader that goes back to the beginning. */
__attribute__((cold)) void power_file_refresh(struct call *call, const struct stat *status)
{
    char path[PROC_PATH_ROOM];
    const char *name = name_of(call, call->a[0], status, path);
    struct reply reply;

    if (name != NULL && ask_file(call->thread, name, POWER_FILE_TEXT, 0, NULL, 0, &reply) == 0)
        put_text(&reply, call->a[0]);
}

/* pread64(2): the kernel has the bytes of all files but these. */
long sys_pread64(struct call *call)
{
    char path[PROC_PATH_ROOM];
    struct stat status;
    const char *name;

    if (call->thread->process->cgroups.are_used && call->a[3] == 0 &&
        cgroup_file_refresh(call, call->a[0], CGROUP_READ_NOW) != 0)
        return -ENODEV;
    if (__builtin_expect((call->thread->process->flags & HELLO_FLAG_POWER) == 0, 1) ||
        NATIVE(fstat, call->a[0], &status) != 0 || (name = name_of(call, call->a[0], &status, path)) == NULL)
        return call_natively(call);
    if (has_registers(name))
        return read_register(call, name, call->a[3]);
    if (call->a[3] == 0)
        power_file_refresh(call, &status);
    return call_natively(call);
}

/* Calls that set the times of files: the file gets the given times, or the present virtual time, and the shim records them. */
#include "shim/core/memory.h"
#include "shim/sys/file/file.h"
#include "shim/turn/turn.h"

#define TIME_NOW ((1L << 30) - 1)  /* UTIME_NOW */
#define TIME_OMIT ((1L << 30) - 2) /* UTIME_OMIT */
#define MICROSECONDS 1000000L

struct request {
    long folder;
    const char *path; /* NULL: the descriptor of the folder is that of the file itself */
    long flags;
    struct kernel_timespec times[2]; /* the time of access, and that of modification */
};

static bool look(const struct request *request, struct stat *status)
{
    if (request->path == NULL)
        return NATIVE(fstat, request->folder, status) == 0;
    return NATIVE(newfstatat, request->folder, request->path, status, request->flags) == 0;
}

/* Read the times that the kernel has stored, since file systems round times and have a limited range. */
static void note(struct call *call, const struct request *asked, const struct request *given, bool kept)
{
    struct stat status;
    struct kernel_timespec stored[2];
    const struct kernel_timespec *noted[2] = {NULL, NULL};

    if (!look(given, &status))
        return;
    stored[0] = (struct kernel_timespec){(int64_t)status.st_atime, (int64_t)status.st_atime_nsec};
    stored[1] = (struct kernel_timespec){(int64_t)status.st_mtime, (int64_t)status.st_mtime_nsec};
    for (int i = 0; i < 2; i++)
        if (asked->times[i].nanoseconds != TIME_OMIT)
            noted[i] = kept ? &stored[i] : &given->times[i];
    file_note_times(call->thread, &status, noted[0], noted[1]);
}

static long set_times(struct call *call, const struct request *asked)
{
    struct request given = *asked;
    const struct kernel_timespec *times = asked->times;
    bool asks_now = times[0].nanoseconds == TIME_NOW || times[1].nanoseconds == TIME_NOW;
    int64_t now = asks_now ? clock_read(call->thread, CLOCK_REALTIME) : 0;
    long result;

    for (int i = 0; i < 2; i++)
        if (times[i].nanoseconds == TIME_NOW)
            given.times[i] = (struct kernel_timespec){now / SECOND_NS, now % SECOND_NS};
    result = NATIVE(utimensat, given.folder, given.path, given.times, given.flags);
    if (result == 0 && (times[0].nanoseconds != TIME_OMIT || times[1].nanoseconds != TIME_OMIT))
        note(call, asked, &given, true);
    if (result != -EPERM || !asks_now)
        return result;
    /* A user who may write a file but does not own it may only set its times to the kernel's present time. */
    result = NATIVE(utimensat, asked->folder, asked->path, asked->times, asked->flags);
    if (result == 0)
        note(call, asked, &given, false);
    return result;
}

static const struct kernel_timespec both_now[2] = {{.nanoseconds = TIME_NOW}, {.nanoseconds = TIME_NOW}};

long sys_utimensat(struct call *call)
{
    struct request request = {call->a[0], (const char *)call->a[1], call->a[3], {both_now[0], both_now[1]}};

    if (call->a[2] != 0 && is_bad_pointer((void *)call->a[2]))
        return -EFAULT;
    if (call->a[2] != 0)
        memcpy(request.times, (void *)call->a[2], sizeof request.times);
    return set_times(call, &request);
}

/* In the older calls, the second member has microseconds, or there is no second member. */
static long set_old_times(struct call *call, long folder, long path, const int64_t *values, int stride)
{
    struct request request = {folder, (const char *)path, 0, {both_now[0], both_now[1]}};

    if (values != NULL && is_bad_pointer(values))
        return -EFAULT;
    if (path == 0 && folder == AT_FDCWD)
        return -EFAULT;
    for (int i = 0; values != NULL && i < 2; i++) {
        int64_t rest = stride == 2 ? values[2 * i + 1] : 0;

        if (rest < 0 || rest >= MICROSECONDS)
            return -EINVAL;
        request.times[i] = (struct kernel_timespec){values[stride * i], rest * 1000};
    }
    return set_times(call, &request);
}

long sys_utime(struct call *call)
{
    return set_old_times(call, AT_FDCWD, call->a[0], (const int64_t *)call->a[1], 1);
}

long sys_utimes(struct call *call)
{
    return set_old_times(call, AT_FDCWD, call->a[0], (const int64_t *)call->a[1], 2);
}

long sys_futimesat(struct call *call)
{
    return set_old_times(call, call->a[0], call->a[1], (const int64_t *)call->a[2], 2);
}

/* Opening a FIFO waits for its other side, at a futex word that stands for the FIFO's inode. */
#include "shim/core/channel.h"
#include "shim/sys/file/file.h"
#include "shim/turn/turn.h"

/* Open the FIFO as the caller has asked, with additional flags. */
long open_natively(const struct opening *opening, uint64_t more_flags)
{
    struct open_how how = opening->how;

    how.flags |= more_flags;
    return NATIVE(openat2, opening->directory, opening->path, &how, sizeof how);
}

static struct wait fifo_wait(const struct stat *status)
{
    return (struct wait){
        .kind = PARK_FUTEX,
        .deadline = NEVER,
        .a = SPACE_FIFOS,
        .b = inode_word(status),
        .c = ~0U,
    };
}

/* One side of a FIFO was opened, or waits for the other side: let the waiting threads look again. */
void fifo_changed(struct call *call, const struct stat *status)
{
    struct wait wait = fifo_wait(status);
    struct reply reply;

    ASK(call->thread, &reply, OP_WAKE, SPACE_FIFOS, (int64_t)wait.b, 1 << 30, ~0U);
}

/* If the FIFO has no data, a read returns -EAGAIN if there is a writer, else 0. */
static bool has_no_writer(long fd)
{
    struct pollfd entry = {.fd = (int)fd, .events = POLLIN};
    char byte;

    return NATIVE(poll, &entry, 1, 0) == 0 && NATIVE(read, fd, &byte, 1) == 0;
}

/* A writer tries to open until there is a reader; a reader opens, which lets writers succeed, and then waits for a writer. */
long fifo_open(struct call *call, const struct opening *opening, const struct stat *status)
{
    bool reads = (opening->how.flags & O_ACCMODE) == O_RDONLY;
    struct wait wait = fifo_wait(status);
    long result = 0;
    long fd;

    while ((fd = open_natively(opening, O_NONBLOCK)) == -ENXIO && result >= 0)
        result = wait_on(call, &wait, true);
    if (fd < 0)
        return result < 0 ? result : fd;
    fifo_changed(call, status);
    while (reads && result >= 0 && has_no_writer(fd))
        result = wait_on(call, &wait, true);
    if (result < 0) {
        NATIVE(close, fd);
        return result;
    }
    /* no other descriptor has this open file yet */
    NATIVE(fcntl, fd, F_SETFL, opening->how.flags & ~(uint64_t)(O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY));
    return fd;
}

bool is_fifo(const struct stat *status)
{
    return (status->st_mode & S_IFMT) == S_IFIFO;
}

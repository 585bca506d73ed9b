/* Masters of terminals: the kernel's line discipline is real, but runs in a work queue of the kernel, at a real time of its
 * own. Characters that are typed at a master go to the server, which makes the line discipline take them at once; a
 * reader of a master reads all that was written so far. */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/sys/io/io.h"
#include "shim/turn/turn.h"

#define TIOCGPKT 0x80045438UL
#define TYPED_MAX 1024
#define PAUSE_NS 1000000

/* Type characters at a terminal: return how many bytes were taken, or -EAGAIN if only the kernel's work queue can
 * deliver them. */
long terminal_type(struct call *call, int number, const char *bytes, size_t size)
{
    struct msgpack_writer writer;
    struct reply reply;

    if (size == 0 || size > TYPED_MAX || is_bad_pointer(bytes))
        return -EAGAIN;
    request_start(call->thread, &writer, OP_TYPED);
    msgpack_put_int(&writer, number);
    msgpack_put_bytes(&writer, bytes, size);
    return request_call(call->thread, &writer, &reply);
}

/* Read on from a master after `done` bytes. A poll makes the kernel deliver characters that are under way, but only if
 * nothing is left to read: so the reader goes on until nothing comes. In packet mode, each read returns one kind of
 * event, and only one read is made. */
long terminal_read_on(int fd, char *bytes, size_t size, long done)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int packets = 0;

    if (NATIVE(ioctl, fd, TIOCGPKT, &packets) != 0 || packets != 0)
        return done;
    while ((size_t)done < size && NATIVE(poll, &polled, 1, 0) == 1 && (polled.revents & POLLIN) != 0) {
        long more = NATIVE(read, fd, bytes + done, size - (size_t)done);

        if (more <= 0)
            break;
        done += more;
    }
    return done;
}

/* Wait until the terminal takes more. The terminal may have room, but not enough for the output of one character (CR
 * and LF): then wait for a while. */
static long wait_for_room(struct call *call, const struct fd *fd, bool restarts)
{
    struct pollfd entry = {.fd = fd->number, .events = POLLOUT};
    struct wait pause = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, PAUSE_NS), .a = (uint64_t)fd->number};

    if (NATIVE(poll, &entry, 1, 0) != 0)
        return wait_on(call, &pause, restarts);
    return wait_polled(call, &entry, 1, NEVER, restarts);
}

/* A blocking write to a slave whose master no process reads would wait in the kernel, so the shim writes by an open
 * file of its own, which does not block. The application's open file may be shared with processes outside of the
 * emulation, so its flags are not changed. */
long terminal_write(struct call *call, const struct fd *fd, const char *bytes, size_t size)
{
    long again = is_nonblocking(fd->number) ? -EAGAIN : proc_open_again(fd->number, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    size_t done = 0;
    long result = job_control_write(call, fd->number);

    if (again < 0 && result == 0) /* the write is not to wait, or the terminal cannot be opened: it was hung up, for
                                   * example, or belongs to another user */
        return NATIVE(write, fd->number, bytes, size);
    while (done < size && result >= 0) {
        result = NATIVE(write, again, bytes + done, size - done);
        if (result == -EAGAIN)
            result = wait_for_room(call, fd, done == 0);
        else if (result > 0)
            done += (size_t)result;
    }
    if (again >= 0)
        NATIVE(close, again);
    return done > 0 ? (long)done : result;
}

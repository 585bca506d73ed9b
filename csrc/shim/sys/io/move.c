/* Moving bytes from one descriptor to another, without the application's memory, or directly from it. */
#include "shim/sys/file/file.h"
#include "shim/sys/io/io.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define SPLICE_NONBLOCK 2 /* SPLICE_F_NONBLOCK */

/* vmsplice waits for room, or for data at a pipe's reading end, and then moves the bytes that can be moved without waiting. */
long sys_vmsplice(struct call *call)
{
    int fd = (int)call->a[0];
    bool writes = (NATIVE(fcntl, fd, F_GETFL, 0) & O_ACCMODE) == O_WRONLY;
    long result = (call->a[3] & SPLICE_NONBLOCK) != 0 ? 0 : wait_ready(call, fd, writes ? POLLOUT : POLLIN, 0);

    if (result < 0)
        return result;
    if (!is_nonblocking(fd))
        call->a[3] |= SPLICE_NONBLOCK;
    return call_natively(call);
}

/* sendfile to a pipe or socket: moves pieces of the size for which poll guarantees room. */
long sys_sendfile(struct call *call)
{
    size_t size = (size_t)call->a[3];
    size_t done = 0;
    struct fd out;

    fd_look((int)call->a[0], &out);
    if (out.kind == FD_FILE && is_device(call->thread, &out.status))
        return device_swallows(call, 0);
    if (out.kind == FD_FILE)
        return file_written(call, &out.status, call_natively(call));
    while (done < size) {
        size_t piece = size - done < SURE_ROOM * 4 ? size - done : SURE_ROOM * 4;
        long result = wait_to_write(call, &out, SO_SNDTIMEO);

        if (result == 0)
            result = NATIVE(sendfile, out.number, call->a[1], call->a[2], piece);
        if (result < 0 && done == 0)
            return stream_sent(call, &out, 0, size, result);
        if (result <= 0)
            break;
        done += (size_t)result;
    }
    return stream_sent(call, &out, 0, size, (long)done);
}

/* splice, tee: wait for both ends, then move without waiting. The flags are in different arguments of the two calls. */
static long move_pipe(struct call *call, int in, const struct fd *out, int flags_at)
{
    long result;

    if (call->a[flags_at] & SPLICE_NONBLOCK)
        return call_natively(call);
    for (;;) {
        result = wait_ready(call, in, POLLIN, 0);
        if (result == 0)
            result = wait_to_write(call, out, 0);
        if (result != 0)
            return result;
        call->a[flags_at] |= SPLICE_NONBLOCK;
        result = call_natively(call);
        if (result != -EAGAIN || is_nonblocking(in) || is_nonblocking(out->number))
            return result;
        clock_charge_poll(call);
    }
}

long sys_splice(struct call *call)
{
    struct fd out;
    long result;

    fd_look((int)call->a[2], &out);
    if (out.kind == FD_FILE && is_device(call->thread, &out.status)) {
        result = wait_ready(call, (int)call->a[0], POLLIN, 0);
        return result == 0 ? device_swallows(call, 2) : result;
    }
    result = stream_sent(call, &out, 0, ~0UL, move_pipe(call, (int)call->a[0], &out, 5));
    return out.kind == FD_FILE ? file_written(call, &out.status, result) : result;
}

long sys_tee(struct call *call)
{
    struct fd out;

    fd_look((int)call->a[1], &out);
    return move_pipe(call, (int)call->a[0], &out, 3);
}

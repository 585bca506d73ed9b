/* Masters of terminals: the kernel's line discipline is real, but runs in a work queue of the kernel, at a real time of its
 * own. What is typed at a master goes to the server, which has the line discipline take it at once; a reader of a master takes
 * all that has been written so far. */
#include "shim/core/channel.h"
#include "shim/sys/io/io.h"

#define TIOCGPKT 0x80045438UL
#define TYPED_MAX 1024

/* Type at a terminal: how many bytes were taken, or -EAGAIN if the kernel has to do it in its own time. */
long terminal_type(struct call *call, int number, const char *bytes, size_t size)
{
    struct msgpack_writer writer;
    struct reply reply;

    if (size == 0 || size > TYPED_MAX || is_bad_pointer(bytes))
        return -EAGAIN;
    request_start(call->thread, &writer, OP_TYPED, 2);
    msgpack_put_int(&writer, number);
    msgpack_put_bytes(&writer, bytes, size);
    return request_call(call->thread, &writer, &reply);
}

/* Read on from a master after `done` bytes. A poll has the kernel deliver what is under way, but only once nothing is left to
 * read: so the reader goes on until nothing comes. In packet mode each read tells of something else. */
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

/* read, readv, preadv2. The kind of a descriptor decides how its bytes are read: see the table `readers`. */
#include "shim/core/memory.h"
#include "shim/sys/file/file.h"
#include "shim/sys/io/io.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define SIGNALFD_RECORD 128 /* sizeof(struct signalfd_siginfo): the signal, an errno, the code, the sender */
#define PARTS_MAX 1024      /* UIO_MAXIOV */

typedef long (*reader)(struct call *call, const struct fd *fd);

static bool is_signalfd(int number)
{
    static const char name[] = "anon_inode:[signalfd]";
    char path[64] = "";
    char link[sizeof name];

    text_append_number(text_append(path, path + sizeof path, "/proc/self/fd/"), path + sizeof path, number);
    return NATIVE(readlink, path, link, sizeof link) == sizeof name - 1 && memcmp(link, name, sizeof name - 1) == 0;
}

static long read_any(struct call *call, const struct fd *fd)
{
    long result = wait_ready(call, fd->number, POLLIN, 0);

    return result == 0 ? call_natively(call) : result;
}

/* A read of a file of /proc may wait as well; at the end of a random device's bytes, new bytes are made. */
static long read_file(struct call *call, const struct fd *fd)
{
    long result = read_any(call, fd);

    if (result == 0 && call->number == __NR_read)
        result = power_register_read(call, &fd->status);
    return result == 0 && random_refill(call, fd->number) ? call_natively(call) : result;
}

static long read_terminal(struct call *call, const struct fd *fd)
{
    long result = read_any(call, fd);

    if (result <= 0 || call->number != __NR_read)
        return result;
    return terminal_read_on(fd->number, (char *)call->a[1], (size_t)call->a[2], result);
}

/* The memory for the bytes of a read or readv; `one` is the only part of a read. */
static struct message_header message_of(const struct call *call, struct iovec *one)
{
    if (call->number == __NR_readv)
        return (struct message_header){.iov = (void *)call->a[1], .iov_length = (size_t)call->a[2]};
    *one = (struct iovec){(void *)call->a[1], (size_t)call->a[2]};
    return (struct message_header){.iov = one, .iov_length = 1};
}

static long read_slave(struct call *call, const struct fd *fd)
{
    long result = job_control_read(call, fd->number);

    return result == 0 ? read_any(call, fd) : result;
}

static long read_socket(struct call *call, const struct fd *fd)
{
    struct iovec one;
    struct message_header message = message_of(call, &one);
    long result = socket_wait_to_receive(call, fd, 0);

    return socket_received(call, fd, &message, 0, result == 0 ? call_natively(call) : result);
}

static long read_datagram(struct call *call, const struct fd *fd)
{
    struct iovec one;
    struct message_header message = message_of(call, &one);

    return datagram_receive(call, fd, &message, 0);
}

/* Record the senders of signals that are read from a signalfd. */
static long read_anonymous(struct call *call, const struct fd *fd)
{
    struct process *process = call->thread->process;
    long result = read_any(call, fd);

    if (process->has_signalfd && call->number == __NR_read && result > 0 && result % SIGNALFD_RECORD == 0 &&
        is_signalfd(fd->number))
        for (const uint32_t *at = (void *)call->a[1], *end = at + result / 4; at < end; at += SIGNALFD_RECORD / 4)
            signals_note_sender(process, (int)at[0], (int)at[2], (int)at[3]);
    return result;
}

static const reader readers[FD_KINDS] = {
    [FD_NONE] = read_any,      [FD_FILE] = read_file,           [FD_PIPE] = read_any,          [FD_TERMINAL] = read_terminal,
    [FD_SLAVE] = read_slave,   [FD_ANONYMOUS] = read_anonymous, [FD_OTHER] = read_any,         [FD_SOCKET] = read_socket,
    [FD_STREAM] = read_socket, [FD_NETLINK] = read_socket,      [FD_DATAGRAM] = read_datagram,
};

/* read, readv */
long sys_read(struct call *call)
{
    struct fd fd;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    if (call->number == __NR_read && call->a[2] == 0)
        return call_natively(call);
    if (call->number == __NR_readv && (uint64_t)call->a[2] > PARTS_MAX)
        return call_natively(call); /* the kernel reports what is wrong */
    fd_look((int)call->a[0], &fd);
    return readers[fd.kind](call, &fd);
}

/* preadv2 at the offset -1, on a descriptor that is no regular file, is readv. */
long sys_preadv2(struct call *call)
{
    struct fd fd;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    fd_look((int)call->a[0], &fd);
    if (!has_no_position(call, &fd))
        return call_natively(call);
    call->number = __NR_readv;
    return readers[fd.kind](call, &fd);
}

/* getsockopt, setsockopt: options that the kernel would answer for the AF_UNIX pair instead of the internet socket, or
 * that have an effect in the server. */
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"

#define SO_ACCEPTCONN_OPTION 30
#define SO_PEERCRED_OPTION 17
#define SO_REUSEADDR_OPTION 2
#define SO_KEEPALIVE_OPTION 9
#define SO_LINGER_OPTION 13
#define SO_REUSEPORT_OPTION 15
#define SO_PASSPIDFD_OPTION 76
#define SO_PEERPIDFD_OPTION 77

static const uint8_t server_options[] = {
    SO_BINDTODEVICE,
    SO_ATTACH_FILTER,
    SO_PEERNAME,
    SO_PEERSEC,
    SO_PASSCRED,
    SO_PASSSEC,
    SO_INCOMING_CPU,
    SO_ATTACH_BPF,
    SO_ATTACH_REUSEPORT_CBPF,
    SO_ATTACH_REUSEPORT_EBPF,
    SO_COOKIE,
    SO_PEERGROUPS,
    SO_NETNS_COOKIE,
    SO_PASSPIDFD_OPTION,
    SO_PEERPIDFD_OPTION,
    SO_TIMESTAMP_OLD,
    SO_TIMESTAMPNS_OLD,
    SO_TIMESTAMPING_OLD,
    SO_TIMESTAMP_NEW,
    SO_TIMESTAMPNS_NEW,
    SO_TIMESTAMPING_NEW,
    SO_TYPE_OPTION,
    SO_ERROR_OPTION,
    SO_ACCEPTCONN_OPTION,
    SO_PROTOCOL_OPTION,
    SO_DOMAIN_OPTION,
    SO_PEERCRED_OPTION,
    SO_REUSEADDR_OPTION,
    SO_BROADCAST,
    SO_LINGER_OPTION,
    SO_REUSEPORT_OPTION,
    SO_KEEPALIVE_OPTION,
};

static bool is_server_option(long level, long option)
{
    for (size_t i = 0; i < sizeof server_options; i++)
        if (level == SOL_SOCKET_LEVEL && option == server_options[i])
            return true;
    return level != SOL_SOCKET_LEVEL;
}

/* The kernel applies the option for credentials of a netlink socket to the pair; netlink.c corrects the credentials. */
static bool is_kernels(enum fd_kind kind, long level, long option)
{
    return kind == FD_NETLINK && level == SOL_SOCKET_LEVEL && option == SO_PASSCRED;
}

/* Return whether the server answers for this option of this socket. If so, the socket is simulated, and `fd` describes
 * it. */
static bool is_servers(const struct call *call, struct fd *fd)
{
    if (!is_server_option(call->a[1], call->a[2]))
        return false;
    fd_look_socket((int)call->a[0], fd);
    return fd_is_simulated(fd) && !is_kernels(fd->kind, call->a[1], call->a[2]);
}

static long store_error(long error, void *to, uint32_t *length)
{
    int value = (int)error;

    if (*length > sizeof value)
        *length = sizeof value;
    memcpy(to, &value, *length);
    return 0;
}

long sys_getsockopt(struct call *call)
{
    struct fd fd;
    uint32_t *length = (uint32_t *)call->a[4];
    struct reply reply;

    if (!is_servers(call, &fd))
        return NATIVE(getsockopt, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);
    if ((int)*length < 0)
        return -EINVAL;
    if (is_bad_pointer((void *)call->a[3]))
        return -EFAULT;
    if (call->a[1] == SOL_SOCKET_LEVEL && call->a[2] == SO_ERROR_OPTION)
        return store_error(-socket_pending_error(call, &fd), (void *)call->a[3], length);
    if (ASK(call->thread, &reply, OP_SOCKET_GET, fd.socket, call->a[1], call->a[2]) < 0)
        return reply.status;
    if (reply.values.count < 2 || reply.values.kind[1] != 'b')
        return -ENOPROTOOPT;
    if (*length > reply.values.length[1])
        *length = (uint32_t)reply.values.length[1];
    memcpy((void *)call->a[3], reply.values.bytes[1], *length);
    return 0;
}

/* The buffer of the pair's other end limits the bytes that a datagram socket can hold; the server sets this buffer. A
 * stream whose buffers are forced to be larger than usual has an equally large window. */
static bool is_buffer(long level, long option)
{
    return level == SOL_SOCKET_LEVEL && (option == SO_RCVBUF || option == SO_RCVBUFFORCE || option == SO_SNDBUFFORCE);
}

static bool is_buffer_of_server(enum fd_kind kind, long option)
{
    return kind == FD_DATAGRAM ? option != SO_SNDBUFFORCE : kind == FD_STREAM && option != SO_RCVBUF;
}

static long set_buffer(struct call *call)
{
    struct fd fd;
    struct msgpack_writer writer;
    struct reply reply;
    long result = NATIVE(setsockopt, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);

    if (result != 0)
        return result;
    fd_look_socket((int)call->a[0], &fd);
    if (!is_buffer_of_server(fd.kind, call->a[2]))
        return result;
    request_start(call->thread, &writer, OP_SOCKET_SET);
    msgpack_put_int(&writer, fd.socket);
    msgpack_put_int(&writer, SOL_SOCKET_LEVEL);
    msgpack_put_int(&writer, call->a[2]);
    msgpack_put_bytes(&writer, (void *)call->a[3], sizeof(int));
    return request_call(call->thread, &writer, &reply);
}

long sys_setsockopt(struct call *call)
{
    struct fd fd;
    struct msgpack_writer writer;
    struct reply reply;
    size_t length = (size_t)(uint32_t)call->a[4];

    if (is_buffer(call->a[1], call->a[2]))
        return set_buffer(call);
    if (!is_servers(call, &fd))
        return NATIVE(setsockopt, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);
    if (length > 1024)
        return -EINVAL;
    if (length > 0 && is_bad_pointer((void *)call->a[3]))
        return -EFAULT;
    request_start(call->thread, &writer, OP_SOCKET_SET);
    msgpack_put_int(&writer, fd.socket);
    msgpack_put_int(&writer, call->a[1]);
    msgpack_put_int(&writer, call->a[2]);
    msgpack_put_bytes(&writer, (void *)call->a[3], length);
    return request_call(call->thread, &writer, &reply);
}

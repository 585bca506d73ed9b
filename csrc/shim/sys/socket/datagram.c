/* UDP and ICMP: between shim and server, a datagram has a small header in front that contains its address. */
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define PARTS_MAX 64
#define ECHO_HEADER_BYTES 8
#define ECHO_REQUEST 8
#define ECHO_REQUEST_6 128

/* Write a sockaddr into the header. Returns 0 or -errno. No name means the connected peer. */
static long to_header(const struct message_header *message, struct simunix_datagram *header)
{
    const uint8_t *name = message->name;
    uint16_t family;

    memset(header, 0, sizeof *header);
    if (name == NULL || message->name_length == 0)
        return 0;
    if (message->name_length > ADDRESS_BYTES_MAX)
        return -EINVAL;
    if (is_bad_pointer(name))
        return -EFAULT;
    memcpy(&family, name, sizeof family);
    if (family == AF_INET && message->name_length >= 16)
        memcpy(header->address, name + 4, 4);
    else if (family == AF_INET6 && message->name_length >= 24)
        memcpy(header->address, name + 8, 16);
    else
        return family == AF_INET || family == AF_INET6 ? -EINVAL : -EAFNOSUPPORT;
    header->family = family == AF_INET ? 4 : 6;
    header->port = (uint16_t)(name[2] << 8 | name[3]);
    return 0;
}

static void from_header(const struct simunix_datagram *header, struct message_header *message)
{
    uint8_t name[28] = {header->family == 4 ? AF_INET : AF_INET6};
    uint32_t size = header->family == 4 ? 16 : 28;

    if (message->name == NULL)
        return;
    name[2] = (uint8_t)(header->port >> 8);
    name[3] = (uint8_t)header->port;
    memcpy(name + (header->family == 4 ? 4 : 8), header->address, header->family == 4 ? 4 : 16);
    memcpy(message->name, name, message->name_length < size ? message->name_length : size);
    message->name_length = size;
}

static long with_header(const struct message_header *message, struct simunix_datagram *header, struct iovec *parts)
{
    if (message->iov_length > PARTS_MAX - 1)
        return -EMSGSIZE;
    parts[0] = (struct iovec){header, sizeof *header};
    memcpy(parts + 1, message->iov, message->iov_length * sizeof *parts);
    return (long)message->iov_length + 1;
}

/* Return whether this is a multicast address, or perhaps a broadcast address: only the server knows the host's networks. */
static bool may_be_many(const struct simunix_datagram *header)
{
    if (header->family == 4)
        return header->address[0] >> 4 == 0xe || header->address[3] == 255;
    return header->family == 6 && header->address[0] == 0xff;
}

static long ask_permission(struct call *call, const struct fd *fd, const struct simunix_datagram *header)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(call->thread, &writer, OP_MAY_SEND);
    msgpack_put_int(&writer, fd->socket);
    msgpack_put_int(&writer, header->family);
    msgpack_put_bytes(&writer, header->address, header->family == 4 ? 4 : 16);
    return request_call(call->thread, &writer, &reply);
}

/* Check the destination. A send without an address needs a connected socket: so the server is asked for the peer first. */
static long check_destination(struct call *call, const struct fd *fd, const struct simunix_datagram *header)
{
    struct reply reply;

    if (may_be_many(header))
        return ask_permission(call, fd, header);
    if (header->family != 0)
        return 0;
    if (ASK(call->thread, &reply, OP_PEERNAME, fd->socket) >= 0)
        return 0;
    return ASK(call->thread, &reply, OP_MORE, fd->socket, -1) == 1 ? 0 : -EDESTADDRREQ; /* the datagram has an address */
}

/* Return an ICMP error that has arrived, and remove it from the head of the queue; the first call of any kind returns
 * the error, once. 0 if there is none. */
long datagram_take_error(int fd)
{
    struct simunix_datagram header = {0};
    long size = NATIVE(recvfrom, fd, &header, sizeof header, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);

    if (size < (long)sizeof header || header.error == 0)
        return 0;
    NATIVE(recvfrom, fd, &header, sizeof header, MSG_DONTWAIT, NULL, NULL);
    return -(long)header.error;
}

/* Check the message that a ping socket sends. Returns 0 or -errno, see ping_common_sendmsg in Linux's net/ipv4/ping.c. */
static long check_echo_request(const struct message_header *message, size_t size)
{
    const uint8_t *head = message->iov_length > 0 ? message->iov[0].iov_base : NULL;

    if (size > 0xffff)
        return -EMSGSIZE;
    if (size < ECHO_HEADER_BYTES || message->iov[0].iov_len < 2)
        return -EINVAL;
    if (is_bad_pointer(head))
        return -EFAULT;
    return (head[0] == ECHO_REQUEST || head[0] == ECHO_REQUEST_6) && head[1] == 0 ? 0 : -EINVAL;
}

long datagram_send(struct call *call, const struct fd *fd, const struct message_header *message, int flags)
{
    struct simunix_datagram header;
    struct iovec parts[PARTS_MAX];
    struct message_header wrapped = {.iov = parts};
    size_t size = message_size(message);
    long result = fd->is_ping ? check_echo_request(message, size) : 0;

    if (result == 0)
        result = to_header(message, &header);
    if (result == 0)
        result = cmsg_send(message, &header);
    if (result == 0)
        result = check_destination(call, fd, &header);
    if (result == 0)
        result = datagram_take_error(fd->number);
    if (result != 0)
        return result;
    if (size > 65507)
        return -EMSGSIZE;
    header.fields |= (flags & MSG_MORE) != 0 ? DATAGRAM_MORE : 0;
    result = with_header(message, &header, parts);
    if (result < 0)
        return result;
    wrapped.iov_length = (size_t)result;
    if ((flags & MSG_DONTWAIT) == 0) {
        result = socket_wait_to_send(call, fd, SO_SNDTIMEO);
        if (result != 0)
            return result;
    }
    result = NATIVE(sendmsg, fd->number, &wrapped, flags | MSG_DONTWAIT);
    return result < 0 ? result : result - (long)sizeof header;
}

long datagram_receive(struct call *call, const struct fd *fd, struct message_header *message, int flags)
{
    struct simunix_datagram header = {0};
    struct iovec parts[PARTS_MAX];
    struct message_header wrapped = {.iov = parts};
    long result;

    if ((flags & MSG_DONTWAIT) == 0) {
        result = wait_ready(call, fd->number, POLLIN, SO_RCVTIMEO);
        if (result != 0)
            return result;
    }
    result = with_header(message, &header, parts);
    if (result < 0)
        return result;
    wrapped.iov_length = (size_t)result;
    result = NATIVE(recvmsg, fd->number, &wrapped, flags | (is_nonblocking(fd->number) ? MSG_DONTWAIT : 0));
    if (result < (long)sizeof header)
        return result < 0 ? result : 0;
    if (header.error != 0)
        return -(long)header.error;
    from_header(&header, message);
    message->flags = wrapped.flags & MSG_TRUNC;
    cmsg_receive(&header, message);
    return result - (long)sizeof header;
}

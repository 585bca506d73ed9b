/* Converts addresses of internet and netlink sockets between the application's layout and that of messages. */
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"

/* Write a sockaddr_in or sockaddr_in6 into a message, as (family, bytes, port). Returns false if it is neither or too
 * short. */
static bool put_address(struct msgpack_writer *writer, const uint8_t *address, uint32_t length)
{
    uint16_t family;

    if (is_bad_pointer(address) || length < 2)
        return false;
    memcpy(&family, address, sizeof family);
    if (family == AF_NETLINK && length >= 12) {
        msgpack_put_int(writer, family);
        msgpack_put_bytes(writer, address + 8, 4); /* groups: interfaces never change, so a listener receives nothing */
        msgpack_put_int(writer, *(const uint32_t *)(address + 4));
        return true;
    }
    if (!(family == AF_INET && length >= 16) && !(family == AF_INET6 && length >= 24))
        return false;
    msgpack_put_int(writer, family == AF_INET ? 4 : 6);
    msgpack_put_bytes(writer, address + (family == AF_INET ? 4 : 8), family == AF_INET ? 4 : 16);
    msgpack_put_int(writer, address[2] << 8 | address[3]);
    return true;
}

/* Write a sockaddr as the kernel does: as much as fits, with the full length. */
static void store_address(void *to, uint32_t *length, int family, const uint8_t *bytes, int port)
{
    uint8_t address[28] = {0};
    uint16_t number = family == 4 ? AF_INET : AF_INET6;
    uint32_t size = family == 4 ? 16 : 28;

    if (to == NULL || length == NULL)
        return;
    memcpy(address, &number, sizeof number);
    address[2] = (uint8_t)(port >> 8);
    address[3] = (uint8_t)port;
    memcpy(address + (family == 4 ? 4 : 8), bytes, family == 4 ? 4 : 16);
    memcpy(to, address, *length < size ? *length : size);
    *length = size;
}

/* Write a sockaddr_nl: the sender is given by its port number; 0 is the kernel. */
void netlink_store_address(void *to, uint32_t *length, uint32_t port)
{
    uint32_t address[3] = {AF_NETLINK, port, 0};

    if (to == NULL || length == NULL)
        return;
    memcpy(to, address, *length < sizeof address ? *length : sizeof address);
    *length = sizeof address;
}

void address_store_reply(void *to, uint32_t *length, const struct reply *reply)
{
    static const uint8_t nothing[16];
    const uint8_t *bytes = reply->values.count > 2 && reply->values.kind[2] == 'b' ? reply->values.bytes[2] : nothing;

    if (reply_number(reply, 1) == AF_NETLINK)
        netlink_store_address(to, length, (uint32_t)reply_number(reply, 3));
    else
        store_address(to, length, (int)reply_number(reply, 1), bytes, (int)reply_number(reply, 3));
}

/* Return whether the socket was made for this family of addresses. */
static bool is_of_family(struct call *call, int64_t id, int family)
{
    struct reply reply;
    int own = 0;

    if (ASK(call->thread, &reply, OP_SOCKET_GET, id, SOL_SOCKET_LEVEL, SO_DOMAIN_OPTION) == 0 && reply.values.kind[1] == 'b')
        memcpy(&own, reply.values.bytes[1], sizeof own);
    return own == family;
}

/* Return the kernel's error for an address that does not belong to the socket's family. */
static long bad_address(struct call *call, int64_t id, const uint8_t *address, uint32_t length)
{
    uint16_t family;

    if (is_bad_pointer(address))
        return -EFAULT;
    if (length < 16)
        return -EINVAL;
    memcpy(&family, address, sizeof family);
    return is_of_family(call, id, family) ? -EINVAL : -EAFNOSUPPORT;
}

/* Send a request with a socket's number, the address that the call gives, and one more number unless `extra` is -1. */
int64_t address_ask(struct call *call, int op, int64_t id, int extra, struct reply *reply)
{
    struct msgpack_writer writer;

    if ((uint32_t)call->a[2] > ADDRESS_BYTES_MAX)
        return -EINVAL;
    request_begin(call->thread, &writer, op, extra >= 0 ? 5 : 4);
    msgpack_put_int(&writer, id);
    if (!put_address(&writer, (const uint8_t *)call->a[1], (uint32_t)call->a[2]))
        return bad_address(call, id, (const uint8_t *)call->a[1], (uint32_t)call->a[2]);
    if (extra >= 0)
        msgpack_put_int(&writer, extra);
    return request_call(call->thread, &writer, reply);
}

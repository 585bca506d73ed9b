/* Internet sockets: one end of an AF_UNIX pair whose other end the server holds. AF_UNIX sockets are the kernel's; they only
 * wait our way. A socket of ours is known by its peer's abstract name, so that the knowledge survives dup, fork, exec and passing. */
#include "file_times.h"

#define SOL_IP 0
#define SOL_TCP 6
#define SOL_UDP 17
#define SOL_IPV6 41
#define SOL_ICMPV6 58
#define SO_TYPE_OPTION 3
#define SO_ERROR_OPTION 4
#define SO_ACCEPTCONN_OPTION 30
#define SO_PROTOCOL_OPTION 38
#define SO_DOMAIN_OPTION 39
#define SO_PEERCRED_OPTION 17
#define SO_REUSEADDR_OPTION 2
#define SO_KEEPALIVE_OPTION 9
#define SO_LINGER_OPTION 13
#define SO_PASSPIDFD_OPTION 76
#define SO_PEERPIDFD_OPTION 77
#define SO_REUSEPORT_OPTION 15

static const char socket_prefix[] = "\0simunix:"; /* then the type and ':' and 8 hexadecimal digits */

/* The server's number of a simulated socket, its type ('s' stream, 'd' datagram) if asked; -1 for anything else. */
int64_t socket_id(int fd, char *type)
{
    struct unix_address address;
    uint32_t length = sizeof address;
    int64_t id = 0;

    if (NATIVE(getpeername, fd, &address, &length) != 0 || address.family != AF_UNIX ||
        length < 2 + SIMUNIX_SOCKET_NAME_LENGTH || memcmp(address.path, socket_prefix, sizeof socket_prefix - 1) != 0)
        return -1;
    if (type != NULL)
        *type = address.path[9];
    for (int i = 11; i < SIMUNIX_SOCKET_NAME_LENGTH; i++) {
        char c = address.path[i];

        id = id << 4 | (c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return id;
}

/* sockaddr_in and sockaddr_in6 as the wire's (family, bytes, port). False if it is neither or too short. */
static bool put_address(struct msgpack_writer *writer, const uint8_t *address, uint32_t length)
{
    uint16_t family;

    if (is_bad_pointer(address) || length < 2)
        return false;
    memcpy(&family, address, sizeof family);
    if (family == AF_NETLINK && length >= 12) {
        msgpack_put_int(writer, family);
        msgpack_put_bytes(writer, address + 8, 4); /* groups: whoever listens for changes hears none */
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

/* Write a sockaddr as the kernel does: as much as fits, the full length told. */
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

/* sockaddr_nl: who sends, by the number of its port; 0 is the kernel. */
void netlink_store_address(void *to, uint32_t *length, uint32_t port)
{
    uint32_t address[3] = {AF_NETLINK, port, 0};

    if (to == NULL || length == NULL)
        return;
    memcpy(to, address, *length < sizeof address ? *length : sizeof address);
    *length = sizeof address;
}

static void store_reply_address(void *to, uint32_t *length, const struct reply *reply)
{
    static const uint8_t nothing[16];
    const uint8_t *bytes = reply->values.count > 2 && reply->values.kind[2] == 'b' ? reply->values.bytes[2] : nothing;

    if (reply_number(reply, 1) == AF_NETLINK)
        netlink_store_address(to, length, (uint32_t)reply_number(reply, 3));
    else
        store_address(to, length, (int)reply_number(reply, 1), bytes, (int)reply_number(reply, 3));
}

static long finish_descriptor(struct call *call, int fd, int flags)
{
    if ((flags & SOCK_CLOEXEC) == 0)
        NATIVE(fcntl, fd, F_SETFD, 0);
    if (flags & SOCK_NONBLOCK)
        NATIVE(fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return descriptor_checked(call, fd);
}

static int64_t family_number(long family)
{
    return family == AF_INET ? 4 : family == AF_INET6 ? 6 : family;
}

long sys_socket(struct call *call)
{
    int type = (int)call->a[1] & SOCK_TYPE_MASK;
    struct reply reply;

    if (call->a[0] == AF_UNIX)
        return descriptor_checked(call, NATIVE(socket, call->a[0], call->a[1], call->a[2]));
    if (call->a[0] != AF_INET && call->a[0] != AF_INET6 && call->a[0] != AF_NETLINK)
        return socket_family_refused(call);
    if ((call->a[1] & ~(long)(SOCK_TYPE_MASK | SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0)
        return -EINVAL;
    if (netlink_is_routing(call))
        return descriptor_checked(call, NATIVE(socket, call->a[0], call->a[1], call->a[2]));
    if (ASK(call->thread, &reply, OP_SOCKET, family_number(call->a[0]), type, call->a[2]) < 0)
        return call->a[0] == AF_NETLINK ? netlink_refused(call, reply.status) : reply.status;
    return finish_descriptor(call, reply.fd, (int)call->a[1]);
}

static bool is_of_family(struct call *call, int64_t id, int family)
{
    struct reply reply;
    int own = 0;

    if (ASK(call->thread, &reply, OP_SOCKET_GET, id, SOL_SOCKET_LEVEL, SO_DOMAIN_OPTION) == 0 && reply.values.kind[1] == 'b')
        memcpy(&own, reply.values.bytes[1], sizeof own);
    return own == family;
}

/* What the kernel says of an address that is not one of the socket's family. */
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

/* A request of an id and an address. */
static int64_t ask_address(struct call *call, int op, int64_t id, int extra, struct reply *reply)
{
    struct msgpack_writer writer;

    request_start(call->thread, &writer, op, extra >= 0 ? 5 : 4);
    msgpack_put_int(&writer, id);
    if (!put_address(&writer, (const uint8_t *)call->a[1], (uint32_t)call->a[2]))
        return bad_address(call, id, (const uint8_t *)call->a[1], (uint32_t)call->a[2]);
    if (extra >= 0)
        msgpack_put_int(&writer, extra);
    return request_call(call->thread, &writer, reply);
}

long sys_bind(struct call *call)
{
    int64_t id = socket_id((int)call->a[0], NULL);
    struct reply reply;

    if (id < 0 && netlink_take_over(call, (int)call->a[0]))
        id = socket_id((int)call->a[0], NULL);
    return id < 0 ? file_bind(call) : ask_address(call, OP_BIND, id, -1, &reply);
}

long sys_listen(struct call *call)
{
    int64_t id = socket_id((int)call->a[0], NULL);
    struct reply reply;

    return id < 0 ? NATIVE(listen, call->a[0], call->a[1]) : ASK(call->thread, &reply, OP_LISTEN, id, (int)call->a[1]);
}

/* A connect to an AF_UNIX listener whose backlog is full waits in the kernel: a send timeout of one tick makes it ask
 * instead, without touching the description's flags. */
static long connect_unix(struct call *call)
{
    struct kernel_timespec tick = {0, 1};
    struct kernel_timespec before = {0, 0};
    uint32_t length = sizeof before;
    int fd = (int)call->a[0];
    int64_t pause = 1000000;

    if (is_nonblocking(fd))
        return NATIVE(connect, fd, call->a[1], call->a[2]);
    NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_SNDTIMEO, &before, &length);
    for (;;) {
        long result;

        NATIVE(setsockopt, fd, SOL_SOCKET_LEVEL, SO_SNDTIMEO, &tick, sizeof tick);
        result = NATIVE(connect, fd, call->a[1], call->a[2]);
        NATIVE(setsockopt, fd, SOL_SOCKET_LEVEL, SO_SNDTIMEO, &before, sizeof before);
        if (result != -EAGAIN)
            return result;
        struct wait wait = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, pause), .a = (uint64_t)fd};
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
        pause = pause < SECOND_NS / 10 ? 2 * pause : pause;
    }
}

#define FILLER_PARTS 64

/* Make the descriptor not writable until the server, once connected, drains what stands here: a page many times over, in as few calls
 * as the buffer allows. */
static void fill_send_buffer(int fd)
{
    static char zeros[4096];
    struct iovec parts[FILLER_PARTS];
    struct message_header message = {.iov = parts, .iov_length = FILLER_PARTS};

    for (int i = 0; i < FILLER_PARTS; i++)
        parts[i] = (struct iovec){zeros, sizeof zeros};
    while (NATIVE(sendmsg, fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ;
}

/* A stream that could not be connected shows its error for ever: for the next attempt it gets a new pair. */
static void replace_descriptor(struct call *call, int fd, int fresh)
{
    struct epoll_entry watched[8];
    int watchers;
    long inherited = NATIVE(fcntl, fd, F_GETFD, 0);
    long flags = NATIVE(fcntl, fd, F_GETFL, 0);

    if (fresh < 0)
        return;
    watchers = epoll_entries_of(call, fd, watched, sizeof watched / sizeof watched[0]);
    NATIVE(fcntl, fresh, F_SETFL, flags);
    NATIVE(dup3, fresh, fd, inherited & FD_CLOEXEC ? O_CLOEXEC : 0);
    NATIVE(close, fresh);
    epoll_entries_renew(fd, watched, watchers);
}

/* connect to AF_UNSPEC: a datagram socket forgets its peer. */
static long disconnect(struct call *call, int64_t id)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(call->thread, &writer, OP_CONNECT, 5);
    msgpack_put_int(&writer, id);
    msgpack_put_int(&writer, 0);
    msgpack_put_bytes(&writer, "", 0);
    msgpack_put_int(&writer, 0);
    msgpack_put_int(&writer, 0);
    return request_call(call->thread, &writer, &reply);
}

long sys_connect(struct call *call)
{
    char type;
    int fd = (int)call->a[0];
    int64_t id = socket_id(fd, &type);
    bool waits = !is_nonblocking(fd);
    struct wait wait = {.kind = PARK_CONNECT, .deadline = NEVER, .a = (uint64_t)id};
    struct reply reply;
    long result;

    if (id < 0)
        return netlink_take_over(call, fd) ? sys_connect(call) : connect_unix(call);
    if (type == 'n') /* with the kernel it always is */
        return 0;
    if (type == 'd' && !is_bad_pointer((void *)call->a[1]) && call->a[2] >= 2 && *(uint16_t *)call->a[1] == 0)
        return disconnect(call, id);
    result = ask_address(call, OP_CONNECT, id, waits, &reply);
    if (result == -EINPROGRESS || result == 0)
        replace_descriptor(call, fd, reply.fd);
    else if (result == -ECONNREFUSED || result == -ETIMEDOUT) /* the last attempt's error: told, and so no longer pending */
        socket_take_error(fd);
    if (result != -EINPROGRESS)
        return result;
    if (!waits) {
        if (reply_number(&reply, 1) == 0) /* else it has ended already */
            fill_send_buffer(fd);
        return result;
    }
    do
        result = wait_on(call, &wait, false);
    while (result == WAKE_SIGNAL);
    return result < 0 ? result : wait.value;
}

/* A socket that listens, and has no token of a connection: what the server would say is known. */
static bool nobody_connects(const struct process *process, int fd, int64_t id)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};

    return stream_is(process, id, STREAM_LISTENS) && NATIVE(poll, &entry, 1, 0) == 0;
}

static long accept_one(struct call *call, int64_t id, int flags)
{
    struct process *process = call->thread->process;
    struct reply reply = {.status = -EAGAIN};
    char token;

    while (nobody_connects(process, (int)call->a[0], id) || ASK(call->thread, &reply, OP_ACCEPT, id) < 0) {
        long result;

        if (reply.status != -EAGAIN || is_nonblocking((int)call->a[0]))
            return reply.status;
        /* Somebody else took the connection: its token must not wake us again. */
        NATIVE(recvfrom, call->a[0], &token, 1, MSG_DONTWAIT, NULL, NULL);
        result = wait_ready(call, (int)call->a[0], POLLIN, SO_RCVTIMEO);
        if (result != 0)
            return result;
    }
    NATIVE(recvfrom, call->a[0], &token, 1, MSG_DONTWAIT, NULL, NULL);
    store_reply_address((void *)call->a[1], (uint32_t *)call->a[2], &reply);
    return finish_descriptor(call, reply.fd, flags);
}

static long accept_any(struct call *call, int flags)
{
    int64_t id = socket_id((int)call->a[0], NULL);
    long result;

    if (id >= 0)
        return accept_one(call, id, flags);
    result = wait_ready(call, (int)call->a[0], POLLIN, SO_RCVTIMEO);
    if (result != 0)
        return result;
    return descriptor_checked(call, NATIVE(accept4, call->a[0], call->a[1], call->a[2], flags));
}

long sys_accept(struct call *call)
{
    return accept_any(call, 0);
}

long sys_accept4(struct call *call)
{
    if ((call->a[3] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0)
        return -EINVAL;
    return accept_any(call, (int)call->a[3]);
}

static long get_name(struct call *call, int op)
{
    int64_t id = socket_id((int)call->a[0], NULL);
    struct reply reply;

    if (id < 0)
        return syscall6(call->number, call->a[0], call->a[1], call->a[2], 0, 0, 0);
    if (is_bad_pointer((void *)call->a[1]) || is_bad_pointer((void *)call->a[2]))
        return -EFAULT;
    if (ASK(call->thread, &reply, op, id) < 0)
        return reply.status;
    store_reply_address((void *)call->a[1], (uint32_t *)call->a[2], &reply);
    return 0;
}

long sys_getsockname(struct call *call)
{
    return get_name(call, OP_SOCKNAME);
}

long sys_getpeername(struct call *call)
{
    return get_name(call, OP_PEERNAME);
}

long sys_shutdown(struct call *call)
{
    int64_t id = socket_id((int)call->a[0], NULL);
    struct reply reply;

    if (id >= 0 && ASK(call->thread, &reply, OP_SHUTDOWN, id, call->a[1]) < 0)
        return reply.status;
    return NATIVE(shutdown, call->a[0], call->a[1]);
}

/* Options that the kernel would answer for the pair instead of the internet socket, or that the server heeds. */
static const uint8_t server_options[] = {
    SO_BINDTODEVICE, SO_ATTACH_FILTER, SO_PEERNAME, SO_PEERSEC, SO_PASSCRED, SO_PASSSEC, SO_INCOMING_CPU, SO_ATTACH_BPF,
    SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF, SO_COOKIE, SO_PEERGROUPS, SO_NETNS_COOKIE, SO_PASSPIDFD_OPTION,
    SO_PEERPIDFD_OPTION, SO_TIMESTAMP_OLD, SO_TIMESTAMPNS_OLD, SO_TIMESTAMPING_OLD, SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW,
    SO_TIMESTAMPING_NEW,
    SO_TYPE_OPTION,   SO_ERROR_OPTION,    SO_ACCEPTCONN_OPTION, SO_PROTOCOL_OPTION,  SO_DOMAIN_OPTION,
    SO_PEERCRED_OPTION, SO_REUSEADDR_OPTION, SO_BROADCAST, SO_LINGER_OPTION,     SO_REUSEPORT_OPTION,
    SO_KEEPALIVE_OPTION,
};

static bool is_server_option(long level, long option)
{
    for (size_t i = 0; i < sizeof server_options; i++)
        if (level == SOL_SOCKET_LEVEL && option == server_options[i])
            return true;
    return level != SOL_SOCKET_LEVEL;
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
    int64_t id;
    uint32_t *length = (uint32_t *)call->a[4];
    struct reply reply;

    if (!is_server_option(call->a[1], call->a[2]) || (id = socket_id((int)call->a[0], NULL)) < 0)
        return NATIVE(getsockopt, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);
    if (is_bad_pointer((void *)call->a[3]) || is_bad_pointer(length))
        return -EFAULT;
    if (call->a[1] == SOL_SOCKET_LEVEL && call->a[2] == SO_ERROR_OPTION)
        return store_error(-socket_pending_error(call, (int)call->a[0]), (void *)call->a[3], length);
    if (ASK(call->thread, &reply, OP_SOCKET_GET, id, call->a[1], call->a[2]) < 0)
        return reply.status;
    if (reply.values.count < 2 || reply.values.kind[1] != 'b')
        return -ENOPROTOOPT;
    if (*length > reply.values.length[1])
        *length = (uint32_t)reply.values.length[1];
    memcpy((void *)call->a[3], reply.values.bytes[1], *length);
    return 0;
}

/* What a datagram socket may hold is limited by the buffer of the pair's other end: the server sets it. A stream whose buffers
 * are forced beyond the usual has a window as large. */
static bool is_buffer(long level, long option)
{
    return level == SOL_SOCKET_LEVEL && (option == SO_RCVBUF || option == SO_RCVBUFFORCE || option == SO_SNDBUFFORCE);
}

static bool is_buffer_of_server(char type, long option)
{
    return type == 'd' ? option != SO_SNDBUFFORCE : type == 's' && option != SO_RCVBUF;
}

static long set_buffer(struct call *call)
{
    char type;
    int64_t id = socket_id((int)call->a[0], &type);
    struct msgpack_writer writer;
    struct reply reply;
    long result = NATIVE(setsockopt, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);

    if (result != 0 || id < 0 || !is_buffer_of_server(type, call->a[2]))
        return result;
    request_start(call->thread, &writer, OP_SOCKET_SET, 4);
    msgpack_put_int(&writer, id);
    msgpack_put_int(&writer, SOL_SOCKET_LEVEL);
    msgpack_put_int(&writer, call->a[2]);
    msgpack_put_bytes(&writer, (void *)call->a[3], sizeof(int));
    return request_call(call->thread, &writer, &reply);
}

long sys_setsockopt(struct call *call)
{
    int64_t id;
    struct msgpack_writer writer;
    struct reply reply;
    size_t length = (size_t)(uint32_t)call->a[4];

    if (is_buffer(call->a[1], call->a[2]))
        return set_buffer(call);
    if (!is_server_option(call->a[1], call->a[2]) || (id = socket_id((int)call->a[0], NULL)) < 0)
        return NATIVE(setsockopt, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);
    if (length > 1024)
        return -EINVAL;
    if (length > 0 && is_bad_pointer((void *)call->a[3]))
        return -EFAULT;
    request_start(call->thread, &writer, OP_SOCKET_SET, 4);
    msgpack_put_int(&writer, id);
    msgpack_put_int(&writer, call->a[1]);
    msgpack_put_int(&writer, call->a[2]);
    msgpack_put_bytes(&writer, (void *)call->a[3], length);
    return request_call(call->thread, &writer, &reply);
}

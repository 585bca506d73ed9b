/* Prints the arguments of calls about sockets: addresses, types, options, messages. */
#include "shim/strace/strace.h"

union address {
    uint16_t family;
    struct {
        uint16_t family;
        uint8_t port[2];
        uint8_t ip[4];
    } v4;
    struct {
        uint16_t family;
        uint8_t port[2];
        uint8_t flow[4];
        uint8_t ip[16];
        uint32_t scope;
    } v6;
    struct unix_address un;
    struct {
        uint16_t family;
        uint16_t pad;
        uint32_t pid;
        uint32_t groups;
    } netlink;
};

static unsigned big_endian(const uint8_t *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

static void put_v4(struct trace *trace, const union address *address, size_t length)
{
    (void)length;
    strace_put(trace, ", sin_port=htons(");
    strace_put_unsigned(trace, big_endian(address->v4.port));
    strace_put(trace, "), sin_addr=inet_addr(\"");
    for (int i = 0; i < 4; i++) {
        strace_put(trace, i > 0 ? "." : "");
        strace_put_unsigned(trace, address->v4.ip[i]);
    }
    strace_put(trace, "\")");
}

/* Find the longest run of zero groups, which is written as ::; of several, the first one (RFC 5952). */
static void longest_zeros(const uint8_t *ip, int *from, int *to)
{
    *from = *to = -1;
    for (int i = 0; i < 8; i++) {
        int end = i;

        while (end < 8 && big_endian(ip + 2 * end) == 0)
            end++;
        if (end - i >= 2 && end - i > *to - *from) {
            *from = i;
            *to = end;
        }
    }
}

static void put_v6_text(struct trace *trace, const uint8_t *ip)
{
    static const char digits[] = "0123456789abcdef";
    int from, to;

    longest_zeros(ip, &from, &to);
    for (int i = 0; i < 8; i++) {
        unsigned group = big_endian(ip + 2 * i);

        if (i == from) {
            strace_put(trace, "::");
            i = to - 1;
            continue;
        }
        strace_put(trace, i > 0 && i != to ? ":" : "");
        for (int shift = 12; shift >= 0; shift -= 4)
            if (group >> shift != 0 || shift == 0)
                strace_put_char(trace, digits[group >> shift & 15]);
    }
}

static void put_v6(struct trace *trace, const union address *address, size_t length)
{
    (void)length;
    strace_put(trace, ", sin6_port=htons(");
    strace_put_unsigned(trace, big_endian(address->v6.port));
    strace_put(trace, "), sin6_flowinfo=htonl(");
    strace_put_unsigned(trace, (uint64_t)big_endian(address->v6.flow) << 16 | big_endian(address->v6.flow + 2));
    strace_put(trace, "), inet_pton(AF_INET6, \"");
    put_v6_text(trace, address->v6.ip);
    strace_put(trace, "\", &sin6_addr), ");
    strace_put_member(trace, "sin6_scope_id", address->v6.scope);
}

/* A name in the file system ends at its zero. An abstract name, shown with @, is as long as the address says (unix(7)). */
static void put_unix(struct trace *trace, const union address *address, size_t length)
{
    const char *path = address->un.path;
    size_t size = length > 2 ? length - 2 : 0;
    size_t end = 0;

    if (size == 0)
        return;
    strace_put(trace, ", sun_path=");
    if (path[0] == '\0' && size > 1) {
        strace_put_char(trace, '@');
        strace_put_quoted(trace, path + 1, size - 1);
        return;
    }
    while (end < size && path[end] != '\0')
        end++;
    strace_put_quoted(trace, path, end);
}

static void put_netlink(struct trace *trace, const union address *address, size_t length)
{
    (void)length;
    strace_put(trace, ", nl_pid=");
    strace_pid(trace, address->netlink.pid, 0);
    strace_put(trace, ", nl_groups=");
    strace_put_address(trace, address->netlink.groups);
}

static const struct {
    int family;
    size_t size;
    void (*print)(struct trace *trace, const union address *address, size_t length);
} family_printers[] = {{AF_UNIX, 2, put_unix}, {AF_INET, 16, put_v4}, {AF_INET6, 28, put_v6}, {16, 12, put_netlink}};

static void put_sockaddr(struct trace *trace, uint64_t where, size_t length)
{
    union address address;

    memset(&address, 0, sizeof address);
    if (length > sizeof address)
        length = sizeof address;
    if (where == 0 || length < 2 || !strace_fetch(trace, &address, where, length)) {
        strace_put_address(trace, where);
        return;
    }
    strace_put(trace, "{sa_family=");
    strace_put_value(trace, strace_families, address.family);
    for (size_t i = 0; i < sizeof family_printers / sizeof family_printers[0]; i++)
        if (family_printers[i].family == address.family && length >= family_printers[i].size)
            family_printers[i].print(trace, &address, length);
    strace_put_char(trace, '}');
}

void strace_sockaddr_in(struct trace *trace, uint64_t value, int at)
{
    put_sockaddr(trace, value, (uint32_t)trace->a[at + 1]);
}

void strace_sockaddr_out(struct trace *trace, uint64_t value, int at)
{
    int length;

    if (value == 0 || !strace_fetch(trace, &length, trace->a[at + 1], sizeof length))
        strace_put_address(trace, value);
    else
        put_sockaddr(trace, value, (size_t)(length < trace->length_before ? length : trace->length_before));
}

void strace_socket_type_of(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_value(trace, strace_socket_types, value & SOCK_TYPE_MASK);
    if (value & SOCK_CLOEXEC)
        strace_put(trace, "|SOCK_CLOEXEC");
    if (value & SOCK_NONBLOCK)
        strace_put(trace, "|SOCK_NONBLOCK");
}

/* The protocol has names for internet families only; its meaning depends on the family. */
void strace_protocol_of(struct trace *trace, uint64_t value, int at)
{
    if (trace->a[0] == AF_INET || trace->a[0] == AF_INET6)
        strace_put_value(trace, strace_protocols, (uint32_t)value);
    else
        strace_int(trace, value, at);
}

static const struct {
    int level;
    const struct strace_flag *table;
} option_levels[] = {{0, strace_ip_options}, {1, strace_socket_options}, {6, strace_tcp_options}, {41, strace_ipv6_options}};

void strace_socket_option_of(struct trace *trace, uint64_t value, int at)
{
    for (size_t i = 0; i < sizeof option_levels / sizeof option_levels[0]; i++)
        if (option_levels[i].level == (int)trace->a[at - 1]) {
            strace_put_value(trace, option_levels[i].table, (uint32_t)value);
            return;
        }
    strace_put_hex(trace, (uint32_t)value);
}

/* Print the value of a socket option. Most options are ints; others are shown as bytes. */
static void put_option(struct trace *trace, uint64_t value, uint64_t length)
{
    int number;

    if (length != sizeof number || !strace_fetch(trace, &number, value, sizeof number)) {
        strace_data(trace, value, length);
        return;
    }
    strace_put_char(trace, '[');
    strace_put_number(trace, number);
    strace_put_char(trace, ']');
}

void strace_option_value_in(struct trace *trace, uint64_t value, int at)
{
    put_option(trace, value, (uint32_t)trace->a[at + 1]);
}

void strace_option_value_out(struct trace *trace, uint64_t value, int at)
{
    uint32_t length;

    if (value == 0 || !strace_fetch(trace, &length, trace->a[at + 1], sizeof length))
        strace_put_address(trace, value);
    else
        put_option(trace, value, length);
}

static void put_message(struct trace *trace, uint64_t value, uint64_t limit)
{
    struct message_header message;

    if (value == 0 || !strace_fetch(trace, &message, value, sizeof message)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{msg_name=");
    put_sockaddr(trace, (uint64_t)message.name, message.name_length);
    strace_put_member(trace, ", msg_namelen", message.name_length);
    strace_put(trace, ", msg_iov=");
    strace_iovecs(trace, (uint64_t)message.iov, message.iov_length, limit);
    strace_put_member(trace, ", msg_iovlen", (int64_t)message.iov_length);
    if (message.control_length > 0) {
        strace_put(trace, ", msg_control=");
        strace_put_address(trace, (uint64_t)message.control);
    }
    strace_put_member(trace, ", msg_controllen", (int64_t)message.control_length);
    strace_put(trace, ", msg_flags=");
    strace_put_flags(trace, strace_message_flags, message.flags);
    strace_put_char(trace, '}');
}

void strace_message_in(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    put_message(trace, value, ~0UL);
}

void strace_message_out(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    put_message(trace, value, (uint64_t)trace->result);
}

/* Ancillary data of datagrams (RFC 3542 and the same for IPv4): converts between the header of a datagram and control
 * messages. */
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define LEVEL_IP 0
#define LEVEL_IPV6 41
#define IP_TOS 1
#define IP_TTL 2
#define IP_PKTINFO 8
#define IPV6_PKTINFO 50
#define IPV6_HOPLIMIT 52
#define IPV6_TCLASS 67
#define LOOPBACK_INDEX 1
#define FIRST_INTERFACE_INDEX 2
#define ALIGNED(size) (((size) + 7) & ~7UL)

struct packet_info4 {
    int index;
    uint8_t local[4];
    uint8_t destination[4];
};

struct packet_info6 {
    uint8_t destination[16];
    int index;
};

/* Read one number for the header from a control message. Returns 0, or -EINVAL if the message has no number, or one out
 * of range; -1 asks for the default. */
static long take_number(const struct control_header *control, uint8_t *to, uint8_t *given, uint8_t bit)
{
    size_t size = control->length - sizeof *control;
    int value = *(const uint8_t *)(control + 1);

    if (size == sizeof value)
        memcpy(&value, control + 1, sizeof value);
    else if (size != 1 || control->level != LEVEL_IP)
        return -EINVAL;
    if (value < -1 || value > 255)
        return -EINVAL;
    if (value >= 0) {
        *to = (uint8_t)value;
        *given |= bit;
    }
    return 0;
}

static long take(const struct control_header *control, struct simunix_datagram *header)
{
    int key = control->level << 16 | control->type;

    switch (key) {
    case LEVEL_IP << 16 | IP_TTL:
    case LEVEL_IPV6 << 16 | IPV6_HOPLIMIT:
        return take_number(control, &header->hop_limit, &header->fields, DATAGRAM_HOP_LIMIT);
    case LEVEL_IP << 16 | IP_TOS:
    case LEVEL_IPV6 << 16 | IPV6_TCLASS:
        return take_number(control, &header->traffic_class, &header->fields, DATAGRAM_TRAFFIC_CLASS);
    case LEVEL_IP << 16 | IP_PKTINFO:
    case LEVEL_IPV6 << 16 | IPV6_PKTINFO:
        return 0; /* a host has only one route to each destination */
    default:
        return control->level == LEVEL_IP || control->level == LEVEL_IPV6 ? -EINVAL : 0;
    }
}

/* Write what a sender gives along with its datagram into the header. Returns 0 or -errno. */
long cmsg_send(const struct message_header *message, struct simunix_datagram *header)
{
    size_t at = 0;

    if (message->control == NULL)
        return 0;
    if (is_bad_pointer(message->control))
        return -EFAULT;
    while (at + sizeof(struct control_header) <= message->control_length) {
        const struct control_header *control = (const void *)((const char *)message->control + at);
        long result;

        if (control->length < sizeof *control || control->length > message->control_length - at)
            return -EINVAL;
        result = take(control, header);
        if (result != 0)
            return result;
        at += ALIGNED(control->length);
    }
    return 0;
}

/* Append a control message as the kernel does: cut where the room ends, with a flag that says so. */
static void put(struct message_header *message, size_t *used, int level, int type, const void *data, size_t size)
{
    size_t room = message->control_length - *used;
    size_t length = sizeof(struct control_header) + size;
    struct control_header control = {.level = level, .type = type};
    char *to = (char *)message->control + *used;

    if (message->control == NULL || room < sizeof control) {
        message->flags |= MSG_CTRUNC;
        return;
    }
    if (room < length) {
        message->flags |= MSG_CTRUNC;
        length = room;
    }
    control.length = length;
    memcpy(to, &control, sizeof control);
    memcpy(to + sizeof control, data, length - sizeof control);
    *used += ALIGNED(length) < room ? ALIGNED(length) : room;
}

static bool is_loopback(const struct simunix_datagram *header)
{
    static const uint8_t loopback6[16] = {[15] = 1};

    return header->family == 4 ? header->destination[0] == 127 : memcmp(header->destination, loopback6, sizeof loopback6) == 0;
}

static void put_packet_info(struct message_header *message, size_t *used, const struct simunix_datagram *header)
{
    int index = is_loopback(header) ? LOOPBACK_INDEX : FIRST_INTERFACE_INDEX;
    struct packet_info4 info4 = {.index = index};
    struct packet_info6 info6 = {.index = index};

    memcpy(info4.local, header->destination, sizeof info4.local);
    memcpy(info4.destination, header->destination, sizeof info4.destination);
    memcpy(info6.destination, header->destination, sizeof info6.destination);
    if (header->family == 4)
        put(message, used, LEVEL_IP, IP_PKTINFO, &info4, sizeof info4);
    else
        put(message, used, LEVEL_IPV6, IPV6_PKTINFO, &info6, sizeof info6);
}

/* Append the time of arrival, as struct timeval or timespec; SO_TIMESTAMPING has three moments, of which only the first
 * (software) is known. */
static void put_times(struct message_header *message, size_t *used, const struct simunix_datagram *header)
{
    struct kernel_timespec times[3] = {{header->arrived_ns / SECOND_NS, header->arrived_ns % SECOND_NS}};
    struct kernel_timespec micro = {times[0].seconds, times[0].nanoseconds / 1000};

    if (header->fields & DATAGRAM_TIME_NS) /* the finer time, if both are wanted */
        put(message, used, SOL_SOCKET_LEVEL, SO_TIMESTAMPNS_OLD, &times[0], sizeof times[0]);
    else if (header->fields & DATAGRAM_TIME)
        put(message, used, SOL_SOCKET_LEVEL, SO_TIMESTAMP_OLD, &micro, sizeof micro);
    if (header->fields & DATAGRAM_TIMES)
        put(message, used, SOL_SOCKET_LEVEL, SO_TIMESTAMPING_OLD, times, sizeof times);
}

/* The kernel gives the arrival of an AF_UNIX datagram by the real clock: the shim replaces it by the present virtual time. */
void cmsg_correct_time(struct thread *thread, struct message_header *message)
{
    int64_t now_ns = clock_read(thread, CLOCK_REALTIME);
    size_t at = 0;

    while (at + sizeof(struct control_header) + sizeof(struct kernel_timespec) <= message->control_length) {
        struct control_header *control = (void *)((char *)message->control + at);
        struct kernel_timespec *time = (void *)(control + 1);

        if (control->length < sizeof *control)
            return;
        if (control->level == SOL_SOCKET_LEVEL && (control->type == SO_TIMESTAMP_OLD || control->type == SO_TIMESTAMP_NEW))
            *time = (struct kernel_timespec){now_ns / SECOND_NS, now_ns % SECOND_NS / 1000};
        else if (control->level == SOL_SOCKET_LEVEL &&
                 (control->type == SO_TIMESTAMPNS_OLD || control->type == SO_TIMESTAMPNS_NEW ||
                  control->type == SO_TIMESTAMPING_OLD || control->type == SO_TIMESTAMPING_NEW))
            *time = (struct kernel_timespec){now_ns / SECOND_NS, now_ns % SECOND_NS};
        at += ALIGNED(control->length);
    }
}

/* Show the kernel, whose numbers are all 0, as the sender of messages on a netlink socket, and not the server. */
void cmsg_correct_sender(struct message_header *message)
{
    size_t at = 0;

    while (at + sizeof(struct control_header) <= message->control_length) {
        struct control_header *control = (void *)((char *)message->control + at);
        size_t room = message->control_length - at;

        if (control->length < sizeof *control)
            return;
        if (control->level == SOL_SOCKET_LEVEL && control->type == SCM_CREDENTIALS)
            memset(control + 1, 0, (control->length < room ? control->length : room) - sizeof *control);
        at += ALIGNED(control->length);
    }
}

/* Write the ancillary data that a receiver has asked for and that the server has sent, in the kernel's order. */
void cmsg_receive(const struct simunix_datagram *header, struct message_header *message)
{
    bool is_4 = header->family == 4;
    int hop_limit = header->hop_limit;
    int traffic_class = header->traffic_class;
    size_t used = 0;

    put_times(message, &used, header);
    if (header->fields & DATAGRAM_DESTINATION)
        put_packet_info(message, &used, header);
    if (header->fields & DATAGRAM_HOP_LIMIT)
        put(message, &used, is_4 ? LEVEL_IP : LEVEL_IPV6, is_4 ? IP_TTL : IPV6_HOPLIMIT, &hop_limit, sizeof hop_limit);
    if (header->fields & DATAGRAM_TRAFFIC_CLASS)
        put(message, &used, is_4 ? LEVEL_IP : LEVEL_IPV6, is_4 ? IP_TOS : IPV6_TCLASS, &traffic_class,
            is_4 ? 1 : sizeof traffic_class);
    message->control_length = used;
}

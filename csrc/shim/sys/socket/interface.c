/* netdevice(7): the ioctls that ask a socket about network interfaces. The server knows the interfaces of the host. */
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"

#define NAME_SIZE 16
#define SOCKET_REQUESTS 0x8900U
#define WIRELESS_REQUESTS 0x8b00U
#define LAST_OF_EVERY_SOCKET 0x8907U /* owner, mark: the kernel knows these for every socket */
#define SIOCGIFNAME 0x8910
#define SIOCGIFCONF 0x8912
#define SIOCGIFFLAGS 0x8913
#define SIOCSIFFLAGS 0x8914
#define SIOCGIFADDR 0x8915
#define SIOCGIFDSTADDR 0x8917
#define SIOCGIFBRDADDR 0x8919
#define SIOCGIFNETMASK 0x891b
#define SIOCGIFMETRIC 0x891d
#define SIOCGIFMTU 0x8921
#define SIOCGIFHWADDR 0x8927
#define SIOCGIFINDEX 0x8933
#define SIOCGIFTXQLEN 0x8942
#define SIOCETHTOOL 0x8946
#define SIOCGARP 0x8954
#define SIOCGIFMAP 0x8970
#define IFF_UP 1
#define CAP_NET_ADMIN 12

/* struct ifreq */
struct interface_request {
    char name[NAME_SIZE];
    union {
        int32_t number;
        int16_t flags;
        uint8_t address[16];
        void *data;
        uint8_t map[24];
    };
};

struct interface_list {
    int32_t size;
    struct interface_request *requests;
};

struct interface {
    int64_t index, flags, mtu, kind, speed, prefix;
    char name[NAME_SIZE];
    uint8_t hardware[6];
    uint8_t addresses[16 * 4];
    size_t address_count;
};

_Static_assert(sizeof(struct interface_request) == 40, "linux/if.h: struct ifreq");

/* Ask the server for an interface by its index, or by its name if the index is 0. */
static long find_interface(struct call *call, int64_t index, const char *name, struct interface *found)
{
    struct msgpack_writer writer;
    struct reply reply;
    size_t length = 0;

    while (length < NAME_SIZE - 1 && name[length] != '\0')
        length++;
    request_start(call->thread, &writer, OP_INTERFACE);
    msgpack_put_int(&writer, index);
    msgpack_put_bytes(&writer, name, length);
    if (request_call(call->thread, &writer, &reply) < 0)
        return reply.status;
    *found = (struct interface){
        .index = reply_number(&reply, 1),
        .flags = reply_number(&reply, 2),
        .mtu = reply_number(&reply, 3),
        .kind = reply_number(&reply, 4),
        .speed = reply_number(&reply, 5),
        .prefix = reply_number(&reply, 6),
    };
    reply_bytes(&reply, 7, found->name, sizeof found->name - 1);
    reply_bytes(&reply, 8, found->hardware, sizeof found->hardware);
    found->address_count = reply_bytes(&reply, 9, found->addresses, sizeof found->addresses) / 4;
    return 0;
}

static void put_address(struct interface_request *request, const uint8_t *address)
{
    uint16_t family = AF_INET;

    memset(request->address, 0, sizeof request->address);
    memcpy(request->address, &family, sizeof family);
    memcpy(request->address + 4, address, 4);
}

static long tell_name(const struct interface *found, struct interface_request *request)
{
    memcpy(request->name, found->name, NAME_SIZE);
    return 0;
}

static long tell_flags(const struct interface *found, struct interface_request *request)
{
    request->flags = (int16_t)found->flags;
    return 0;
}

static long tell_address(const struct interface *found, struct interface_request *request)
{
    if (found->address_count == 0)
        return -EADDRNOTAVAIL;
    put_address(request, found->addresses);
    return 0;
}

static long tell_masked(const struct interface *found, struct interface_request *request, bool is_mask)
{
    uint8_t address[4];
    uint32_t mask = found->prefix > 0 ? ~0U << (32 - found->prefix) : 0;

    if (found->address_count == 0)
        return -EADDRNOTAVAIL;
    for (int i = 0; i < 4; i++) {
        uint8_t part = (uint8_t)(mask >> (24 - 8 * i));

        address[i] = is_mask ? part : found->addresses[i] | (uint8_t)~part;
    }
    if (!is_mask && found->index == 1) /* lo has none */
        memset(address, 0, sizeof address);
    put_address(request, address);
    return 0;
}

static long tell_broadcast(const struct interface *found, struct interface_request *request)
{
    return tell_masked(found, request, false);
}

static long tell_mask(const struct interface *found, struct interface_request *request)
{
    return tell_masked(found, request, true);
}

static long tell_metric(const struct interface *found, struct interface_request *request)
{
    (void)found;
    request->number = 0;
    return 0;
}

static long tell_mtu(const struct interface *found, struct interface_request *request)
{
    request->number = (int32_t)found->mtu;
    return 0;
}

static long tell_hardware(const struct interface *found, struct interface_request *request)
{
    uint16_t kind = (uint16_t)found->kind;

    memset(request->address, 0, sizeof request->address);
    memcpy(request->address, &kind, sizeof kind);
    memcpy(request->address + 2, found->hardware, sizeof found->hardware);
    return 0;
}

static long tell_index(const struct interface *found, struct interface_request *request)
{
    request->number = (int32_t)found->index;
    return 0;
}

static long tell_queue(const struct interface *found, struct interface_request *request)
{
    (void)found;
    request->number = 1000;
    return 0;
}

static long tell_map(const struct interface *found, struct interface_request *request)
{
    (void)found;
    memset(request->map, 0, sizeof request->map);
    return 0;
}

static long tell_ethtool(const struct interface *found, struct interface_request *request)
{
    return ethtool(found->index == 1, (uint32_t)found->speed, request->data);
}

static const struct question {
    uint32_t request;
    long (*tell)(const struct interface *found, struct interface_request *request);
} questions[] = {
    {SIOCGIFFLAGS, tell_flags},  {SIOCGIFADDR, tell_address},  {SIOCGIFDSTADDR, tell_address}, {SIOCGIFBRDADDR, tell_broadcast},
    {SIOCGIFNETMASK, tell_mask}, {SIOCGIFMETRIC, tell_metric}, {SIOCGIFMTU, tell_mtu},         {SIOCGIFHWADDR, tell_hardware},
    {SIOCGIFINDEX, tell_index},  {SIOCGIFTXQLEN, tell_queue},  {SIOCETHTOOL, tell_ethtool},    {SIOCGIFMAP, tell_map},
    {SIOCGIFNAME, tell_name},
};

/* SIOCGIFCONF: every interface with an IPv4 address, once for each; without a list, return the room that the list needs. */
static long list_interfaces(struct call *call, struct interface_list *list)
{
    struct interface found;
    int32_t used = 0;

    if (is_bad_pointer(list))
        return -EFAULT;
    for (int64_t index = 1; find_interface(call, index, "", &found) == 0; index++)
        for (size_t i = 0; i < found.address_count; i++) {
            struct interface_request entry = {.name = ""};

            memcpy(entry.name, found.name, NAME_SIZE);
            put_address(&entry, found.addresses + 4 * i);
            if (list->requests != NULL && used + (int32_t)sizeof entry > list->size)
                break;
            if (list->requests != NULL)
                memcpy((char *)list->requests + used, &entry, sizeof entry);
            used += (int32_t)sizeof entry;
        }
    list->size = used;
    return 0;
}

/* Interfaces cannot be changed; to bring an interface up that is up is allowed, and has no effect (containers do so
 * with their loopback). */
static long set_flags(struct call *call, const struct interface_request *request)
{
    struct interface found;
    long result;

    if (is_bad_pointer(request))
        return -EFAULT;
    result = find_interface(call, 0, request->name, &found);
    if (result < 0)
        return result;
    return socket_is_capable(CAP_NET_ADMIN) && ((found.flags ^ request->flags) & IFF_UP) == 0 ? 0 : -EPERM;
}

static long answer(struct call *call, uint32_t number)
{
    struct interface_request *request = (void *)call->a[2];
    struct interface found;

    if (number == SIOCGIFCONF)
        return list_interfaces(call, (void *)call->a[2]);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        if (questions[i].request == number) {
            long result;

            if (is_bad_pointer(request))
                return -EFAULT;
            result = find_interface(call, number == SIOCGIFNAME ? request->number : 0, request->name, &found);
            return result < 0 ? result : questions[i].tell(&found, request);
        }
    if (number == SIOCSIFFLAGS)
        return set_flags(call, request);
    if (number == SIOCGARP)
        return -ENXIO;
    return (number & 0xff00) == WIRELESS_REQUESTS ? -EOPNOTSUPP : -EPERM;
}

/* Answer an ioctl about interfaces, to a socket of any family; false if the call is another ioctl. */
bool interface_request(struct call *call, long *result)
{
    uint32_t number = (uint32_t)call->a[1];
    int type;
    uint32_t length = sizeof type;

    if (((number & ~0xffU) != SOCKET_REQUESTS && (number & ~0xffU) != WIRELESS_REQUESTS) || number <= LAST_OF_EVERY_SOCKET ||
        NATIVE(getsockopt, call->a[0], SOL_SOCKET_LEVEL, SO_TYPE, &type, &length) != 0)
        return false;
    *result = answer(call, number);
    return true;
}

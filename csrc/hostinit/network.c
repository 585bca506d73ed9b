/* The loopback interface of a host's network namespace, carrying the host's addresses so that the kernel can list them.
 * Internet traffic never gets here: the shim's sockets go to the server. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK_INDEX 1

bool network_up(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    if (fd < 0)
        return setup_failed("cannot make a socket for", "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    done = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return done || setup_failed("cannot bring up", "lo");
}

struct address_request {
    struct nlmsghdr header;
    struct ifaddrmsg body;
    char attributes[64];
};

static void add_attribute(struct address_request *request, unsigned short type, const void *data, unsigned short size)
{
    struct rtattr *attribute = (struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));

    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), data, size);
    request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

/* 0 or the error that the kernel's acknowledgement carries. */
static int ask_kernel(const struct address_request *request)
{
    char answer[256];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
    int code = EIO;

    if (fd < 0)
        return errno;
    if (send(fd, request, request->header.nlmsg_len, 0) >= 0 && recv(fd, answer, sizeof answer, 0) > 0 &&
        header->nlmsg_type == NLMSG_ERROR)
        code = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
    close(fd);
    return code;
}

bool network_add_address(const char *text)
{
    unsigned char bytes[16];
    bool is_v6 = strchr(text, ':') != NULL;
    unsigned short size = is_v6 ? 16 : 4;
    struct address_request request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
                   .nlmsg_type = RTM_NEWADDR,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
        .body = {.ifa_family = is_v6 ? AF_INET6 : AF_INET, .ifa_prefixlen = is_v6 ? 128 : 32, .ifa_index = LOOPBACK_INDEX},
    };
    int code;

    if (inet_pton(is_v6 ? AF_INET6 : AF_INET, text, bytes) != 1) {
        errno = EINVAL;
        return setup_failed("cannot understand address", text);
    }
    add_attribute(&request, IFA_LOCAL, bytes, size);
    add_attribute(&request, IFA_ADDRESS, bytes, size);
    code = ask_kernel(&request);
    if (code == 0 || code == EEXIST)
        return true;
    if (is_v6 && (code == EACCES || code == EOPNOTSUPP || code == EAFNOSUPPORT)) /* disable_ipv6=1, or ipv6.disable=1 at boot */
        return true;
    errno = code;
    return setup_failed("cannot add address", text);
}

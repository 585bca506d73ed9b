/* Families and protocols of sockets that no emulated host has. It depends on this computer's kernel whether these
 * exist, and their peers would belong to this computer. */
#include "shim/sys/socket/socket.h"

struct named_number {
    long number;
    const char *name;
};

static const char other_family[] = "socket(of a family that is not simulated)";
static const char other_protocol[] = "socket(AF_NETLINK, of a protocol that is not simulated)";

/* See address_families(7). */
static const struct named_number families[] = {
    {3, "socket(AF_AX25)"},       {4, "socket(AF_IPX)"},      {5, "socket(AF_APPLETALK)"}, {9, "socket(AF_X25)"},
    {15, "socket(AF_KEY)"},       {17, "socket(AF_PACKET)"},  {21, "socket(AF_RDS)"},      {26, "socket(AF_LLC)"},
    {27, "socket(AF_IB)"},        {28, "socket(AF_MPLS)"},    {29, "socket(AF_CAN)"},      {30, "socket(AF_TIPC)"},
    {31, "socket(AF_BLUETOOTH)"}, {33, "socket(AF_RXRPC)"},   {38, "socket(AF_ALG)"},      {40, "socket(AF_VSOCK)"},
    {41, "socket(AF_KCM)"},       {42, "socket(AF_QIPCRTR)"}, {43, "socket(AF_SMC)"},      {44, "socket(AF_XDP)"},
};

/* See netlink(7). */
static const struct named_number protocols[] = {
    {6, "socket(AF_NETLINK, NETLINK_XFRM)"},       {7, "socket(AF_NETLINK, NETLINK_SELINUX)"},
    {9, "socket(AF_NETLINK, NETLINK_AUDIT)"},      {11, "socket(AF_NETLINK, NETLINK_CONNECTOR)"},
    {12, "socket(AF_NETLINK, NETLINK_NETFILTER)"}, {16, "socket(AF_NETLINK, NETLINK_GENERIC)"},
    {21, "socket(AF_NETLINK, NETLINK_CRYPTO)"},
};

static const char *name_of(const struct named_number *names, size_t count, long number, const char *unknown)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].number == number)
            return names[i].name;
    return unknown;
}

long socket_family_refused(struct call *call)
{
    size_t count = sizeof families / sizeof families[0];

    if (call->a[0] < 0 || call->a[0] > 45) /* a family that no kernel knows */
        return -EAFNOSUPPORT;
    warn_once(call->thread, WARN_REFUSED, name_of(families, count, call->a[0], other_family), NULL);
    return -EAFNOSUPPORT;
}

/* -EPROTONOSUPPORT: the answer of a kernel without that subsystem, which programs can handle (audit in sshd and PAM). */
long netlink_refused(struct call *call, long error)
{
    size_t count = sizeof protocols / sizeof protocols[0];

    if (error == -EPROTONOSUPPORT)
        warn_once(call->thread, WARN_REFUSED, name_of(protocols, count, call->a[2], other_protocol), NULL);
    return error;
}

/* A raw socket of another protocol than ICMP is refused with EPERM, as for a caller without CAP_NET_RAW, see raw(7):
 * such packets are not modelled. */
long socket_type_refused(struct call *call, long error)
{
    if (error == -EPERM)
        warn_once(call->thread, WARN_REFUSED, "socket(SOCK_RAW, of another protocol than ICMP)", NULL);
    return error;
}

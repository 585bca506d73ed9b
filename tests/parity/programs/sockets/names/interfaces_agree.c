// The interfaces that if_nameindex lists are those of getifaddrs, of the ioctls and of /sys/class/net; emulated, they are lo and eth0.
#include "inet.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>

static int asked;

static struct ifreq ask(const char *name, unsigned long request)
{
    struct ifreq answer = {0};

    strcpy(answer.ifr_name, name);
    CHECK(ioctl(asked, request, &answer) == 0);
    return answer;
}

static void read_attribute(const char *name, const char *attribute, char text[64])
{
    char path[200];
    FILE *file;

    snprintf(path, sizeof path, "/sys/class/net/%s/%s", name, attribute);
    file = fopen(path, "r");
    CHECK(file != NULL && fgets(text, 64, file) != NULL);
    fclose(file);
}

/* Some programs (UCX) take an entry of the folder for an interface only if it is a link. */
static int is_link(const char *name)
{
    char path[200];
    struct stat status;

    snprintf(path, sizeof path, "/sys/class/net/%s", name);
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static void check_packet(const struct ifaddrs *one)
{
    const struct sockaddr_ll *link = (void *)one->ifa_addr;
    struct ifreq hardware = ask(one->ifa_name, SIOCGIFHWADDR);
    struct ifreq by_index = {.ifr_ifindex = link->sll_ifindex};
    char text[64];

    CHECK(is_link(one->ifa_name));
    CHECK(link->sll_ifindex == ask(one->ifa_name, SIOCGIFINDEX).ifr_ifindex);
    CHECK(link->sll_hatype == hardware.ifr_hwaddr.sa_family);
    CHECK(memcmp(link->sll_addr, hardware.ifr_hwaddr.sa_data, 6) == 0);
    CHECK((one->ifa_flags & 0xffff) == (unsigned short)ask(one->ifa_name, SIOCGIFFLAGS).ifr_flags);
    CHECK(ioctl(asked, SIOCGIFNAME, &by_index) == 0 && strcmp(by_index.ifr_name, one->ifa_name) == 0);
    read_attribute(one->ifa_name, "mtu", text);
    CHECK(atoi(text) == ask(one->ifa_name, SIOCGIFMTU).ifr_mtu);
    read_attribute(one->ifa_name, "ifindex", text);
    CHECK(atoi(text) == link->sll_ifindex);
}

static void check_emulated(void)
{
    struct ethtool_cmd settings = {.cmd = ETHTOOL_GSET};
    struct ifreq request = {.ifr_name = "eth0", .ifr_data = (void *)&settings};
    struct ifreq address = ask("eth0", SIOCGIFADDR);
    struct ifreq mask = ask("eth0", SIOCGIFNETMASK);
    struct ifreq broadcast = ask("eth0", SIOCGIFBRDADDR);
    char text[64];

    CHECK(((struct sockaddr_in *)&address.ifr_addr)->sin_addr.s_addr == inet_addr("10.0.0.1"));
    CHECK(((struct sockaddr_in *)&mask.ifr_addr)->sin_addr.s_addr == inet_addr("255.255.255.0"));
    CHECK(((struct sockaddr_in *)&broadcast.ifr_addr)->sin_addr.s_addr == inet_addr("10.0.0.255"));
    CHECK(if_nametoindex("eth0") == 2);
    read_attribute("eth0", "address", text);
    CHECK(strcmp(text, "02:42:0a:00:00:01\n") == 0);
    CHECK(ioctl(asked, SIOCETHTOOL, &request) == 0 && ethtool_cmd_speed(&settings) == 10000);
    CHECK_ERRNO(ioctl(asked, SIOCSIFFLAGS, &address), EPERM);
}

int main(void)
{
    struct ifaddrs *all;
    struct if_nameindex *names = if_nameindex();
    struct ifreq none = {.ifr_name = "none0"};
    int listed = 0, found = 0;

    asked = socket(AF_UNIX, SOCK_DGRAM, 0); /* any family can be asked */
    CHECK(ask("lo", SIOCGIFINDEX).ifr_ifindex == 1);
    asked = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(asked >= 0 && names != NULL && getifaddrs(&all) == 0);
    for (struct if_nameindex *one = names; one->if_index != 0; one++)
        listed++;
    for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next)
        if (one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_PACKET) {
            check_packet(one);
            found++;
        }
    CHECK(found == listed);
    CHECK_ERRNO(ioctl(asked, SIOCGIFADDR, &none), ENODEV);
    if (is_emulated())
        check_emulated();
    return succeed();
}

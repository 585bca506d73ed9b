// Datagrams that are sent with MSG_MORE, or under UDP_CORK, are joined to one, which goes to the address of the first.
#include "inet.h"

#include <netinet/udp.h>

static int receiver, other;
static struct sockaddr_in name, name_of_other;

static void check_nothing(int fd)
{
    char byte;

    sleep_ms(5);
    CHECK_ERRNO(recv(fd, &byte, 1, MSG_DONTWAIT), EAGAIN);
}

static void check_got(const char *text)
{
    char data[100];
    ssize_t size = (ssize_t)strlen(text);

    sleep_ms(5);
    CHECK(recv(receiver, data, sizeof data, MSG_DONTWAIT) == size && memcmp(data, text, size) == 0);
    check_nothing(receiver);
    check_nothing(other);
}

static ssize_t send_to(int fd, const char *text, const struct sockaddr_in *to, int flags)
{
    return sendto(fd, text, strlen(text), flags, (const struct sockaddr *)to, sizeof *to);
}

static void check_unconnected(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    CHECK(send_to(fd, "abc", &name, MSG_MORE) == 3);
    check_nothing(receiver);
    CHECK(send_to(fd, "de", &name_of_other, MSG_MORE) == 2);
    check_nothing(receiver);
    CHECK(send(fd, "f", 1, 0) == 1);
    check_got("abcdef");
    CHECK_ERRNO(send(fd, "f", 1, 0), EDESTADDRREQ);
    CHECK(send_to(fd, "g", &name, 0) == 1);
    check_got("g");
    CHECK(send_to(fd, "lost", &name, MSG_MORE) == 4 && close(fd) == 0);
    check_nothing(receiver);
}

static void check_connected(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    int on = 1, off = 0;

    CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(send(fd, "ab", 2, MSG_MORE) == 2 && write(fd, "cd", 2) == 2);
    check_got("abcd");
    CHECK(setsockopt(fd, IPPROTO_UDP, UDP_CORK, &on, sizeof on) == 0);
    CHECK(write(fd, "one ", 4) == 4 && write(fd, "two", 3) == 3);
    check_nothing(receiver);
    CHECK(setsockopt(fd, IPPROTO_UDP, UDP_CORK, &off, sizeof off) == 0);
    check_got("one two");
    CHECK(write(fd, "three", 5) == 5);
    check_got("three");
    CHECK(close(fd) == 0);
}

int main(void)
{
    receiver = bound_socket(SOCK_DGRAM);
    other = bound_socket(SOCK_DGRAM);
    name = loopback(port_of(receiver));
    name_of_other = loopback(port_of(other));
    check_unconnected();
    check_connected();
    return succeed();
}

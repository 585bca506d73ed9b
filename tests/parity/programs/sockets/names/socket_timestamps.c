// SO_TIMESTAMP and SO_TIMESTAMPNS tell when a datagram arrived, by the clock that clock_gettime reads; on AF_UNIX sockets too.
#include "inet.h"

static int64_t stamp(int fd, int type)
{
    char byte;
    char control[CMSG_SPACE(64)];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *told;
    struct timespec time;

    CHECK(recvmsg(fd, &message, 0) == 1);
    told = CMSG_FIRSTHDR(&message);
    CHECK(told != NULL && told->cmsg_level == SOL_SOCKET && told->cmsg_type == type);
    memcpy(&time, CMSG_DATA(told), sizeof time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec * (type == SO_TIMESTAMP ? 1000 : 1);
}

static void check_near(int64_t told_ns, int64_t wanted_ns)
{
    CHECK(told_ns > wanted_ns - tolerance_ns() && told_ns < wanted_ns + tolerance_ns());
}

static void set(int fd, int option)
{
    int on = 1;

    CHECK(setsockopt(fd, SOL_SOCKET, option, &on, sizeof on) == 0);
}

int main(void)
{
    int to = bound_socket(SOCK_DGRAM);
    struct sockaddr_in name = loopback(port_of(to));
    int from = socket(AF_INET, SOCK_DGRAM, 0);
    int pair[2];
    int64_t sent_ns;

    set(to, SO_TIMESTAMP);
    CHECK(connect(from, (struct sockaddr *)&name, sizeof name) == 0 && send(from, "x", 1, 0) == 1);
    sent_ns = clock_ns(CLOCK_REALTIME);
    sleep_ms(20);
    check_near(stamp(to, SO_TIMESTAMP), sent_ns);
    set(to, SO_TIMESTAMPNS);
    CHECK(send(from, "x", 1, 0) == 1);
    sent_ns = clock_ns(CLOCK_REALTIME);
    sleep_ms(20);
    check_near(stamp(to, SO_TIMESTAMPNS), sent_ns);
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    set(pair[1], SO_TIMESTAMPNS);
    CHECK(send(pair[0], "x", 1, 0) == 1);
    check_near(stamp(pair[1], SO_TIMESTAMPNS), clock_ns(CLOCK_REALTIME));
    return succeed();
}

// TCP_INFO tells the state of listeners and connections; SO_PEERNAME the peer; SO_COOKIE tells sockets apart; SO_BINDTODEVICE knows
// the interfaces.
#include "inet.h"

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

static struct tcp_info info(int fd)
{
    struct tcp_info told = {0};
    socklen_t size = sizeof told;

    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &told, &size) == 0 && size >= 104);
    return told;
}

int main(void)
{
    int ends[2];
    int listener = listening_socket(5);
    int fresh = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in peer, same;
    socklen_t size = sizeof peer;
    uint64_t cookies[2];

    CHECK(info(fresh).tcpi_state == TCP_CLOSE && info(listener).tcpi_state == TCP_LISTEN);
    tcp_pair(ends);
    write_all(ends[0], "some", 4);
    sleep_ms(5);
    CHECK(info(ends[0]).tcpi_state == TCP_ESTABLISHED && info(ends[0]).tcpi_snd_mss > 500);
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_PEERNAME, &peer, &size) == 0);
    size = sizeof same;
    CHECK(getpeername(ends[0], (struct sockaddr *)&same, &size) == 0 && memcmp(&peer, &same, sizeof peer) == 0);
    size = sizeof cookies[0];
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_COOKIE, &cookies[0], &size) == 0);
    CHECK(getsockopt(ends[1], SOL_SOCKET, SO_COOKIE, &cookies[1], &size) == 0 && cookies[0] != cookies[1]);
    CHECK_ERRNO(setsockopt(fresh, SOL_SOCKET, SO_BINDTODEVICE, "none0", 6), ENODEV);
    CHECK(setsockopt(fresh, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0);
    return succeed();
}

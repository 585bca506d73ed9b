// Connecting a stream to AF_UNSPEC makes it what it was before: without a peer, which is reset, with the port that bind has given it. A
// port that the kernel chose is free for others. The stream can be connected again, bound, or listen.
#include "inet.h"

#include <poll.h>

static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

static int disconnect(int fd)
{
    return connect(fd, &nobody, sizeof nobody);
}

static int pending_error(int fd)
{
    int error = -1;
    socklen_t size = sizeof error;

    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
    return error;
}

static struct sockaddr_in name_of(int fd)
{
    struct sockaddr_in name;
    socklen_t size = sizeof name;

    CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0);
    return name;
}

static void check_without_peer(int fd)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;

    CHECK_ERRNO(getpeername(fd, (struct sockaddr *)&peer, &size), ENOTCONN);
    CHECK_ERRNO(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
    CHECK_ERRNO(recv(fd, &peer, 1, MSG_DONTWAIT), ENOTCONN);
}

static void check_fresh(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sa_family_t family = AF_UNSPEC;

    CHECK(disconnect(fd) == 0 && pending_error(fd) == 0);
    CHECK(connect(fd, (struct sockaddr *)&family, sizeof family) == 0);
    CHECK(close(fd) == 0);
}

/* A client whose port the kernel chose is disconnected and connects again, without a look at the error. */
static void check_client(int flags)
{
    int listener = listening_socket(5);
    int fd = connected_to(port_of(listener));
    int served = accept(listener, NULL, NULL);
    struct sockaddr_in name = loopback(port_of(listener));
    char byte;

    CHECK(write(served, "never read", 10) == 10);
    sleep_ms(10);
    CHECK(fcntl(fd, F_SETFL, flags) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0);
    CHECK(disconnect(fd) == 0);
    CHECK(name_of(fd).sin_addr.s_addr == 0);
    CHECK(pending_error(fd) == ECONNRESET && pending_error(fd) == 0);
    check_without_peer(fd);
    CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) == flags && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    sleep_ms(10);
    CHECK_ERRNO(read(served, &byte, 1), ECONNRESET);

    CHECK(fcntl(fd, F_SETFL, 0) == 0);
    CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(close(served) == 0);
    served = accept(listener, NULL, NULL);
    CHECK(write(served, "a", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'a');
    CHECK(write(fd, "b", 1) == 1 && read(served, &byte, 1) == 1 && byte == 'b');
    CHECK(disconnect(fd) == 0 && connect(fd, (struct sockaddr *)&name, sizeof name) == 0 && pending_error(fd) == 0);
    CHECK(close(fd) == 0 && close(served) == 0 && close(listener) == 0);
}

/* A port that bind chose remains. */
static void check_bound(void)
{
    int listener = listening_socket(5);
    int other = bound_socket(SOCK_STREAM);
    in_port_t own = port_of(other);
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = own};
    struct sockaddr_in target = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(close(other) == 0);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(connect(fd, (struct sockaddr *)&target, sizeof target) == 0);
    CHECK(name_of(fd).sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    CHECK(disconnect(fd) == 0);
    CHECK(name_of(fd).sin_port == own && name_of(fd).sin_addr.s_addr == 0);
    CHECK_ERRNO(bind(fd, (struct sockaddr *)&name, sizeof name), EINVAL);
    CHECK(listen(fd, 1) == 0);
    CHECK(close(connected_to(own)) == 0);
    CHECK(close(fd) == 0 && close(listener) == 0);
}

/* A port that the kernel chose is free, and the socket can be bound to another one. */
static void check_unbound(void)
{
    int listener = listening_socket(5);
    int fd = connected_to(port_of(listener));
    int other = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = loopback(port_of(fd)), any = loopback(0);

    CHECK(disconnect(fd) == 0);
    CHECK(bind(other, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(bind(fd, (struct sockaddr *)&any, sizeof any) == 0 && port_of(fd) != name.sin_port);
    CHECK(close(fd) == 0 && close(other) == 0 && close(listener) == 0);
}

static void check_listener(void)
{
    int listener = listening_socket(5);
    in_port_t port = port_of(listener);
    struct sockaddr_in name = loopback(port);
    int waiting = connected_to(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd entry = {.fd = waiting, .events = POLLIN};
    char byte;

    CHECK(disconnect(listener) == 0 && pending_error(listener) == 0);
    CHECK_ERRNO(accept(listener, NULL, NULL), EINVAL);
    CHECK(poll(&entry, 1, 1000) == 1);
    CHECK_ERRNO(read(waiting, &byte, 1), ECONNRESET);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), ECONNREFUSED);
    CHECK(close(listener) == 0 && close(fd) == 0 && close(waiting) == 0);
}

/* While it connects: to a listener whose queue is full. */
static void check_connecting(void)
{
    int listener = listening_socket(0);
    int first = connected_to(port_of(listener));
    struct sockaddr_in name = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct pollfd entry = {.fd = fd, .events = POLLOUT};

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(disconnect(fd) == 0 && pending_error(fd) == ECONNRESET);
    CHECK(close(accept(listener, NULL, NULL)) == 0);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(poll(&entry, 1, 1000) == 1 && pending_error(fd) == 0);
    CHECK(close(fd) == 0 && close(first) == 0 && close(listener) == 0);
}

int main(void)
{
    check_fresh();
    check_client(0);
    check_client(O_NONBLOCK);
    check_bound();
    check_unbound();
    check_listener();
    check_connecting();
    return succeed();
}

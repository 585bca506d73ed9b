/* Transfers: all that a rank or a storage sends and receives at the same time, in one thread.
 *
 * A connection carries one transfer. The side that opens the connection says in a header what it is to be:
 *
 *     TRANSFER_WRITE     header, bytes >      < one byte: all have arrived
 *     TRANSFER_READ      header >             < bytes
 *     TRANSFER_FORWARD   header >             < one byte: this storage has written the bytes to another one
 */
#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CHUNK_BYTES (1 << 20)
#define BUFFER_BYTES (4 << 20)
#define ALL_BUFFERS_BYTES (24 << 20) /* bytes of buffers for all connections of a process together */
#define USUAL_BUFFER_BYTES (256 << 10)
#define BACKLOG 4096

struct header {
    uint64_t kind;
    uint64_t bytes;
    struct endpoint onward; /* for TRANSFER_FORWARD */
};

struct connection {
    struct source source;
    struct header header;
    bool is_opener;
    uint32_t events;    /* the events for which the epoll watches the connection */
    size_t header_done; /* bytes of the header that are sent, or have come */
    uint64_t to_send;
    uint64_t to_receive;
    bool answers;  /* the final byte has still to be sent */
    finished done; /* of the opener */
    void *context;
};

/* The outcome of a step: it waits for the network, it is done, or the other side is gone. */
enum progress { WAITS, THROUGH, BROKEN };

static char chunk[CHUNK_BYTES];
static uint32_t expected = 1; /* connections at a time, in each direction */
static uint32_t served;

static void wait_for(struct connection *connection, uint32_t events)
{
    if (events != connection->events)
        exchange_control(&connection->source, events, EPOLL_CTL_MOD);
    connection->events = events;
}

/* Handle the result of read(2) or write(2) for a step of the transfer. */
static enum progress outcome(ssize_t result)
{
    if (result > 0 || (result < 0 && errno == EINTR))
        return THROUGH;
    return result < 0 && errno == EAGAIN ? WAITS : BROKEN;
}

static enum progress move_header(struct connection *connection)
{
    char *header = (char *)&connection->header;

    while (connection->header_done < sizeof connection->header) {
        size_t left = sizeof connection->header - connection->header_done;
        ssize_t moved = connection->is_opener ? write(connection->source.fd, header + connection->header_done, left)
                                              : read(connection->source.fd, header + connection->header_done, left);

        if (outcome(moved) != THROUGH)
            return outcome(moved);
        connection->header_done += moved > 0 ? (size_t)moved : 0;
    }
    return THROUGH;
}

static enum progress move_bytes(struct connection *connection, uint64_t *left, ssize_t (*move)(int, char *, size_t))
{
    while (*left > 0) {
        ssize_t moved = move(connection->source.fd, chunk, *left < CHUNK_BYTES ? *left : CHUNK_BYTES);

        if (outcome(moved) != THROUGH)
            return outcome(moved);
        *left -= moved > 0 ? (uint64_t)moved : 0;
    }
    return THROUGH;
}

static ssize_t take(int fd, char *bytes, size_t size)
{
    return read(fd, bytes, size);
}

static ssize_t give(int fd, char *bytes, size_t size)
{
    return write(fd, bytes, size);
}

static void end(struct connection *connection, bool is_done)
{
    exchange_forget(&connection->source);
    served -= !connection->is_opener;
    if (connection->done != NULL)
        connection->done(connection->context, is_done);
    free(connection);
}

static void opener_ready(struct source *source)
{
    struct connection *connection = (struct connection *)source;
    enum progress progress = move_header(connection);

    if (progress == THROUGH)
        progress = move_bytes(connection, &connection->to_send, give);
    if (progress == WAITS) {
        wait_for(connection, EPOLLOUT);
        return;
    }
    if (progress == THROUGH)
        progress = move_bytes(connection, &connection->to_receive, take);
    if (progress == WAITS)
        wait_for(connection, EPOLLIN);
    else
        end(connection, progress == THROUGH);
}

static void server_ready(struct source *source);

/* A transfer to another storage has ended: tell the side that asked for it, or close the connection to it. */
static void forwarded(void *context, bool is_done)
{
    struct connection *connection = context;

    if (is_done) {
        connection->answers = true;
        exchange_control(&connection->source, connection->events, EPOLL_CTL_ADD);
        server_ready(&connection->source);
    } else {
        end(connection, false);
    }
}

/* Prepare the transfer that a complete header asks for; return false if its kind is unknown. */
static bool accept_header(struct connection *connection)
{
    const struct header *header = &connection->header;
    struct transfer onward = {TRANSFER_WRITE, 0, header->bytes};

    connection->to_receive = header->kind == TRANSFER_WRITE ? header->bytes : 0;
    connection->to_send = header->kind == TRANSFER_READ ? header->bytes : 0;
    connection->answers = header->kind == TRANSFER_WRITE;
    if (header->kind == TRANSFER_FORWARD) {
        exchange_control(&connection->source, 0, EPOLL_CTL_DEL);
        exchange_start(&onward, &header->onward, NULL, forwarded, connection);
    }
    return header->kind >= TRANSFER_WRITE && header->kind <= TRANSFER_FORWARD;
}

static enum progress serve(struct connection *connection)
{
    enum progress progress = move_bytes(connection, &connection->to_receive, take);

    if (progress == THROUGH && connection->answers) {
        connection->answers = false;
        connection->to_send = 1;
    }
    if (progress == THROUGH)
        progress = move_bytes(connection, &connection->to_send, give);
    return progress;
}

/* The peer may die meanwhile (a time limit of its job): its end closes the connection, and does not end the storage's
 * server. */
static void server_ready(struct source *source)
{
    struct connection *connection = (struct connection *)source;
    bool is_known = connection->header_done == sizeof connection->header;
    enum progress progress = move_header(connection);

    if (progress == THROUGH && !is_known) {
        if (!accept_header(connection)) {
            end(connection, false);
            return;
        }
        if (connection->header.kind == TRANSFER_FORWARD)
            return; /* until it is forwarded */
    }
    if (progress == THROUGH)
        progress = serve(connection);
    if (progress == WAITS)
        wait_for(connection, connection->to_send > 0 ? EPOLLOUT : EPOLLIN);
    else
        end(connection, progress == THROUGH);
}

void exchange_expect(uint32_t connections)
{
    if (connections > expected)
        expected = connections;
}

/* Ask for large buffers, as programs do that move many bytes at once. Without root's rights the usual buffers remain. */
static void widen(int fd)
{
    uint32_t share = ALL_BUFFERS_BYTES / expected;
    int size = share < BUFFER_BYTES ? (int)share : BUFFER_BYTES;

    if (size <= USUAL_BUFFER_BYTES)
        return;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
}

static void accept_one(struct source *source)
{
    struct connection *connection;
    int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return;
    exchange_expect(++served);
    widen(fd);
    connection = allocate(1, sizeof *connection);
    connection->source = (struct source){fd, server_ready};
    connection->events = EPOLLIN;
    exchange_control(&connection->source, EPOLLIN, EPOLL_CTL_ADD);
}

/* Listen at any address of a family; AF_INET6 includes those of IPv4. An address of zeros means "any" in both families. */
uint16_t exchange_listen(int family, uint16_t port)
{
    static struct source listener = {-1, accept_one};
    struct endpoint here = {.address.ss_family = (sa_family_t)family};
    struct sockaddr *address = (struct sockaddr *)&here.address;
    int yes = 1;

    here.length = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    endpoint_set_port(&here, port);
    listener.fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listener.fd < 0 || bind(listener.fd, address, here.length) != 0 || listen(listener.fd, BACKLOG) != 0 ||
        getsockname(listener.fd, address, &here.length) != 0)
        fail("cannot listen at port %d: %m", port);
    exchange_watch(&listener);
    return ntohs(((struct sockaddr_in *)address)->sin_port); /* the port is at the same place in sockaddr_in6 */
}

void exchange_start(const struct transfer *transfer, const struct endpoint *peer, const struct endpoint *onward, finished done,
                    void *context)
{
    struct connection *connection;
    int fd;

    if (endpoint_is_path(peer)) {
        file_start(transfer->kind == TRANSFER_READ, transfer->bytes, peer, done, context);
        return;
    }
    connection = allocate(1, sizeof *connection);
    fd = socket(peer->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        widen(fd);
    if (fd < 0 || (connect(fd, (const struct sockaddr *)&peer->address, peer->length) != 0 && errno != EINPROGRESS))
        fail("cannot connect: %m");
    connection->source = (struct source){fd, opener_ready};
    connection->header = (struct header){.kind = transfer->kind, .bytes = transfer->bytes};
    if (onward != NULL)
        connection->header.onward = *onward;
    connection->is_opener = true;
    connection->to_send = transfer->kind == TRANSFER_WRITE ? transfer->bytes : 0;
    connection->to_receive = transfer->kind == TRANSFER_READ ? transfer->bytes : 1;
    connection->done = done;
    connection->context = context;
    connection->events = EPOLLOUT;
    exchange_control(&connection->source, EPOLLOUT, EPOLL_CTL_ADD);
}

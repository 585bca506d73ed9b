/* Connections of clients: stores received bytes until they are a whole message, and bytes to send until the client
 * takes them. */
#include "bus.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT_MAX (16 << 20) /* the connection of a client that reads nothing is closed */

struct client *clients;
static uint32_t latest_number; /* 0 is systemd's */

void client_accept(int listener)
{
    struct client **end = &clients;
    struct client *client;
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    client = allocate(sizeof *client);
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    client->fd = fd;
    client->pid = peer.pid;
    client->user = peer.uid;
    client->group = peer.gid;
    client->number = ++latest_number;
    snprintf(client->name, sizeof client->name, ":1.%u", client->number);
    while (*end != NULL)
        end = &(*end)->next;
    *end = client;
}

struct client *client_named(const char *name)
{
    for (struct client *client = clients; client != NULL; client = client->next)
        if (client->has_name && !client->is_gone && strcmp(client->name, name) == 0)
            return client;
    return NULL;
}

/* Answer a call to another client with an error, in the words of dbus-daemon: no client has the name, or the client may
 * not be called. */
static void call_another(struct client *client, struct message *call)
{
    if (client_named(call->destination) != NULL)
        answer_error(
            client, call, BUS_NAME, ERROR_ACCESS_DENIED,
            "Rejected send message, 1 matched rules; type=\"method_call\", sender=\"%s\" interface=\"%s\" member=\"%s\" "
            "destination=\"%s\"",
            client->name, call->interface == NULL ? "(unset)" : call->interface, call->member, call->destination);
    else
        answer_error(client, call, BUS_NAME, "org.freedesktop.DBus.Error.ServiceUnknown",
                     "The name %s was not provided by any .service files", call->destination);
}

static void take_message(struct client *client, struct message *call)
{
    bool is_driver = call->destination == NULL || strcmp(call->destination, BUS_NAME) == 0;

    if (call->type != METHOD_CALL)
        return; /* no other client may get a client's signals and answers */
    if (!client->has_name && !(is_driver && strcmp(call->member, "Hello") == 0)) {
        answer_error(client, call, BUS_NAME, ERROR_ACCESS_DENIED,
                     "Client tried to send a message other than Hello without being registered");
        client->is_gone = true;
        return;
    }
    if (is_driver)
        driver_call(client, call);
    else if (strcmp(call->destination, SYSTEMD_NAME) == 0 || strcmp(call->destination, SYSTEMD_OWNER) == 0)
        systemd_call(client, call);
    else
        call_another(client, call);
}

static void take_messages(struct client *client)
{
    size_t at = 0;

    while (!client->is_gone) {
        struct message message;
        size_t size = message_size(client->in.data + at, client->in.size - at);

        if (size == 0)
            break;
        if (size == SIZE_MAX || !message_read(client->in.data + at, size, &message)) {
            client->is_gone = true;
            break;
        }
        take_message(client, &message);
        at += size;
    }
    memmove(client->in.data, client->in.data + at, client->in.size - at);
    client->in.size -= at;
}

static void receive(struct client *client)
{
    uint8_t bytes[8192];
    ssize_t size = read(client->fd, bytes, sizeof bytes);

    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        client->is_gone = true;
    if (size <= 0)
        return;
    put_bytes(&client->in, bytes, (size_t)size);
    if (!client->has_begun && !auth_turn(client))
        client->is_gone = true;
    if (client->has_begun && client->in.size > 0)
        take_messages(client);
}

static void send_out(struct client *client)
{
    ssize_t size = send(client->fd, client->out.data, client->out.size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (size < 0 && errno != EAGAIN && errno != EINTR)
        client->is_gone = true;
    if (size > 0) {
        memmove(client->out.data, client->out.data + size, client->out.size - (size_t)size);
        client->out.size -= (size_t)size;
    }
    if (client->out.size > OUT_MAX)
        client->is_gone = true;
}

void client_turn(struct client *client, short events)
{
    if (events & (POLLIN | POLLHUP | POLLERR))
        receive(client);
    if (client->out.size > 0)
        send_out(client);
}

void clients_forget_gone(void)
{
    struct client **place = &clients;

    while (*place != NULL) {
        struct client *client = *place;

        if (!client->is_gone) {
            place = &client->next;
            continue;
        }
        *place = client->next;
        close(client->fd);
        if (client->has_name)
            driver_lost(client);
        rules_free(client);
        free(client->in.data);
        free(client->out.data);
        free(client);
    }
}

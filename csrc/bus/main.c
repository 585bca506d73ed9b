/* The socket of the bus, and the loop that waits for clients, for cgroups that become empty, and for units that do not
 * end. */
#include "bus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_PATH "/run/dbus/system_bus_socket"
#define BACKLOG 128

static void make_folder_of(const char *path)
{
    char folder[sizeof((struct sockaddr_un *)NULL)->sun_path];

    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    if (folder[0] != '\0' && mkdir(folder, 0755) != 0 && errno != EEXIST)
        fail("cannot make %s: %m", folder);
}

/* Make the socket. The socket's file gets its name when the socket listens, so that every program which finds the file
 * can connect. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (path[0] != '/' || snprintf(address.sun_path, sizeof address.sun_path, "%s.new", path) >= (int)sizeof address.sun_path)
        fail("%s: no path for a socket", path);
    make_folder_of(path);
    unlink(address.sun_path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, BACKLOG) != 0 ||
        chmod(address.sun_path, 0666) != 0 || rename(address.sun_path, path) != 0)
        fail("cannot listen at %s: %m", path);
    return fd;
}

static int patience_ms(void)
{
    int64_t deadline_ns = units_deadline();
    int64_t left_ns = deadline_ns - now_ns();

    if (deadline_ns < 0)
        return -1;
    return left_ns <= 0 ? 0 : (int)((left_ns + 999999) / 1000000);
}

/* Wait once, and handle the events that have come. */
static void turn(int listener)
{
    static struct pollfd *entries;
    static size_t room;
    size_t count = 2;

    for (struct client *client = clients; client != NULL; client = client->next)
        count++;
    if (count > room) {
        room = 2 * count;
        entries = realloc(entries, room * sizeof *entries);
        if (entries == NULL)
            fail("no memory for %zu connections", count);
    }
    entries[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    entries[1] = (struct pollfd){.fd = units_watch_fd(), .events = POLLIN};
    count = 2;
    for (struct client *client = clients; client != NULL; client = client->next)
        entries[count++] = (struct pollfd){.fd = client->fd, .events = POLLIN | (client->out.size > 0 ? POLLOUT : 0)};
    if (poll(entries, count, patience_ms()) < 0)
        return;
    count = 2;
    for (struct client *client = clients; client != NULL; client = client->next)
        client_turn(client, entries[count++].revents);
    units_look();
    if (entries[0].revents & POLLIN)
        client_accept(listener);
    for (struct client *client = clients; client != NULL; client = client->next)
        client_turn(client, 0); /* events that the handling of other events has caused */
    clients_forget_gone();
}

/* Return the inode number of a file; 0 if there is none. statx(2) is in the C library of Debian 11, lstat(2) is not. */
static uint64_t number_of(const char *path)
{
    struct statx status;

    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO, &status) == 0 ? status.stx_ino : 0;
}

int main(int count, char **words)
{
    const char *path = count > 1 ? words[1] : SOCKET_PATH;
    uint64_t own;
    int listener;
    bool has_served = false;

    signal(SIGPIPE, SIG_IGN);
    if (count > 2)
        cgroup_begin(words[2]);
    units_adopt();
    listener = listen_at(path);
    own = number_of(path);
    while (!has_served || clients != NULL || units_are_left()) {
        turn(listener);
        has_served |= clients != NULL;
    }
    if (number_of(path) == own) /* otherwise another bus has made its socket at this path */
        unlink(path);
    return 0;
}

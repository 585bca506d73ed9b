// /proc/net/tcp, tcp6, udp and udp6 list the host's sockets with addresses, state and inode, as lsof and netstat read them.
#include "inet.h"

#include <stdbool.h>

struct row {
    char local[64];
    char remote[64];
    unsigned state;
    unsigned waiting;
    unsigned long inode;
};

/* The row whose local address ends in this port, and whose state this is. */
static bool find(const char *path, in_port_t port, unsigned state, struct row *row)
{
    FILE *file = fopen(path, "r");
    char line[512];
    char end[8];
    bool found = false;

    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL && strstr(line, "local_address") != NULL);
    snprintf(end, sizeof end, ":%04X", ntohs(port));
    while (!found && fgets(line, sizeof line, file) != NULL) {
        CHECK(sscanf(line, " %*d: %63s %63s %x %*x:%x %*x:%*x %*x %*u %*u %lu", row->local, row->remote, &row->state,
                     &row->waiting, &row->inode) == 5);
        found = strcmp(row->local + strlen(row->local) - 5, end) == 0 && row->state == state;
    }
    fclose(file);
    return found;
}

static unsigned long inode_of(int fd)
{
    struct stat status;

    CHECK(fstat(fd, &status) == 0);
    return status.st_ino;
}

static void check_streams(void)
{
    int listener = listening_socket(4);
    int client = connected_to(port_of(listener));
    struct row row;
    char address[32];
    int server;

    CHECK(find("/proc/net/tcp", port_of(listener), 0x0a, &row));
    CHECK(strncmp(row.local, "0100007F:", 9) == 0 && strcmp(row.remote, "00000000:0000") == 0);
    CHECK(row.inode == inode_of(listener) && row.waiting == 1);
    CHECK(find("/proc/self/net/tcp", port_of(client), 1, &row) && row.inode == inode_of(client));
    snprintf(address, sizeof address, "0100007F:%04X", ntohs(port_of(listener)));
    CHECK(strcmp(row.remote, address) == 0);
    server = accept(listener, NULL, NULL);
    CHECK(find("/proc/net/tcp", port_of(listener), 1, &row) && row.inode == inode_of(server));
    CHECK(shutdown(client, SHUT_WR) == 0 && read(server, address, 1) == 0);
    sleep_ms(100); /* until the end of data is acknowledged */
    CHECK(find("/proc/net/tcp", port_of(client), 5, &row));
    CHECK(find("/proc/net/tcp", port_of(listener), 8, &row));
}

int main(void)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    int six = socket(AF_INET6, SOCK_STREAM, 0);
    int datagrams = bound_socket(SOCK_DGRAM);
    socklen_t size = sizeof any;
    struct row row;

    check_streams();
    CHECK(bind(six, (struct sockaddr *)&any, sizeof any) == 0);
    CHECK(getsockname(six, (struct sockaddr *)&any, &size) == 0);
    CHECK(!find("/proc/net/tcp6", any.sin6_port, 0x0a, &row));
    CHECK(listen(six, 1) == 0 && find("/proc/net/tcp6", any.sin6_port, 0x0a, &row));
    CHECK(strncmp(row.local, "00000000000000000000000000000000:", 33) == 0 && row.inode == inode_of(six));
    CHECK(find("/proc/net/udp", port_of(datagrams), 7, &row) && row.inode == inode_of(datagrams));
    CHECK(!find("/proc/net/udp6", port_of(datagrams), 7, &row));
    return succeed();
}

/* Finds out the kind of a descriptor: fstat tells most, and for a socket the name of its peer. */
#include "shim/core/fd_kind.h"

#include "shim/core/memory.h"

#define TIOCGPTN 0x80045430UL
#define MASTERS 0x502 /* the device of all masters of terminals: 5, 2 */
#define MAJOR(device) ((device) >> 8 & 0xfff)
#define FIRST_SLAVES 136 /* the first of eight major numbers of terminals' slaves, see pts(4) */
#define TYPE_AT 9
#define DIGITS_AT 11

static const char socket_prefix[] = "\0simunix:"; /* the beginning of the name; the type, ':' and 8 hexadecimal digits follow */

/* Look at a socket. A simulated socket has a peer with a certain abstract name, which survives dup, fork, exec and
 * SCM_RIGHTS. */
void fd_look_socket(int number, struct fd *fd)
{
    struct unix_address address;
    uint32_t length = sizeof address;

    *fd = (struct fd){.number = number, .kind = FD_SOCKET, .socket = -1};
    if (NATIVE(getpeername, number, &address, &length) != 0 || address.family != AF_UNIX ||
        length < 2 + SIMUNIX_SOCKET_NAME_LENGTH || memcmp(address.path, socket_prefix, sizeof socket_prefix - 1) != 0)
        return;
    fd->kind = address.path[TYPE_AT] == 's' ? FD_STREAM : address.path[TYPE_AT] == 'n' ? FD_NETLINK : FD_DATAGRAM;
    fd->is_ping = address.path[TYPE_AT] == 'i';
    fd->socket = 0;
    for (int i = DIGITS_AT; i < SIMUNIX_SOCKET_NAME_LENGTH; i++) {
        char digit = address.path[i];

        fd->socket = fd->socket << 4 | (digit >= 'a' ? digit - 'a' + 10 : digit - '0');
    }
}

/* Return the server's number of a simulated socket; -1 for anything else. */
int64_t socket_id(int number)
{
    struct fd fd;

    fd_look_socket(number, &fd);
    return fd.socket;
}

/* Return the number of the terminal whose master this descriptor is; -1 if it is no master. */
int terminal_of_master(int number)
{
    int terminal;

    return NATIVE(ioctl, number, TIOCGPTN, &terminal) == 0 ? terminal : -1;
}

static enum fd_kind kind_of_device(uint64_t device)
{
    if (device == MASTERS)
        return FD_TERMINAL;
    return MAJOR(device) >= FIRST_SLAVES && MAJOR(device) < FIRST_SLAVES + 8 ? FD_SLAVE : FD_OTHER;
}

static enum fd_kind kind_of(const struct stat *status)
{
    switch (status->st_mode & S_IFMT) {
    case S_IFREG:
        return FD_FILE;
    case S_IFIFO:
        return FD_PIPE;
    case S_IFCHR:
        return kind_of_device(status->st_rdev);
    case S_IFSOCK:
        return FD_SOCKET;
    case 0:
        return FD_ANONYMOUS;
    default:
        return FD_OTHER;
    }
}

void fd_look(int number, struct fd *fd)
{
    struct stat status;

    if (NATIVE(fstat, number, &status) != 0) {
        *fd = (struct fd){.number = number, .kind = FD_NONE, .socket = -1};
        return;
    }
    if (kind_of(&status) == FD_SOCKET)
        fd_look_socket(number, fd);
    else
        *fd = (struct fd){.number = number, .kind = kind_of(&status), .socket = -1};
    fd->status = status;
}

/* Transfers to and from a storage that is a path: really reading and writing a file below it, for as long as the path's storage
 * needs.
 *
 * Written bytes are on the storage when the transfer is over (fsync), and take no more room than one piece: each piece
 * overwrites the piece before. The file that is read is a hole of the wanted size, so that no byte of it can be in a
 * cache. */
#include "job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define BUFFERS 64 /* buffers of a piece: one call moves a piece, so that a storage's latency counts seldom */

bool endpoint_is_path(const struct endpoint *endpoint)
{
    return endpoint->address.ss_family == AF_UNIX;
}

struct endpoint endpoint_of_path(const char *path)
{
    struct endpoint endpoint = {.length = sizeof(struct sockaddr_un)};
    struct sockaddr_un *address = (struct sockaddr_un *)&endpoint.address;

    if ((size_t)snprintf(address->sun_path, sizeof address->sun_path, "%s", path) >= sizeof address->sun_path)
        fail("storage %s: the path is too long", path);
    address->sun_family = AF_UNIX;
    return endpoint;
}

struct file_work {
    const char *folder;
    uint64_t bytes;
    bool reads;
};

/* Move a piece by one call whose buffers are all the same memory. Returns how many bytes have moved. */
static uint64_t move_piece(int fd, bool reads, uint64_t left, uint64_t offset)
{
    static char buffer[BUFFER_BYTES];
    struct iovec parts[BUFFERS];
    int count = 0;
    ssize_t moved;

    for (uint64_t room = left; room > 0 && count < BUFFERS; count++) {
        parts[count] = (struct iovec){buffer, room < BUFFER_BYTES ? (size_t)room : BUFFER_BYTES};
        room -= parts[count].iov_len;
    }
    moved = reads ? preadv(fd, parts, count, (off_t)offset) : pwritev(fd, parts, count, (off_t)offset);
    if (moved <= 0 || (!reads && fsync(fd) != 0))
        fail("a storage could not be %s: %m", reads ? "read" : "written");
    return (uint64_t)moved;
}

static void move_file(const void *what)
{
    const struct file_work *work = what;
    char path[256];
    int fd;

    if ((size_t)snprintf(path, sizeof path, "%s/.simunix-job-XXXXXX", work->folder) >= sizeof path)
        fail("storage %s: the path is too long", work->folder);
    fd = mkstemp(path);
    if (fd < 0 || (work->reads && ftruncate(fd, (off_t)work->bytes) != 0))
        fail("%s: %m", path);
    for (uint64_t done = 0; done < work->bytes;)
        done += move_piece(fd, work->reads, work->bytes - done, work->reads ? done : 0);
    unlink(path);
}

void file_start(bool reads, uint64_t bytes, const struct endpoint *storage, finished done, void *context)
{
    struct file_work work = {((const struct sockaddr_un *)&storage->address)->sun_path, bytes, reads};

    run_beside(move_file, &work, done, context);
}

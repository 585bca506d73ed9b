/* getrandom, /dev/urandom: reproducible bytes from the seed that the server gave the process. */
#include "shim/core/memory.h"
#include "shim/sys/file/file.h"

#include <linux/random.h>

#define BLOCKS 128 /* 256 KiB in all: iperf3 asks for 128 at once */

static void fill(struct process *process, uint8_t *to, size_t size)
{
    while (size > 0) {
        uint64_t number = random_next(process);
        size_t part = size < sizeof number ? size : sizeof number;

        memcpy(to, &number, part);
        to += part;
        size -= part;
    }
}

long sys_getrandom(struct call *call)
{
    size_t size = (size_t)call->a[1];

    if (is_bad_pointer((void *)call->a[0]) || (call->a[2] & ~(GRND_NONBLOCK | GRND_RANDOM)) != 0)
        return NATIVE(getrandom, call->a[0], size, call->a[2]);
    if (size > 0x1ffffff)
        size = 0x1ffffff;
    fill(call->thread->process, (uint8_t *)call->a[0], size);
    return (long)size;
}

static void write_random(struct process *process, long fd)
{
    uint8_t block[2048];

    for (unsigned i = 0; i < BLOCKS; i++) {
        fill(process, block, sizeof block);
        NATIVE(pwrite64, fd, block, sizeof block, i * sizeof block);
    }
}

/* Return the descriptor for open("/dev/urandom"): an anonymous file with more seeded bytes than most programs read. */
long random_open(struct call *call, int flags)
{
    long fd = NATIVE(memfd_create, "simunix:urandom", flags & O_CLOEXEC ? 1 : 0);

    if (fd < 0)
        return fd;
    write_random(call->thread->process, fd);
    call->thread->process->has_random_files = true;
    return fd;
}

/* If a reader has come to the end of such a file, write new bytes into it from the beginning on. Return false for any
 * other file. */
bool random_refill(struct call *call, int fd)
{
    char name[40];

    if (!call->thread->process->has_random_files || !proc_name_of(fd, name, sizeof name) ||
        !text_starts(name, "/memfd:simunix:urandom"))
        return false;
    write_random(call->thread->process, fd);
    return NATIVE(lseek, fd, 0, 0) == 0;
}

/* getrandom, /dev/urandom: reproducible bytes from the seed that the server gave the process. */
#include "shim.h"

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Not for secrets. */
uint64_t random_next(struct process *process)
{
    uint64_t z = process->random_state += 0x9e3779b97f4a7c15UL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

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

    if (is_bad_pointer((void *)call->a[0]))
        return NATIVE(getrandom, call->a[0], size, call->a[2]);
    if (size > 0x1ffffff)
        size = 0x1ffffff;
    fill(call->thread->process, (uint8_t *)call->a[0], size);
    return (long)size;
}

/* What open("/dev/urandom") gives: an anonymous file with more seeded bytes than anybody reads at once. */
long random_open(struct call *call, int flags)
{
    uint8_t block[2048]; /* 256 KiB in all: iperf3 asks for 128 at once */
    long fd = NATIVE(memfd_create, "urandom", flags & O_CLOEXEC ? 1 : 0);

    if (fd < 0)
        return fd;
    for (int i = 0; i < 128; i++) {
        fill(call->thread->process, block, sizeof block);
        NATIVE(pwrite64, fd, block, sizeof block, i * sizeof block);
    }
    return descriptor_checked(call, fd);
}

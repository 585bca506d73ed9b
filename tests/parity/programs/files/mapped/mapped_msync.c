// msync(2) on a file's mapping succeeds with each flag that it has, and says what is wrong with others.
#include "check.h"

#include <sys/mman.h>

#define BYTES (4 * 4096)

int main(void)
{
    int file = open("mapped", O_RDWR | O_CREAT | O_EXCL, 0600);
    char *memory;
    char byte;

    CHECK(file >= 0 && ftruncate(file, BYTES) == 0);
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED);
    memory[4096] = 'x';
    CHECK(pread(file, &byte, 1, 4096) == 1 && byte == 'x');
    CHECK(msync(memory, BYTES, MS_SYNC) == 0);
    CHECK(msync(memory, BYTES, MS_ASYNC) == 0);
    CHECK(msync(memory, 1, MS_SYNC | MS_INVALIDATE) == 0);
    CHECK(msync(memory, BYTES, 0) == 0);
    CHECK_ERRNO(msync(memory, BYTES, MS_SYNC | MS_ASYNC), EINVAL);
    CHECK_ERRNO(msync(memory, BYTES, 64), EINVAL);
    CHECK_ERRNO(msync(memory + 1, BYTES, MS_SYNC), EINVAL);
    CHECK(munmap(memory + 4096, 4096) == 0);
    CHECK_ERRNO(msync(memory, BYTES, MS_SYNC), ENOMEM);
    CHECK(munmap(memory, BYTES) == 0);
    CHECK(close(file) == 0 && unlink("mapped") == 0);
    return succeed();
}

// Files in memory are ordinary descriptors; secret ones too, where the kernel has them.
#include "check.h"

#include <sys/mman.h>
#include <sys/syscall.h>

int main(void)
{
    int file = memfd_create("parity", MFD_CLOEXEC);
    long secret = syscall(447 /* memfd_secret */, 0);
    char text[6] = "";

    CHECK(file >= 0 && write(file, "hello", 5) == 5);
    CHECK(pread(file, text, 5, 0) == 5 && strcmp(text, "hello") == 0);
    CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(secret == file + 1 || errno == ENOSYS);
    return succeed();
}

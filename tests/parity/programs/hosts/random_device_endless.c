// The random devices never come to an end, and do not repeat themselves.
#include "check.h"

#define BLOCK 16384

int main(void)
{
    static char first[BLOCK], block[BLOCK];
    int fd = open("/dev/urandom", O_RDONLY);

    CHECK(fd >= 0 && read(fd, first, BLOCK) == BLOCK);
    for (int i = 0; i < 40; i++) {
        ssize_t size = 0;

        while (size < BLOCK) {
            ssize_t part = read(fd, block + size, (size_t)(BLOCK - size));

            CHECK(part > 0);
            size += part;
        }
        CHECK(memcmp(block, first, BLOCK) != 0);
    }
    return succeed();
}

// sendfile puts a file of 1 MiB into a connection, with an offset of its own.
#include "inet.h"

#include <sys/sendfile.h>

enum { SIZE = 1 << 20 };
static char data[SIZE];

int main(void)
{
    int file = open("big", O_CREAT | O_RDWR, 0600);
    off_t offset = 10;
    int ends[2];
    pid_t child;

    for (int i = 0; i < SIZE; i++)
        data[i] = (char)(i % 251);
    CHECK(file >= 0 && write(file, data, SIZE) == SIZE);
    tcp_pair(ends);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        while (offset < SIZE)
            CHECK(sendfile(ends[0], file, &offset, SIZE - offset) > 0);
        _exit(0);
    }
    CHECK(close(ends[0]) == 0);
    memset(data, 0, sizeof data);
    read_all(ends[1], data, SIZE - 10);
    for (int i = 0; i < SIZE - 10; i++)
        CHECK(data[i] == (char)((i + 10) % 251));
    CHECK(read(ends[1], data, 1) == 0);
    CHECK_CHILD(child);
    return succeed();
}

// 8 MiB through a connection whose reader starts late and reads in odd pieces: the writer waits, nothing is lost.
#include "inet.h"

enum { SIZE = 8 << 20, LATE_MS = 20 };
static unsigned char data[SIZE];

static unsigned char byte_at(size_t position)
{
    return (unsigned char)(position * 31 + position / 257);
}

static void receive(int fd)
{
    size_t total = 0;
    ssize_t got;

    sleep_ms(LATE_MS);
    while ((got = read(fd, data + total, total + 50001 < SIZE ? 50001 : SIZE - total + 1)) > 0)
        total += got;
    CHECK(got == 0 && total == SIZE - 1);
    for (size_t i = 0; i < total; i++)
        CHECK(data[i] == byte_at(i));
    _exit(0);
}

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    pid_t child;

    tcp_pair(ends);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        receive(ends[1]);
    }
    CHECK(close(ends[1]) == 0);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = byte_at(i);
    write_all(ends[0], (char *)data, SIZE - 1);
    CHECK(now_ns() - start_ns >= LATE_MS * MS); /* so much does not fit into any buffer */
    CHECK(close(ends[0]) == 0);
    CHECK_CHILD(child);
    return succeed();
}

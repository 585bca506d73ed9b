// 4 MiB through a local stream whose reader starts late.
#include "unix.h"

enum { SIZE = 4 << 20 };
static char data[SIZE];

int main(void)
{
    int64_t start_ns = now_ns();
    size_t total = 0;
    int ends[2];
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[1]) == 0);
        for (int i = 0; i < SIZE; i++)
            data[i] = (char)(i % 251);
        CHECK(write(ends[0], data, SIZE) == SIZE);
        CHECK(now_ns() - start_ns >= 20 * MS);
        _exit(0);
    }
    CHECK(close(ends[0]) == 0);
    sleep_ms(20);
    for (ssize_t part; (part = read(ends[1], data + total, SIZE - total)) > 0;)
        total += part;
    CHECK(total == SIZE);
    for (int i = 0; i < SIZE; i++)
        CHECK(data[i] == (char)(i % 251));
    CHECK_CHILD(child);
    return succeed();
}

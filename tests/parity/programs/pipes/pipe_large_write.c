// One write of 1 MiB into a pipe waits for a slow reader, and returns the whole count.
#include "check.h"

enum { SIZE = 1 << 20 };
static char data[SIZE];

static void read_slowly(int fd)
{
    size_t total = 0;

    sleep_ms(20);
    for (;;) {
        char part[20000];
        ssize_t got = read(fd, part, sizeof part);

        CHECK(got >= 0);
        if (got == 0)
            break;
        for (ssize_t i = 0; i < got; i++)
            CHECK(part[i] == (char)((total + i) % 251));
        total += got;
        if (total % 5 == 0)
            sleep_ms(1);
    }
    CHECK(total == SIZE);
    _exit(0);
}

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    pid_t child;

    for (int i = 0; i < SIZE; i++)
        data[i] = (char)(i % 251);
    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[1]) == 0);
        read_slowly(ends[0]);
    }
    CHECK(close(ends[0]) == 0);
    CHECK(write(ends[1], data, SIZE) == SIZE);
    CHECK(now_ns() - start_ns >= 20 * MS);
    CHECK(close(ends[1]) == 0);
    CHECK_CHILD(child);
    return succeed();
}

// vmsplice of more than a pipe holds waits for the reader.
#include "check.h"

#include <sys/uio.h>

enum { SIZE = 1 << 20 };
static char data[SIZE];

int main(void)
{
    int64_t start_ns = now_ns();
    size_t total = 0;
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        for (size_t sent = 0; sent < SIZE;) {
            struct iovec rest = {data + sent, SIZE - sent};
            ssize_t part = vmsplice(ends[1], &rest, 1, 0);

            CHECK(part > 0);
            sent += part;
        }
        CHECK(now_ns() - start_ns >= 20 * MS);
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    sleep_ms(20);
    for (ssize_t part; (part = read(ends[0], data, SIZE)) > 0;)
        total += part;
    CHECK(total == SIZE);
    CHECK_CHILD(child);
    return succeed();
}

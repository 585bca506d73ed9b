// sendfile from a file into a pipe waits for room: 1 MiB arrives whole.
#include "check.h"

#include <sys/sendfile.h>

enum { SIZE = 1 << 20 };

int main(void)
{
    static char data[SIZE];
    size_t sent = 0, total = 0;
    int ends[2];
    pid_t child;
    int file = open("big", O_CREAT | O_RDWR, 0600);

    CHECK(file >= 0 && write(file, data, SIZE) == SIZE && lseek(file, 0, SEEK_SET) == 0);
    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        while (sent < SIZE) {
            ssize_t part = sendfile(ends[1], file, NULL, SIZE - sent);

            CHECK(part > 0);
            sent += part;
        }
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

// A read of an empty pipe waits for the writer; a read of one whose writers are gone is the end of file.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    char data[10];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        CHECK(write(ends[1], "hello", 5) == 5);
        sleep_ms(30);
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    CHECK(read(ends[0], data, sizeof data) == 5 && memcmp(data, "hello", 5) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(read(ends[0], data, sizeof data) == 0);
    CHECK_ELAPSED(start_ns, 60);
    CHECK_CHILD(child);
    return succeed();
}

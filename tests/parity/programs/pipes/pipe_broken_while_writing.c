// A writer that waits for room gets EPIPE when the last reader goes.
#include "check.h"

static char data[1 << 18];

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    ssize_t written;
    pid_t child;

    signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(0);
    }
    CHECK(close(ends[0]) == 0);
    written = write(ends[1], data, sizeof data);
    CHECK(written == -1 ? errno == EPIPE : written < (ssize_t)sizeof data);
    CHECK_ERRNO(write(ends[1], data, 1), EPIPE);
    CHECK_ELAPSED(start_ns, 30);
    CHECK_CHILD(child);
    return succeed();
}

// poll returns 0 after its timeout, and at once when that is 0 or something is ready.
#include "check.h"

#include <poll.h>

int main(void)
{
    struct pollfd reader;
    int ends[2];
    int64_t start_ns = now_ns();

    CHECK(pipe(ends) == 0);
    reader = (struct pollfd){.fd = ends[0], .events = POLLIN, .revents = POLLIN};
    CHECK(poll(&reader, 1, 50) == 0 && reader.revents == 0);
    CHECK_ELAPSED(start_ns, 50);
    start_ns = now_ns();
    CHECK(poll(&reader, 1, 0) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(poll(&reader, 1, -1) == 1 && reader.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 0);
    return succeed();
}

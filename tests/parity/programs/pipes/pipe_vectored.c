// readv and writev on a pipe: gathered, scattered, and waiting.
#include "check.h"

#include <sys/uio.h>

int main(void)
{
    char left[3] = "", right[8] = "";
    struct iovec out[2] = {{"abc", 3}, {"defgh", 5}};
    struct iovec in[2] = {{left, 3}, {right, 8}};
    int64_t start_ns = now_ns();
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(writev(ends[1], out, 2) == 8);
        _exit(0);
    }
    CHECK(readv(ends[0], in, 2) == 8);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(memcmp(left, "abc", 3) == 0 && memcmp(right, "defgh", 6) == 0);
    CHECK_CHILD(child);
    return succeed();
}

// splice and tee wait for data in a pipe as read does.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int in[2], copy[2], out[2];
    char data[8] = "";
    pid_t child;

    CHECK(pipe(in) == 0 && pipe(copy) == 0 && pipe(out) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        CHECK(write(in[1], "spliced", 7) == 7);
        _exit(0);
    }
    CHECK(tee(in[0], copy[1], 100, 0) == 7);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(splice(in[0], NULL, out[1], NULL, 100, 0) == 7);
    CHECK_ERRNO(splice(in[0], NULL, out[1], NULL, 100, SPLICE_F_NONBLOCK), EAGAIN);
    CHECK(read(copy[0], data, 8) == 7 && strcmp(data, "spliced") == 0);
    CHECK(read(out[0], data, 8) == 7 && strcmp(data, "spliced") == 0);
    CHECK_CHILD(child);
    return succeed();
}

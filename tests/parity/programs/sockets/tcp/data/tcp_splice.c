// splice moves bytes from a connection through a pipe into another connection, waiting for them.
#include "inet.h"

int main(void)
{
    int64_t start_ns;
    int from[2], to[2], middle[2];
    char data[10] = "";
    pid_t child;

    tcp_pair(from);
    tcp_pair(to);
    CHECK(pipe(middle) == 0);
    start_ns = now_ns();
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        write_all(from[0], "proxied", 7);
        _exit(0);
    }
    CHECK(splice(from[1], NULL, middle[1], NULL, 4096, SPLICE_F_MOVE) == 7);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(splice(middle[0], NULL, to[0], NULL, 7, SPLICE_F_MOVE) == 7);
    read_all(to[1], data, 7);
    CHECK(strcmp(data, "proxied") == 0);
    CHECK_CHILD(child);
    return succeed();
}

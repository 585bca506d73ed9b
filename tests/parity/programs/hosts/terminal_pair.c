// A pseudo-terminal: the master waits for what the slave's process writes, line discipline included.
#include "check.h"

#include <pty.h>

int main(void)
{
    int64_t start_ns = now_ns();
    char data[40] = "";
    int master;
    pid_t child = forkpty(&master, NULL, NULL, NULL);

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(isatty(0) && isatty(1));
        sleep_ms(20);
        CHECK(write(1, "one\n", 4) == 4);
        CHECK(read(0, data, sizeof data) == 4 && strcmp(data, "two\n") == 0);
        _exit(3);
    }
    CHECK(read(master, data, sizeof data) == 5 && strcmp(data, "one\r\n") == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(write(master, "two\n", 4) == 4);
    CHECK(waitpid(child, master >= 0 ? &master : NULL, 0) == child && WEXITSTATUS(master) == 3);
    return succeed();
}

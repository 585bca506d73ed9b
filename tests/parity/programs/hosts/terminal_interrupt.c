// A Ctrl-C typed at the master of a terminal interrupts what runs in the foreground of the slave.
#include "check.h"

#include <pty.h>

static void handler(int number)
{
    _exit(number == SIGINT ? 7 : 1);
}

int main(void)
{
    int64_t start_ns = now_ns();
    char byte;
    int master, status;
    pid_t child = forkpty(&master, NULL, NULL, NULL);

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(signal(SIGINT, handler) != SIG_ERR && write(1, "x", 1) == 1);
        sleep_ms(100000);
        _exit(0);
    }
    CHECK(read(master, &byte, 1) == 1);
    sleep_ms(20);
    CHECK(write(master, "\x03", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}

// A write to a terminal that nobody reads waits, while others go on; all of it arrives once somebody reads.
#include "check.h"

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#define LINES 1000
#define LINE "a line that says no more than the one before it\n"

static int open_slave(int master)
{
    int number;
    char name[32];

    CHECK(ioctl(master, TIOCGPTN, &number) == 0);
    snprintf(name, sizeof name, "/dev/pts/%d", number);
    return open(name, O_RDWR | O_NOCTTY);
}

static void write_lines(int slave, bool is_vector)
{
    for (int i = 0; i < LINES; i++) {
        struct iovec parts[2] = {{LINE, 10}, {(char *)LINE + 10, sizeof LINE - 1 - 10}};

        CHECK((is_vector ? writev(slave, parts, 2) : write(slave, LINE, sizeof LINE - 1)) == sizeof LINE - 1);
    }
    _exit(0);
}

static void check(bool is_vector)
{
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    int slave, status, unlock = 0;
    char buffer[4096];
    size_t got = 0;
    int64_t start_ns = now_ns();
    pid_t child;

    CHECK(master >= 0 && ioctl(master, TIOCSPTLCK, &unlock) == 0 && (slave = open_slave(master)) >= 0);
    child = fork();
    if (child == 0)
        write_lines(slave, is_vector);
    CHECK(close(slave) == 0);
    sleep_ms(20);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    for (;;) {
        ssize_t size = read(master, buffer, sizeof buffer);

        if (size <= 0)
            break;
        got += (size_t)size;
    }
    CHECK(errno == EIO && got == LINES * sizeof LINE); /* each LF became CR and LF */
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(master);
}

int main(void)
{
    check(false);
    check(true);
    return succeed();
}

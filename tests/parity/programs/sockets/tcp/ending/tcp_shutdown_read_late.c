// After shutdown for reading, what the peer sends is received all the same; a read that finds nothing says that the end has come.
// The peer is not disturbed.
#include "inet.h"

#include <sys/uio.h>

#include <poll.h>

static int ends[2];

static void check_end(void)
{
    struct pollfd entry = {.fd = ends[0], .events = POLLIN | POLLRDHUP};
    char byte;

    CHECK(poll(&entry, 1, 0) == 1 && entry.revents == (POLLIN | POLLRDHUP));
    CHECK(recv(ends[0], &byte, 1, 0) == 0 && read(ends[0], &byte, 1) == 0);
}

static void check_late(const char *text)
{
    char data[100] = "", first = 0;
    struct iovec parts[2] = {{&first, 1}, {data, sizeof data}};
    ssize_t size = (ssize_t)strlen(text);

    CHECK(send(ends[1], text, size, MSG_NOSIGNAL) == size);
    sleep_ms(10);
    CHECK(recv(ends[0], data, sizeof data, MSG_PEEK) == size && memcmp(data, text, size) == 0);
    CHECK(readv(ends[0], parts, 2) == size && first == text[0] && memcmp(data, text + 1, size - 1) == 0);
    check_end();
}

/* More than one call takes, and more than the peer's window. */
static void check_much(void)
{
    static char data[1 << 20], got[1 << 20];
    pid_t child;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i % 251);
    child = fork();
    if (child == 0) {
        write_all(ends[1], data, sizeof data);
        _exit(0);
    }
    for (size_t done = 0; done < sizeof got;) {
        ssize_t size = recv(ends[0], got + done, sizeof got - done, 0);

        CHECK(size >= 0);
        if (size == 0)
            sleep_ms(1);
        done += size;
    }
    CHECK(memcmp(data, got, sizeof data) == 0);
    CHECK_CHILD(child);
    check_end();
}

int main(void)
{
    char data[10];

    tcp_pair(ends);
    CHECK(write(ends[1], "early", 5) == 5);
    sleep_ms(10);
    CHECK(shutdown(ends[0], SHUT_RD) == 0);
    CHECK(recv(ends[0], data, sizeof data, 0) == 5 && memcmp(data, "early", 5) == 0);
    check_end();
    check_late("later");
    check_late("latest");
    check_much();
    CHECK(write(ends[0], "back", 4) == 4 && read(ends[1], data, sizeof data) == 4);

    CHECK(write(ends[1], "last", 4) == 4 && close(ends[1]) == 0);
    sleep_ms(10);
    CHECK(recv(ends[0], data, sizeof data, 0) == 4 && memcmp(data, "last", 4) == 0);
    check_end();
    return succeed();
}

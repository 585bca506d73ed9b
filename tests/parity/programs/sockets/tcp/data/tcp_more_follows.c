// What is sent with MSG_MORE, or under TCP_CORK, leaves with what is sent behind it; alone after 200 ms, at the end of the stream, or
// when the cork is pulled.
#include "inet.h"

#include <poll.h>

static int ends[2];

static int waiting(int milliseconds)
{
    struct pollfd entry = {.fd = ends[1], .events = POLLIN};

    return poll(&entry, 1, milliseconds);
}

static void check_got(const char *text)
{
    char data[100];
    ssize_t size = (ssize_t)strlen(text);

    CHECK(waiting(1000) == 1);
    CHECK(recv(ends[1], data, sizeof data, 0) == size && memcmp(data, text, size) == 0);
}

static void cork(int on)
{
    CHECK(setsockopt(ends[0], IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0);
}

static void send_more(const char *text)
{
    ssize_t size = (ssize_t)strlen(text);

    CHECK(send(ends[0], text, size, MSG_MORE) == size);
}

static void check_flag(void)
{
    struct iovec part = {"f", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    send_more("abc");
    CHECK(waiting(20) == 0);
    send_more("de");
    CHECK(waiting(20) == 0);
    CHECK(sendmsg(ends[0], &message, 0) == 1);
    check_got("abcdef");
    send_more("gh");
    CHECK(write(ends[0], "i", 1) == 1);
    check_got("ghi");
    CHECK(send(ends[0], "j", 1, 0) == 1);
    check_got("j");
}

static void check_patience(void)
{
    int64_t start_ns = now_ns();

    send_more("alone");
    CHECK(waiting(1000) == 1);
    CHECK(now_ns() - start_ns >= 190 * MS && now_ns() - start_ns < 700 * MS);
    check_got("alone");
}

static void check_cork(void)
{
    cork(1);
    CHECK(write(ends[0], "one ", 4) == 4);
    CHECK(waiting(20) == 0);
    CHECK(write(ends[0], "two", 3) == 3);
    CHECK(waiting(20) == 0);
    cork(0);
    check_got("one two");
}

/* More than a segment: what fills segments leaves. */
static void check_much(void)
{
    static char data[300000], got[300000];
    size_t done = 0;

    cork(1);
    write_all(ends[0], data, sizeof data);
    while (waiting(50) == 1)
        done += read(ends[1], got, sizeof got);
    CHECK(done > 0 && done < sizeof data);
    cork(0);
    read_all(ends[1], got, sizeof data - done);
}

static void check_end(void)
{
    send_more("last");
    CHECK(shutdown(ends[0], SHUT_WR) == 0);
    CHECK(waiting(50) == 1);
    check_got("last");
    check_got("");
}

int main(void)
{
    tcp_pair(ends);
    check_flag();
    check_patience();
    check_cork();
    check_much();
    check_end();
    return succeed();
}

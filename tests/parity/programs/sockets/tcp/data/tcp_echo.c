// A blocking server in a child echoes what a client sends over three connections, one after the other.
#include "inet.h"

static void serve(int listener)
{
    for (int i = 0; i < 3; i++) {
        int fd = accept(listener, NULL, NULL);
        char data[100];
        ssize_t got;

        CHECK(fd >= 0);
        while ((got = read(fd, data, sizeof data)) > 0)
            write_all(fd, data, got);
        CHECK(got == 0 && close(fd) == 0);
    }
    _exit(0);
}

int main(void)
{
    int listener = listening_socket(5);
    in_port_t port = port_of(listener);
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0)
        serve(listener);
    CHECK(close(listener) == 0);
    for (int i = 0; i < 3; i++) {
        int fd = connected_to(port);
        char data[6];

        for (int round = 0; round < 10; round++) {
            write_all(fd, "hello", 6);
            memset(data, 0, sizeof data);
            read_all(fd, data, sizeof data);
            CHECK(strcmp(data, "hello") == 0);
        }
        CHECK(close(fd) == 0);
    }
    CHECK_CHILD(child);
    return succeed();
}

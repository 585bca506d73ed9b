// A signal interrupts accept and recv without SA_RESTART, and connections survive it.
#include "inet.h"

static void handler(int number)
{
    CHECK(number == SIGUSR1);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    int listener = listening_socket(1);
    in_port_t port = port_of(listener);
    char byte;
    pid_t child;
    int fd;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(10);
        fd = connected_to(port);
        sleep_ms(20);
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(10);
        write_all(fd, "x", 1);
        _exit(0);
    }
    CHECK_ERRNO(accept(listener, NULL, NULL), EINTR);
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    CHECK_ERRNO(recv(fd, &byte, 1, 0), EINTR);
    CHECK(recv(fd, &byte, 1, 0) == 1);
    CHECK_CHILD(child);
    return succeed();
}

// A listening socket made by the parent is served by two children; each connection goes to one of them.
#include "inet.h"

int main(void)
{
    int listener = listening_socket(5);
    in_port_t port = port_of(listener);
    pid_t children[2];
    pid_t served[4];

    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            pid_t self = getpid();

            for (int served = 0; served < 2; served++) {
                int fd = accept(listener, NULL, NULL);

                CHECK(fd >= 0);
                write_all(fd, (char *)&self, sizeof self);
                CHECK(close(fd) == 0);
            }
            _exit(0);
        }
    }
    CHECK(close(listener) == 0);
    for (int i = 0; i < 4; i++) {
        int fd = connected_to(port);

        read_all(fd, (char *)&served[i], sizeof *served);
        CHECK(served[i] == children[0] || served[i] == children[1]);
    }
    CHECK_CHILD(children[0]);
    CHECK_CHILD(children[1]);
    return succeed();
}

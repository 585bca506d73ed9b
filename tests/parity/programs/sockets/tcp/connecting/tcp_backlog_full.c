// A connect to a listener whose queue is full is repeated, and succeeds a while after there is room.
// virtual: 3
#include "inet.h"

int main(void)
{
    int listener = listening_socket(0);
    in_port_t port = port_of(listener);
    int64_t start_ns = now_ns();
    pid_t child;

    connected_to(port);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(10);
        connected_to(port);
        CHECK(now_ns() - start_ns >= 1500 * MS && now_ns() - start_ns < 3600 * MS);
        _exit(0);
    }
    sleep_ms(1500);
    for (int i = 0; i < 2; i++)
        CHECK(accept(listener, NULL, NULL) >= 0);
    CHECK_CHILD(child);
    return succeed();
}

// Local datagrams carry their sender's path; a full queue makes the sender wait.
#include "unix.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int server = unix_bound(SOCK_DGRAM, "server");
    struct sockaddr_un to = unix_path("server");
    struct sockaddr_un from = {0};
    socklen_t size = sizeof from;
    char data[10];
    int sent = 0;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        int client = unix_bound(SOCK_DGRAM, "client");

        while (sendto(client, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to) == 1)
            sent++;
        CHECK(errno == EAGAIN && sent > 0);
        CHECK(sendto(client, "last", 4, 0, (struct sockaddr *)&to, sizeof to) == 4);
        CHECK_ELAPSED(start_ns, 30);
        _exit(0);
    }
    sleep_ms(30);
    while (recvfrom(server, data, sizeof data, 0, (struct sockaddr *)&from, &size) == 1)
        CHECK(strcmp(from.sun_path, "client") == 0);
    CHECK(memcmp(data, "last", 4) == 0);
    CHECK_CHILD(child);
    return succeed();
}

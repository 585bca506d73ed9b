// An accepted socket as a child's standard input and output, as inetd does: a real filter serves it.
#include "inet.h"

int main(void)
{
    int listener = listening_socket(1);
    int client = connected_to(port_of(listener));
    char data[10] = "";
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        int fd = accept(listener, NULL, NULL);

        CHECK(close(client) == 0);
        CHECK(dup2(fd, 0) == 0 && dup2(fd, 1) == 1 && close(fd) == 0);
        execlp("sh", "sh", "-c", "read line; sleep 0.02; echo \"<$line>\"", NULL);
        _exit(127);
    }
    write_all(client, "text\n", 5);
    read_all(client, data, 7);
    CHECK(strcmp(data, "<text>\n") == 0);
    CHECK(read(client, data, 1) == 0);
    CHECK_CHILD(child);
    return succeed();
}

/* Answers lines in capitals, one connection at a time; at SIGTERM says how many and ends. Words: the address to listen at. */
#include <arpa/inet.h>
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile sig_atomic_t answered;

static void leave(int number)
{
    (void)number;
    dprintf(1, "answered %d\n", answered);
    _exit(0);
}

int main(int count, char **words)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(7000)};
    int listener = socket(AF_INET, SOCK_STREAM, 0), peer, one = 1;
    char byte;

    signal(SIGTERM, leave);
    signal(SIGPIPE, SIG_IGN);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (count != 2 || inet_pton(AF_INET, words[1], &here.sin_addr) != 1 ||
        bind(listener, (struct sockaddr *)&here, sizeof here) != 0 || listen(listener, 5) != 0)
        return 1;
    dprintf(1, "ready\n");
    while ((peer = accept(listener, NULL, NULL)) >= 0) {
        while (read(peer, &byte, 1) == 1) {
            byte = toupper(byte);
            answered += byte == '\n';
            if (write(peer, &byte, 1) != 1)
                break;
        }
        close(peer);
    }
    return 1;
}

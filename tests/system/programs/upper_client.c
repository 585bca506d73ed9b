/* Sends its words, a line each, and says what comes back, or that the server is gone. Words: the server's address, then what to
 * send; a number is milliseconds to sleep. */
#include <arpa/inet.h>
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Natively the server may be late. */
static int connect_patiently(const struct sockaddr_in *there)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)there, sizeof *there) == 0)
            return fd;
        close(fd);
        usleep(100000);
    }
    return -1;
}

int main(int count, char **words)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(7000)};
    char answer[256];
    FILE *lines;
    int fd;

    signal(SIGPIPE, SIG_IGN);
    if (count < 2 || inet_pton(AF_INET, words[1], &there.sin_addr) != 1 ||
        (fd = connect_patiently(&there)) < 0)
        return 1;
    lines = fdopen(fd, "r");
    for (int index = 2; index < count; index++) {
        if (isdigit(words[index][0])) {
            usleep(atoi(words[index]) * 1000);
            continue;
        }
        dprintf(fd, "%s\n", words[index]);
        printf("%s", fgets(answer, sizeof answer, lines) ? answer : "gone\n");
        fflush(stdout);
    }
    return 0;
}

/* A client sends its question, later closes its half of the connection (shutdown(2)), and reads the answer. The server takes a
 * half-closed connection for a dead one: if the end of the question comes before the answer is ready, there is no answer.
 * Mended: the server answers all the same. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUESTIONS 10

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static void answer(int peer)
{
    struct pollfd end = {.fd = peer, .events = POLLRDHUP};
    char question[16] = "";

    if (recv(peer, question, 4, MSG_WAITALL) != 4)
        return;
    usleep(5000); /* the answer is found */
#ifndef MENDED
    if (poll(&end, 1, 0) != 0)
        return;
#endif
    (void)end;
    send(peer, question, strlen(question), 0);
}

static int serve(void)
{
    int server = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(server, (const struct sockaddr *)&SERVER, sizeof SERVER) != 0 || listen(server, 5) != 0)
        return 2;
    for (int n = 0; n < QUESTIONS; n++) {
        int peer = accept(server, NULL, NULL);

        answer(peer);
        close(peer);
    }
    return 0;
}

static int ask(const char *address)
{
    struct sockaddr_in server = SERVER;
    int unanswered = 0;

    inet_pton(AF_INET, address, &server.sin_addr);
    for (int n = 0; n < QUESTIONS; n++) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        char text[16] = "";

        while (connect(client, (const struct sockaddr *)&server, sizeof server) != 0) { /* the server has not begun */
            close(client);
            usleep(100000);
            client = socket(AF_INET, SOCK_STREAM, 0);
        }
        if (send(client, "why?", 4, 0) != 4)
            return 2;
        usleep(50000);
        shutdown(client, SHUT_WR);
        unanswered += recv(client, text, sizeof text, MSG_WAITALL) != 4;
        close(client);
    }
    return unanswered != 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : ask(words[1]);
}

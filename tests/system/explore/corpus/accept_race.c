/* Two workers are told that somebody connects, and both accept: one of them waits for ever. Mended: the listener does not block. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static void work(int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};

    while (poll(&ready, 1, 2000) > 0) {
        int client = accept(listener, NULL, NULL);

        if (client >= 0)
            close(client);
    }
    _exit(0);
}

static int serve(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0), status, failed = 0;

    bind(listener, (const struct sockaddr *)&SERVER, sizeof SERVER);
    listen(listener, 8);
#ifdef MENDED
    fcntl(listener, F_SETFL, O_NONBLOCK);
#endif
    for (int n = 0; n < 2; n++)
        if (fork() == 0)
            work(listener);
    while (wait(&status) > 0)
        failed |= status;
    return failed != 0;
}

static int ask(const char *server)
{
    struct sockaddr_in address = SERVER;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    char byte;

    inet_pton(AF_INET, server, &address.sin_addr);
    usleep(500000);
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        return 2;
    return read(client, &byte, 1) != 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : ask(words[1]);
}

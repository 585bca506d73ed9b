/* A message that arrives in two parts: the server takes what one read(2) returns for the whole. Mended: it reads on. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static int serve(void)
{
    char text[16];
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, client;
    ssize_t size = 0, more;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bind(listener, (const struct sockaddr *)&SERVER, sizeof SERVER);
    listen(listener, 1);
    client = accept(listener, NULL, NULL);
    usleep(50000);
    do {
        more = read(client, text + size, sizeof text - size);
        size += more > 0 ? more : 0;
#ifndef MENDED
        break;
#endif
    } while (more > 0 && size < 8);
    return size != 8;
}

static int ask(const char *server)
{
    struct sockaddr_in address = SERVER;
    int client = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, server, &address.sin_addr);
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        return 2;
    if (write(client, "head", 4) != 4)
        return 2;
    usleep(20000);
    if (write(client, "tail", 4) != 4)
        return 2;
    usleep(500000);
    return 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : ask(words[1]);
}

/* Datagrams that arrive in another order: the last one wins. Mended: they have numbers. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static int serve(void)
{
    int server = socket(AF_INET, SOCK_DGRAM, 0), latest = 0;
    unsigned char value;

    bind(server, (const struct sockaddr *)&SERVER, sizeof SERVER);
    for (int n = 0; n < 3; n++) {
        if (recv(server, &value, 1, 0) != 1)
            return 2;
#ifdef MENDED
        if (value > latest)
#endif
            latest = value;
    }
    return latest != 3;
}

static int tell(const char *server)
{
    struct sockaddr_in address = SERVER;
    int client = socket(AF_INET, SOCK_DGRAM, 0);

    inet_pton(AF_INET, server, &address.sin_addr);
    usleep(10000);
    for (unsigned char value = 1; value <= 3; value++)
        if (sendto(client, &value, 1, 0, (struct sockaddr *)&address, sizeof address) != 1)
            return 2;
    return 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : tell(words[1]);
}

/* A lease that has run out while its holder could not be heard: the holder writes on. Mended: it looks at its own clock, and
 * the server grants the lease anew only after a margin. The server is told of each write, and finds two holders. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LEASE_S 2
#define MARGIN_S 1

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

struct message {
    char kind; /* 'a' asks for the lease or renews it, 'g' grants, 'w' writes */
    char who;
    int lease; /* number of the lease that a write is made under */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int serve(void)
{
    int server = socket(AF_INET, SOCK_DGRAM, 0), lease = 0;
    char holder = 0;
    double until = 0, end = now() + 25;
    struct timeval patience = {.tv_sec = 1};

    bind(server, (const struct sockaddr *)&SERVER, sizeof SERVER);
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (now() < end) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        struct message message;

        if (recvfrom(server, &message, sizeof message, 0, (struct sockaddr *)&from, &size) != sizeof message)
            continue;
        if (message.kind == 'w' && message.lease != lease)
            printf("%c wrote under lease %d, which is over\n", message.who, message.lease), fflush(stdout);
#ifdef MENDED
        if (message.kind == 'a' && (holder == message.who || now() > until + MARGIN_S)) {
#else
        if (message.kind == 'a' && (holder == message.who || now() > until)) {
#endif
            if (holder != message.who || now() > until)
                lease++;
            holder = message.who;
            until = now() + LEASE_S;
            message = (struct message){.kind = 'g', .who = holder, .lease = lease};
            sendto(server, &message, sizeof message, 0, (struct sockaddr *)&from, size);
        }
    }
    return 0;
}

static int work(char me, const char *server)
{
    struct sockaddr_in address = SERVER;
    int client = socket(AF_INET, SOCK_DGRAM, 0), lease = 0;
    double end = now() + 20, until = 0;
    struct timeval patience = {.tv_usec = 200000};

    inet_pton(AF_INET, server, &address.sin_addr);
    connect(client, (struct sockaddr *)&address, sizeof address);
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (now() < end) {
        struct message message = {.kind = 'a', .who = me};
        double asked = now();
        bool granted;

        send(client, &message, sizeof message, 0);
        granted = recv(client, &message, sizeof message, 0) == sizeof message;
        if (granted)
            lease = message.lease, until = asked + LEASE_S;
        (void)until;
#ifdef MENDED
        if (lease != 0 && now() < until) {
#else
        if (lease != 0) {
#endif
            message = (struct message){.kind = 'w', .who = me, .lease = lease};
            send(client, &message, sizeof message, 0);
        }
        usleep(300000);
    }
    return 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : work(words[2][0], words[1]);
}

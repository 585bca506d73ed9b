// A server with a thread for each connection, and eight client threads.
#include "inet.h"

#include <pthread.h>

enum { CLIENTS = 8 };
static in_port_t port;

static void *serve(void *argument)
{
    int fd = *(int *)argument;
    int value;

    while (read(fd, &value, sizeof value) == sizeof value) {
        sleep_ms(1);
        value++;
        write_all(fd, (char *)&value, sizeof value);
    }
    CHECK(close(fd) == 0);
    return NULL;
}

static void *client(void *unused)
{
    int fd = connected_to(port);
    int value = 0;

    for (int i = 0; i < 10; i++) {
        write_all(fd, (char *)&value, sizeof value);
        read_all(fd, (char *)&value, sizeof value);
    }
    CHECK(value == 10 && close(fd) == 0);
    return unused;
}

int main(void)
{
    int listener = listening_socket(CLIENTS);
    pthread_t clients[CLIENTS], servers[CLIENTS];
    int connections[CLIENTS];

    port = port_of(listener);
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_create(&clients[i], NULL, client, NULL) == 0);
    for (int i = 0; i < CLIENTS; i++) {
        connections[i] = accept(listener, NULL, NULL);
        CHECK(connections[i] >= 0);
        CHECK(pthread_create(&servers[i], NULL, serve, &connections[i]) == 0);
    }
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_join(clients[i], NULL) == 0 && pthread_join(servers[i], NULL) == 0);
    return succeed();
}

// A thread that polls memory only, without any call, gets the bytes that another thread takes from a connection.
// warns: computes without a call
#include "inet.h"

#include <pthread.h>

static volatile char received;
static int accepted, connected;

static void *receiver(void *unused)
{
    char byte;

    while (read(accepted, &byte, 1) == 1)
        received = byte;
    return unused;
}

static void connect_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    connected = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    CHECK(connect(connected, (struct sockaddr *)&address, length) == 0);
    accepted = accept(listener, NULL, NULL);
    CHECK(accepted >= 0);
}

int main(void)
{
    pthread_t thread;

    connect_pair();
    CHECK(pthread_create(&thread, NULL, receiver, NULL) == 0);
    for (char i = 1; i <= 10; i++) {
        CHECK(write(connected, &i, 1) == 1);
        while (received != i)
            ;
    }
    CHECK(close(connected) == 0 && pthread_join(thread, NULL) == 0);
    return succeed();
}

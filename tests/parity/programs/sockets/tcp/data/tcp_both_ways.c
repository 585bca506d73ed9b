// Both sides write 1 MiB and read 1 MiB at the same time, each with a thread for writing.
#include "inet.h"

#include <pthread.h>

enum { SIZE = 1 << 20 };
static char out[SIZE], in[2][SIZE];
static int ends[2];

static void *writer(void *fd)
{
    write_all(*(int *)fd, out, SIZE);
    return NULL;
}

static void *reader(void *fd)
{
    read_all(*(int *)fd, in[fd == &ends[1]], SIZE);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];

    for (int i = 0; i < SIZE; i++)
        out[i] = (char)(i % 253);
    tcp_pair(ends);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, writer, &ends[i]) == 0);
        CHECK(pthread_create(&threads[2 + i], NULL, reader, &ends[i]) == 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(memcmp(in[0], out, SIZE) == 0 && memcmp(in[1], out, SIZE) == 0);
    return succeed();
}

// A fork while other threads allocate, write and hold locks gives a child that can do all of that; atfork handlers run in order.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, prepared, told_child;

static void prepare(void)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    prepared++;
}

static void in_parent(void)
{
    CHECK(pthread_mutex_unlock(&lock) == 0);
}

static void in_child(void)
{
    CHECK(pthread_mutex_unlock(&lock) == 0);
    told_child = 1;
}

static void *busy(void *unused)
{
    FILE *nowhere = fopen("/dev/null", "w");

    CHECK(nowhere != NULL);
    while (!stop) {
        char *memory = malloc(1000);

        CHECK(memory != NULL && pthread_mutex_lock(&lock) == 0);
        usleep(200);
        CHECK(fprintf(nowhere, "%p", (void *)memory) > 0 && pthread_mutex_unlock(&lock) == 0);
        free(memory);
    }
    CHECK(fclose(nowhere) == 0);
    return unused;
}

int main(void)
{
    pthread_t threads[3];

    CHECK(pthread_atfork(prepare, in_parent, in_child) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, busy, NULL) == 0);
    for (int round = 0; round < 20; round++) {
        pid_t child;

        usleep(300);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char *memory = malloc(5000);

            CHECK(memory != NULL && told_child && pthread_mutex_lock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
            free(memory);
            exit(0);
        }
        CHECK_CHILD(child);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(prepared == 20 && !told_child);
    return succeed();
}

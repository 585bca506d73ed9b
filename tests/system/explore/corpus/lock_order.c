/* Deadlock by order: one thread takes A then B, the other B then A. Mended: both take A first. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *move(void *argument)
{
    int first = argument != NULL;

#ifdef MENDED
    first = 0;
#endif
    pthread_mutex_lock(&locks[first]);
    getppid();
    pthread_mutex_lock(&locks[1 - first]);
    pthread_mutex_unlock(&locks[1 - first]);
    pthread_mutex_unlock(&locks[first]);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    for (int n = 0; n < 2; n++)
        pthread_create(&threads[n], NULL, move, n ? (void *)locks : NULL);
    for (int n = 0; n < 2; n++)
        pthread_join(threads[n], NULL);
    return 0;
}

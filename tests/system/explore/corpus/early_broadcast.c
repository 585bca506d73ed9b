/* A condition that is not looked at under its lock: the broadcast may come before the wait. Mended: it is. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile bool ready;

static void *prepare(void *argument)
{
#ifdef MENDED
    pthread_mutex_lock(&lock);
#endif
    ready = true;
    pthread_cond_broadcast(&changed);
#ifdef MENDED
    pthread_mutex_unlock(&lock);
#endif
    return argument;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, prepare, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) {
        getppid();
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}

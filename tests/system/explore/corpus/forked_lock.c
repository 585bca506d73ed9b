/* A fork while another thread holds a lock: in the child nobody releases the lock. Mended: pthread_atfork(3) takes it first. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void)
{
    pthread_mutex_lock(&lock);
}

static void release(void)
{
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
    for (int n = 0; n < 3; n++) {
        take();
        getppid();
        release();
        usleep(10);
    }
    return argument;
}

int main(void)
{
    pthread_t thread;

#ifdef MENDED
    pthread_atfork(take, release, release);
#endif
    pthread_create(&thread, NULL, work, NULL);
    usleep(25);
    if (fork() == 0) {
        take();
        _exit(0);
    }
    wait(NULL);
    pthread_join(thread, NULL);
    return 0;
}

// /proc tells of a process or thread whether it runs or may run, sleeps, is stopped or has ended, in stat and in status: one that is
// seen asleep has done what it does before it sleeps.
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static volatile int *has_run;

static char state_in_stat(const char *path)
{
    FILE *file = fopen(path, "r");
    char state;

    CHECK(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && fclose(file) == 0);
    return state;
}

static char state_in_status(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[200], state = 0, word[40] = "";

    CHECK(file != NULL);
    while (state == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "State:\t%c (%39[a-z ])", &state, word);
    fclose(file);
    CHECK(strcmp(word, state == 'R' ? "running" : state == 'S' ? "sleeping" : state == 'Z' ? "zombie" : "stopped") == 0);
    return state;
}

static char state_of(const char *folder, int by_status)
{
    char path[100];

    snprintf(path, sizeof path, "%s/%s", folder, by_status ? "status" : "stat");
    return by_status ? state_in_status(path) : state_in_stat(path);
}

/* Look until it sleeps; until then it runs or may run. Each look lets others have the processor. */
static void await_sleep(const char *folder, int by_status)
{
    char state;

    while ((state = state_of(folder, by_status)) != 'S') {
        CHECK(state == 'R' || state == 'D');
        usleep(100);
    }
}

static void check_process(int by_status)
{
    char folder[60];
    pid_t child;

    *has_run = 0;
    child = fork();
    if (child == 0) {
        *has_run = 1;
        pause();
    }
    snprintf(folder, sizeof folder, "/proc/%d", (int)child);
    await_sleep(folder, by_status);
    CHECK(*has_run == 1);
    CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, NULL, WUNTRACED) == child && state_of(folder, by_status) == 'T');
    CHECK(kill(child, SIGKILL) == 0);
    while (state_of(folder, by_status) != 'Z')
        usleep(100);
    CHECK(waitpid(child, NULL, 0) == child);
}

static pid_t tid;

static void *sleep_long(void *unused)
{
    (void)unused;
    tid = (pid_t)syscall(SYS_gettid);
    *has_run = 1;
    sleep_ms(20);
    *has_run = 2;
    return NULL;
}

static void check_thread(void)
{
    char folder[60];
    pthread_t thread;

    *has_run = 0;
    CHECK(pthread_create(&thread, NULL, sleep_long, NULL) == 0);
    while (*has_run == 0)
        usleep(100);
    snprintf(folder, sizeof folder, "/proc/self/task/%d", (int)tid);
    await_sleep(folder, 0);
    CHECK(pthread_join(thread, NULL) == 0 && *has_run == 2);
}

int main(void)
{
    has_run = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(state_of("/proc/self", 0) == 'R' && state_of("/proc/self", 1) == 'R');
    check_process(0);
    check_process(1);
    check_thread();
    return succeed();
}

// Programs that are started in a PID namespace, by every means, know their numbers there; so does what reads a /proc that is mounted
// in it.
#include "namespaces.h"

#include <spawn.h>

extern char **environ;

static char *own_path;

static long number_in(const char *path, const char *name)
{
    char line[1024];
    long number = -1;
    FILE *file = fopen(path, "r");

    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            number = strtol(line + strlen(name), NULL, 10);
    CHECK(fclose(file) == 0);
    return number;
}

static void check_self(long wanted)
{
    char link[32] = "";
    char path[64];

    CHECK(getpid() == wanted);
    CHECK(readlink("/proc/self", link, sizeof link - 1) > 0 && strtol(link, NULL, 10) == wanted);
    CHECK(number_in("/proc/self/status", "Pid:") == wanted);
    CHECK(number_in("/proc/self/status", "NSpid:") == wanted);
    snprintf(path, sizeof path, "/proc/%ld/stat", wanted);
    CHECK(number_in(path, "") == wanted);
    CHECK(number_in("/proc/1/stat", "") == 1);
}

static void run(pid_t child, int wanted)
{
    CHECK(child == wanted);
    CHECK_CHILD(child);
}

static void inside(void)
{
    char *again[] = {own_path, "2", NULL};
    char *third[] = {own_path, "3", NULL};
    pid_t child;

    CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHECK(mount("proc", "/proc", "proc", 0, NULL) == 0);
    check_self(1);
    child = vfork();
    if (child == 0) {
        execve(own_path, again, environ);
        _exit(99);
    }
    run(child, 2);
    CHECK(posix_spawn(&child, own_path, NULL, NULL, third, environ) == 0);
    run(child, 3);
    child = fork();
    if (child == 0) {
        check_self(4);
        _exit(0);
    }
    run(child, 4);
    execve(own_path, (char *[]){own_path, "1", NULL}, environ);
    _exit(98);
}

int main(int argc, char **argv)
{
    pid_t child;

    if (argc > 1) {
        check_self(atol(argv[1]));
        return 0;
    }
    own_path = realpath("/proc/self/exe", NULL);
    CHECK(own_path != NULL);
    child = birth(needed_flags() | CLONE_NEWPID | CLONE_NEWNS);
    CHECK(child >= 0);
    if (child == 0)
        inside();
    CHECK_CHILD(child);
    return succeed();
}

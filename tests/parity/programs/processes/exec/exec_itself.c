// A program that execs itself five times keeps pid, descriptors and clock, and what execve was given.
#include "check.h"

int main(int count, char **arguments)
{
    int level = count == 5 ? atoi(arguments[1]) : 0;
    char next[4][30];

    if (count == 5) {
        CHECK(getpid() == atoi(arguments[2]));
        CHECK(now_ns() >= atoll(arguments[3]));
        CHECK(write(atoi(arguments[4]), "x", 1) == 1);
        CHECK(strcmp(getenv("LEVEL"), arguments[1]) == 0);
    }
    if (level == 5)
        return succeed();
    sleep_ms(5);
    snprintf(next[0], sizeof *next, "%d", level + 1);
    snprintf(next[1], sizeof *next, "%d", getpid());
    snprintf(next[2], sizeof *next, "%lld", (long long)now_ns());
    snprintf(next[3], sizeof *next, "%d", open("log", O_CREAT | O_WRONLY | O_APPEND, 0600));
    CHECK(setenv("LEVEL", next[0], 1) == 0);
    execl("/proc/self/exe", arguments[0], next[0], next[1], next[2], next[3], NULL);
    CHECK(!"exec returned");
}

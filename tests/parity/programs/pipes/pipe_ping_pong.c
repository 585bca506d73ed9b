// Parent and child hand a counter to and fro through two pipes.
#include "check.h"

enum { ROUNDS = 300 };

static void play(int in, int out, int first)
{
    for (int round = 0; round < ROUNDS; round++) {
        int value = first ? round : -1;

        if (first)
            CHECK(write(out, &value, sizeof value) == sizeof value);
        CHECK(read(in, &value, sizeof value) == sizeof value && value == round);
        if (!first)
            CHECK(write(out, &value, sizeof value) == sizeof value);
    }
}

int main(void)
{
    int there[2], back[2];
    pid_t child;

    CHECK(pipe(there) == 0 && pipe(back) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        play(there[0], back[1], 0);
        _exit(0);
    }
    play(back[0], there[1], 1);
    CHECK_CHILD(child);
    return succeed();
}

// exit() runs the handlers in reverse order and flushes stdio; _exit does neither.
#include "check.h"

static int step;

static void first(void) { CHECK(step++ == 1); }
static void second(void) { CHECK(step++ == 0); }

int main(void)
{
    char data[10] = "";
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    for (int quick = 0; quick < 2; quick++) {
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            FILE *stream = fdopen(ends[1], "w");

            CHECK(fputs(quick ? "never" : "always", stream) >= 0);
            CHECK(atexit(first) == 0 && atexit(second) == 0);
            if (quick)
                _exit(0);
            exit(0);
        }
        CHECK_CHILD(child);
    }
    CHECK(close(ends[1]) == 0);
    CHECK(read(ends[0], data, sizeof data) == 6 && strcmp(data, "always") == 0);
    CHECK(read(ends[0], data, sizeof data) == 0);
    return succeed();
}
